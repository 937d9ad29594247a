import ArgumentParser
import Coral

/// A change of a store in steps: a plan, which is shown; a confirmation; a backup; one save, which is atomic.
struct StoreChange: ParsableArguments {
    @Flag(name: .long, help: "Change the store without asking.")
    var yes = false

    @Flag(name: .long, help: "Show the changes that would be made, and change nothing.")
    var dryRun = false

    @OptionGroup var backup: BackupOption

    func validate() throws {
        if yes, dryRun { throw ValidationError("--yes and --dry-run contradict each other.") }
    }

    /// The changes of a context that are not saved.
    struct Plan {
        /// Short descriptions of the changes, one for each property or object, in a stable order. Empty for a change of rows in
        /// the store that is opened for writing.
        var lines: [String]
        /// The change as an infinitive phrase: `delete 2 objects`. Empty if there is nothing to change.
        var summary: String
        /// A hash of the values that rows have before they are changed; nil for a change of objects.
        var rowHash: Int?

        /// Whether both plans make the same changes.
        func agrees(with other: Plan) -> Bool {
            guard summary == other.summary, rowHash == other.rowHash else { return false }
            return rowHash != nil || lines == other.lines
        }
    }

    /// Makes a plan in the store opened read-only, asks for confirmation, and makes the same change in the store opened
    /// for writing.
    ///
    /// - Parameters:
    ///   - change: Changes objects of the store's context, and returns the plan. Called on the context's queue, once for
    ///     each time that the store is opened.
    ///   - write: Changes the rows of a plan that changes no objects.
    ///   - show: Shows a plan. Its second argument is whether the plan has been saved.
    ///
    /// Throws `CommandError` if the change is not confirmed, or if another process has changed the objects concerned since
    /// the plan was shown, in which case nothing is changed; errors of validation and of saving, and of an object that
    /// another process changes at the same time.
    func run(
        _ store: String, _ source: ModelSource, change: (OpenStore) throws -> Plan,
        write: (OpenStore, Plan) throws -> Void = { _, _ in }, show: (Plan, Bool) throws -> Void
    ) throws {
        let (planned, values) = try preview(store, source, change)
        guard !dryRun, !planned.summary.isEmpty else { return try show(planned, false) }
        if !yes { try show(planned, false) }
        try confirm(planned.summary)
        let open = try OpenStore(path: store, model: source, isReadOnly: false, changesFewObjects: true)
        try open.context.performAndWait {
            guard try self.planned(change, open).agrees(with: planned), ChangedValues(of: open.context) == values else {
                throw Self.hasChanged
            }
            if planned.rowHash == nil {
                try backup.save(open)
            } else {
                try backup.save(open) { try write(open, planned) }
            }
            // Without --yes, the plan was shown before the confirmation.
            if yes { try show(planned, true) } else { StandardError.report("Done: \(planned.summary).") }
        }
        // Closing the last connection removes the write-ahead log.
        try open.close()
    }

    /// Asks for confirmation, unless --yes is given. Throws `CommandError` if it is not given.
    ///
    /// - Parameter summary: The change as an infinitive phrase: `delete 2 objects`.
    func confirm(_ summary: String) throws {
        guard yes || Confirmation.isGiven("\(summary.prefix(1).uppercased() + summary.dropFirst())?") else {
            throw CommandError("Nothing was changed. Use --yes to \(summary), or --dry-run to see the changes.")
        }
    }

    /// The error for a store that was changed after the plan was shown.
    static let hasChanged = CommandError(
        "Another process has changed the store since the plan was made. Nothing was changed.")

    /// Makes the plan in the store opened read-only. Its connections are closed when this function returns. The connection for
    /// writing is therefore closed last, and removes the write-ahead log.
    private func preview(
        _ store: String, _ source: ModelSource, _ change: (OpenStore) throws -> Plan
    ) throws -> (Plan, ChangedValues) {
        let open = try OpenStore(path: store, model: source)
        let inferred = open.isInferred ? InferredModel(open.model, store: open.url, path: source.model) : nil
        if !dryRun { try inferred?.requireGiven() }
        let plan = try open.context.performAndWait { (try planned(change, open), ChangedValues(of: open.context)) }
        try open.context.performAndWait { try inferred?.requireInverses(ofChangesIn: open.context) }
        try open.close()
        return plan
    }

    private func planned(_ change: (OpenStore) throws -> Plan, _ open: OpenStore) throws -> Plan {
        let plan = try change(open)
        open.context.processPendingChanges()
        for object in open.context.updatedObjects.union(open.context.insertedObjects) {
            try object.validateForUpdate()
        }
        for object in open.context.deletedObjects { try object.validateForDelete() }
        return plan
    }
}

/// The stored values, before the changes, of all objects that the unsaved changes of a context affect. If they are equal in two
/// contexts, both contexts change the same state of the store.
struct ChangedValues: Equatable {
    private enum Value: Equatable {
        case attribute(GraphValue)
        case objects([URL])
    }

    /// The values of each object, by its URI.
    private let objects: [URL: [String: Value]]

    /// Must be called on the context's queue. Cost: the members of the objects' to-many relationships are loaded.
    init(of context: NSManagedObjectContext) {
        let changed = context.updatedObjects.union(context.deletedObjects)
        objects = Dictionary(
            changed.map { ($0.objectID.uriRepresentation(), Self.values(of: $0)) },
            uniquingKeysWith: { first, _ in first })
    }

    private static func values(of object: NSManagedObject) -> [String: Value] {
        var values: [String: Value] = [:]
        for (name, value) in object.committedValues(forKeys: nil) {
            if let attribute = object.entity.attributesByName[name] {
                values[name] = .attribute(
                    GraphValue(value is NSNull ? nil : value, declaredAs: GraphSchema.Attribute(attribute)))
            } else {
                let members =
                    (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? [value]
                let uris = members.compactMap { ($0 as? NSManagedObject)?.objectID.uriRepresentation() }
                values[name] = .objects(
                    value is NSOrderedSet ? uris : uris.sorted { $0.absoluteString < $1.absoluteString })
            }
        }
        return values
    }
}
