import ArgumentParser
import Coral

/// `coral set`: changes properties of objects.
struct SetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Changes properties of the objects that match a predicate. Writes to the store.",
        discussion: """
            The changes are shown first, validated by the model's rules, and saved in one transaction after a \
            confirmation or with --yes. A backup of the store is made before. To change all objects of an entity, \
            write --where TRUEPREDICATE.

            An assignment is key=value. Values are written as in predicates, without quotes. null removes a value; to \
            set the text null, write it as a JSON string: "null". A binary value is written as Base64, as hex: \
            followed by hexadecimal digits, or as @ followed by the path of a file. Objects are written as Note/p3 or \
            as URIs; the members of a to-many relationship are separated by commas, and += and -= add and remove \
            members.

            EXAMPLES:
              coral set Notes.sqlite --entity Note --where 'title == "Groceries"' rank=4 \\
                --dry-run
              coral set Notes.sqlite --entity Note \\
                --where 'rank > 3' author=null tags+=Tag/p1 --yes
            """)

    @Argument(help: "The store. It is changed, unless --dry-run is given.", completion: Completion.stores)
    var store: String

    @Argument(help: "The new values: key=value.")
    var assignments: [Assignment]

    @Option(name: .long, help: "The entity of the objects to change.", completion: Completion.entities)
    var entity: String

    @OptionGroup var condition: ObjectCondition

    @OptionGroup var zone: TimeZoneOption

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var change: StoreChange

    @OptionGroup var quiet: QuietOption

    @OptionGroup var source: ModelSource

    /// Whether assignments may read files. Not an option: those of an assistant's tool may not.
    var readsFiles = true

    func validate() throws { try condition.require() }

    func run() throws {
        try change.run(store, source, change: changed, write: writeRows, show: show)
    }

    private func changed(_ open: OpenStore) throws -> StoreChange.Plan {
        let description = try open.entity(named: entity)
        let plan = try AssignmentPlan(assignments, of: description, in: open, zone: zone.zone, readsFiles: readsFiles)
        if let planned = try rowPlan(plan, description, open) { return planned }
        let objects = try condition.objects(of: entity, in: open, zone: zone.zone)
        guard !objects.isEmpty else { throw noObject }
        var known: Set<String> = []
        let keys = assignments.map { $0.key.split(separator: ".").first.map(String.init) ?? $0.key }
            .filter { known.insert($0).inserted }
        // Compared after all assignments, because setting one side of a relationship may change others of these objects.
        let before = objects.map { cells(of: $0, keys) }
        for object in objects { plan.apply(to: object) }
        open.context.processPendingChanges()
        var lines: [String] = []
        var count = 0
        for (object, before) in zip(objects, before) {
            let changes = zip(keys, zip(before, cells(of: object, keys))).filter { $1.0 != $1.1 }
            if !changes.isEmpty { count += 1 }
            let name = StoredName(object.objectID).text
            lines += changes.map { "\(name).\($0): \(text(of: $1.0)) -> \(text(of: $1.1))" }
        }
        return StoreChange.Plan(
            lines: lines, summary: count == 0 ? "" : "change \(Quantity.count(count, "object")) of \(entity)")
    }

    var noObject: CommandError { CommandError("No object of \(entity) matches --where.") }

    private func cells(of object: NSManagedObject, _ keys: [String]) -> [QueryCell] {
        keys.map { QueryColumn($0, of: object.entity).cell(of: object) }
    }

    /// The text of a cell in the plan. Different values may have equal texts, because binary values are shown by their size.
    func text(of cell: QueryCell) -> String {
        if cell == .null || cell == .list([]) { return "null" }
        let text = QueryAnswer.cut(cell.text(in: zone.zone))
        return text.isEmpty ? "\"\"" : text
    }

    private func show(_ plan: StoreChange.Plan, isSaved: Bool) throws {
        if json {
            let report = SetReport(isSaved: isSaved, changes: plan.lines)
            return try isSaved ? JSONOutput.report(report) : JSONOutput.write(report)
        }
        guard !plan.summary.isEmpty else {
            return try StandardOutput.write("Nothing to change: the objects have these values.\n")
        }
        let write = isSaved ? StandardOutput.report : StandardOutput.write
        // One system call for many lines.
        for start in stride(from: 0, to: plan.lines.count, by: 1_000) {
            try write(plan.lines[start...].prefix(1_000).map { "~ \($0)\n" }.joined())
        }
        try write("\(isSaved ? "Done: " : "Would ")\(plan.summary).\n")
    }
}

/// The output of `coral set --json`.
private struct SetReport: Encodable {
    var isSaved: Bool
    /// A line for each changed property; long values are truncated.
    var changes: [String]
}
