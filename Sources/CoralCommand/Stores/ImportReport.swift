import Coral

/// An import plan as text: one line for each step, followed by the summary.
enum ImportReport {
    /// - Parameter note: What holds for the whole plan.
    static func text(of plan: ImportPlan<NSManagedObject>, note: String? = nil) -> String {
        var lines = plan.inserts.map(\.description) + plan.updates.map(\.description)
        lines += plan.links.map(\.description) + plan.deletions.map(\.description)
        for difference in plan.modelDifferences { lines.append("? \(difference)") }
        for file in plan.missingFiles { lines.append("? \(file)") }
        for conflict in plan.conflicts { lines.append("? \(conflict)") }
        if let note { lines.append("? \(note)") }
        for error in plan.errors { lines.append("! \(error)") }
        lines.append(plan.summary)
        return lines.joined(separator: "\n") + "\n"
    }
}

/// What to do about the errors of an import, which a part of a store has often that is imported into another one.
enum ImportAdvice {
    /// A sentence for each kind of error; nil for errors that say enough.
    static func text(of errors: [ImportError]) -> String? {
        var sentences: [String] = []
        if errors.contains(where: { $0.code == .danglingReference }) {
            sentences.append(
                "The document has references to objects that it does not contain. Write these too, with coral export --follow "
                    + "everything, or choose a policy: --dangling skip, record or stub.")
        }
        if errors.contains(where: { $0.place?.ruleCode == NSValidationMissingMandatoryPropertyError }) {
            sentences.append(
                "The document lacks values that the model requires. Write it without --exclude, import it into a store that has the "
                    + "objects already, or omit such records with --skip-invalid.")
        }
        return sentences.isEmpty ? nil : sentences.joined(separator: "\n")
    }

    /// What to do about a record without an entity of the model.
    static func text(ofUnknownEntityIn model: NSManagedObjectModel?) -> String {
        let names = NameSuggestion.advice(for: "", in: (model?.entities ?? []).compactMap(\.name))
        return "--entity names the entity of objects that do not state theirs.\(names)"
    }
}

/// A note about objects that an import cannot find again.
enum UnidentifiedNote {
    /// Says that no key identifies the new objects of a plan, and which option gives keys; nil if keys or ids do, or if no object is new.
    static func text(of plan: ImportPlan<NSManagedObject>, in model: NSManagedObjectModel) -> String? {
        let found = plan.unidentified
        guard let first = found.first else { return nil }
        let names = found.prefix(5).map { $0.entity }.joined(separator: ", ") + (found.count > 5 ? ", …" : "")
        let count = found.reduce(0) { $0 + $1.count }
        let attributes = model.entitiesByName[first.entity]?.attributesByName.keys.sorted() ?? []
        let key = attributes.first { $0 == "id" || LabelAttribute.isIdentifier($0) } ?? "ATTRIBUTE"
        return "No key identifies the objects of \(names): \(Quantity.count(count, "object")) "
            + "\(count == 1 ? "is" : "are") created, even if the store has equal ones. To update those, give the key: "
            + "--key \(first.entity)=\(key)"
    }
}

/// The output of `coral import --json`.
struct ImportSummary: Encodable {
    var isSaved: Bool
    var insertCount: Int
    var updateCount: Int
    var linkCount: Int
    var deletionCount: Int
    var missingFileCount: Int
    var conflicts: [String]
    var errors: [String]
    /// Whether rows were written directly, without objects.
    var isByRows: Bool
    /// Why objects were created.
    var objectsReason: String?
    /// The steps, in the same form as without `--json`; only for a plan.
    var steps: [String]?

    init(_ plan: ImportPlan<NSManagedObject>, isSaved: Bool, path: ExecutionPath, note: String? = nil) {
        self.isSaved = isSaved
        isByRows = path == .rows
        objectsReason = path.reason?.message
        insertCount = plan.inserts.count
        updateCount = plan.updates.count
        linkCount = plan.links.count
        deletionCount = plan.deletions.count
        missingFileCount = plan.missingFiles.count
        conflicts = plan.conflicts.map(\.description)
        errors = plan.errors.map { "\($0)" }
        if !isSaved {
            steps = ImportReport.text(of: plan, note: note).split(separator: "\n").dropLast().map(String.init)
        }
    }

    init(_ result: BatchImporter.Result) {
        isSaved = true
        isByRows = result.path == .rows
        objectsReason = result.path.reason?.message
        insertCount = result.insertCount
        updateCount = result.updateCount
        linkCount = result.linkCount
        deletionCount = result.deletionCount
        missingFileCount = result.missingFiles.count
        conflicts = result.conflicts.map(\.description)
        errors = result.errors.map { "\($0)" }
    }
}
