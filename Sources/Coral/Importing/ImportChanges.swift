/// The changes of an import.
struct ImportChanges {
    var inserts: ImportEntries<ImportInsert>
    var updates: ImportEntries<ImportUpdate>
    var links: ImportEntries<ImportLink>
    var deletions: ImportEntries<ImportDeletion>
    var conflicts: ImportEntries<ImportConflict>
    var errors: ImportEntries<ImportError>
    var leftovers: ImportEntries<ImportLeftover>
    var missingFiles: ImportEntries<ImportMissingFile>

    init(limit: Int) {
        inserts = ImportEntries(limit: limit)
        updates = ImportEntries(limit: limit)
        links = ImportEntries(limit: limit)
        deletions = ImportEntries(limit: limit)
        conflicts = ImportEntries(limit: limit)
        errors = ImportEntries(limit: limit)
        leftovers = ImportEntries(limit: limit)
        missingFiles = ImportEntries(limit: limit)
    }

    mutating func take(_ conflicts: [ImportConflict], _ errors: [ImportError]) {
        for conflict in conflicts { self.conflicts.add(conflict) }
        for error in errors { self.errors.add(error) }
    }
}
