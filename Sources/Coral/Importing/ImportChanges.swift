/// The changes of an import.
struct ImportChanges {
    var inserts: ImportEntries<ImportInsert>
    var updates: ImportEntries<ImportUpdate>
    var links: ImportEntries<ImportLink>
    var deletions: ImportEntries<ImportDeletion>
    var conflicts: ImportEntries<ImportConflict>
    var errors: ImportEntries<ImportError>
    var unmappedMembers: ImportEntries<UnmappedMember>
    var missingFiles: ImportEntries<ImportMissingFile>
    /// Members that the model does not have and that the policy ignores: their number, and the first names.
    private(set) var unknownMembers = ImportEntries<String>(limit: 3)

    init(limit: Int) {
        inserts = ImportEntries(limit: limit)
        updates = ImportEntries(limit: limit)
        links = ImportEntries(limit: limit)
        deletions = ImportEntries(limit: limit)
        conflicts = ImportEntries(limit: limit)
        errors = ImportEntries(limit: limit)
        unmappedMembers = ImportEntries(limit: limit)
        missingFiles = ImportEntries(limit: limit)
    }

    mutating func addUnknownMember(_ name: @autoclosure () -> String) {
        guard unknownMembers.keepsNext else { return unknownMembers.count(1) }
        let name = name()
        if unknownMembers.kept.contains(name) { unknownMembers.count(1) } else { unknownMembers.add(name) }
    }

    mutating func take(_ conflicts: [ImportConflict], _ errors: [ImportError]) {
        for conflict in conflicts { self.conflicts.add(conflict) }
        for error in errors { self.errors.add(error) }
    }
}
