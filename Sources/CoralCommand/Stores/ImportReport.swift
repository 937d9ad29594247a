import Coral

/// An import plan as text: one line for each step, followed by the summary.
enum ImportReport {
    static func text(of plan: ImportPlan<NSManagedObject>) -> String {
        var lines = plan.inserts.map(\.description) + plan.updates.map(\.description)
        lines += plan.links.map(\.description) + plan.deletions.map(\.description)
        for difference in plan.modelDifferences { lines.append("? \(difference)") }
        for file in plan.missingFiles { lines.append("? \(file)") }
        for conflict in plan.conflicts { lines.append("? \(conflict)") }
        for error in plan.errors { lines.append("! \(error)") }
        lines.append(plan.summary)
        return lines.joined(separator: "\n") + "\n"
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

    init(_ plan: ImportPlan<NSManagedObject>, isSaved: Bool, path: ExecutionPath) {
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
        if !isSaved { steps = ImportReport.text(of: plan).split(separator: "\n").dropLast().map(String.init) }
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
