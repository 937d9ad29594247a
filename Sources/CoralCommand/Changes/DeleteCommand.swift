import ArgumentParser
import Coral

/// `coral delete`: deletes objects by the delete rules of the model.
struct DeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Deletes the objects that match a predicate. Writes to the store.",
        discussion: """
            The model's delete rules apply: objects along cascading relationships are deleted too, references of \
            others are removed, and a deny rule is an error. The objects that would be deleted are shown first. They \
            are deleted in one transaction, after a confirmation or with --yes. A backup of the store is made before. \
            To delete all objects of an entity, write --where TRUEPREDICATE.

            EXAMPLES:
              coral delete Notes.sqlite --entity Note --where 'rank > 3' --dry-run
              coral delete Notes.sqlite --entity Tag --where 'notes.@count == 0' --yes
            """)

    @Argument(help: "The store. It is changed, unless --dry-run is given.", completion: Completion.stores)
    var store: String

    @Option(name: .long, help: "The entity of the objects to delete.", completion: Completion.entities)
    var entity: String

    @OptionGroup var condition: ObjectCondition

    @OptionGroup var zone: TimeZoneOption

    @Flag(name: .long, help: "Print JSON.")
    var json = false

    @OptionGroup var change: StoreChange

    @OptionGroup var quiet: QuietOption

    @OptionGroup var source: ModelSource

    func validate() throws { try condition.require() }

    func run() throws { try change.run(store, source, change: changed, show: show) }

    private func changed(_ open: OpenStore) throws -> StoreChange.Plan {
        let roots = try condition.objects(of: entity, in: open, zone: zone.zone)
        let context = open.context
        for object in roots { context.delete(object) }
        context.processPendingChanges()
        let requested = Set(roots)
        let deleted = StoredName.sorted(Array(context.deletedObjects))
        let updated = StoredName.sorted(context.updatedObjects.filter { $0.hasPersistentChangedValues })
        let lines =
            deleted.map { "- \(StoredName($0.objectID).text)\(requested.contains($0) ? "" : "  (by cascade)")" }
            + updated.map { object in
                "~ \(StoredName(object.objectID).text)  \(object.changedValues().keys.sorted().joined(separator: ", "))"
            }
        guard !deleted.isEmpty else { return StoreChange.Plan(lines: [], summary: "") }
        let cascaded = deleted.filter { !requested.contains($0) }
        let counts = Dictionary(grouping: cascaded) { $0.entity.name ?? "" }.sorted { $0.key < $1.key }
            .map { "\(Quantity.grouped($0.value.count)) \($0.key)" }
        var summary = "delete \(Quantity.count(roots.count, "object")) of \(entity)"
        if !counts.isEmpty { summary += ", and by cascade \(counts.joined(separator: ", "))" }
        return StoreChange.Plan(lines: lines, summary: summary)
    }

    private func show(_ plan: StoreChange.Plan, isSaved: Bool) throws {
        if json {
            let report = DeleteReport(isSaved: isSaved, changes: plan.lines)
            return try isSaved ? JSONOutput.report(report) : JSONOutput.write(report)
        }
        guard !plan.summary.isEmpty else { return try StandardOutput.write("Nothing to delete: no object matches.\n") }
        let shown = plan.lines.prefix(50).map { "\($0)\n" }.joined()
        let more = plan.lines.count > 50 ? "… and \(Quantity.grouped(plan.lines.count - 50)) more\n" : ""
        let text = shown + more + (isSaved ? "Done: " : "Would ") + plan.summary + ".\n"
        try isSaved ? StandardOutput.report(text) : StandardOutput.write(text)
    }
}

/// The output of `coral delete --json`.
private struct DeleteReport: Encodable {
    var isSaved: Bool
    /// A line for each deleted object, then for each object whose references are removed.
    var changes: [String]
}
