import CoreData
import GraphDocuments

extension GraphComparison {
    /// The changes of a coordinator's stores since a history token, computed from the history. The delta can be applied
    /// and joined to the next one, but not reverted.
    ///
    /// Records of inserted objects are complete; those of updated objects contain the properties that were set,
    /// possibly to their old values; those of deleted objects contain the values that the history preserves
    /// (`preservesValueInHistoryOnDeletion`). Values are the current ones. Objects are named by their ids, with
    /// `naming` `.keys` by natural keys; a deleted object has one if its tombstone contains all attributes of the key.
    /// A change of a many-to-many relationship that the history records only on the other side is part of the delta on
    /// that side.
    ///
    /// Throws code 134301 if the token has expired, code 134091 if no store has a history, and errors of
    /// `delta(from:to:progress:)`. Cost: the history since the token is read once, and the changed objects.
    ///
    /// - Returns: The delta, and the token to start from the next time: the given one if nothing has changed.
    public func delta(
        since token: NSPersistentHistoryToken?, to coordinator: NSPersistentStoreCoordinator, progress: Progress? = nil
    ) throws -> (delta: GraphDelta, token: NSPersistentHistoryToken?) {
        let start = token.map { HistoryPages.Start.token($0) } ?? .beginning
        let (delta, reached) = try delta(from: HistoryPages(coordinator, from: start), coordinator, progress)
        return (delta, reached ?? token)
    }

    /// The changes of a coordinator's stores since a date; see `delta(since:to:progress:)` with a token.
    public func delta(
        since date: Date, to coordinator: NSPersistentStoreCoordinator, progress: Progress? = nil
    ) throws -> (delta: GraphDelta, token: NSPersistentHistoryToken?) {
        try delta(from: HistoryPages(coordinator, from: .date(date)), coordinator, progress)
    }

    private func delta(
        from pages: HistoryPages, _ coordinator: NSPersistentStoreCoordinator, _ progress: Progress?
    ) throws -> (delta: GraphDelta, token: NSPersistentHistoryToken?) {
        var fold = HistoryFold()
        try pages.forEach(progress: progress) { fold.add($0) }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
        let delta = try context.performAndWait {
            // The history is read before the objects: changes made in between are part of the next delta.
            try? context.setQueryGenerationFrom(.current)
            return try HistoryDelta(self, context, coordinator).delta(of: fold.fates, progress: progress)
        }
        return (delta, fold.token)
    }
}

extension NSPersistentStoreCoordinator {
    /// The changes of the coordinator's stores since a history token; see `GraphComparison` for options, and for the
    /// token to start from the next time.
    public func changes(since token: NSPersistentHistoryToken) throws -> GraphDelta {
        try GraphComparison(managedObjectModel).delta(since: token, to: self).delta
    }

    /// The changes of the coordinator's stores since a date, from their history.
    public func changes(since date: Date) throws -> GraphDelta {
        try GraphComparison(managedObjectModel).delta(since: date, to: self).delta
    }
}

/// Creates records of the objects in a history.
private struct HistoryDelta {
    private let comparison: GraphComparison
    private let context: NSManagedObjectContext
    private let coordinator: NSPersistentStoreCoordinator
    private let exporter: GraphExporter
    private let rules: IdentityRules

    init(
        _ comparison: GraphComparison, _ context: NSManagedObjectContext, _ coordinator: NSPersistentStoreCoordinator
    ) throws {
        self.comparison = comparison
        self.context = context
        self.coordinator = coordinator
        var shape = comparison.shape
        shape.base = .roots
        var exporter = GraphExporter(layout: .flat, shape: shape)
        exporter.identity = comparison.identity
        if comparison.naming == .keys { exporter.idScheme = .key }
        self.exporter = exporter
        rules = try IdentityRules(coordinator.managedObjectModel, identity: comparison.identity)
    }

    func delta(of fates: [NSManagedObjectID: HistoryFold.Fate], progress: Progress?) throws -> GraphDelta {
        let session = try ExportSession(exporter, context: context, store: coordinator.persistentStores.first)
        let present = try presentObjects(fates.compactMap { id, fate in if case .deleted = fate { nil } else { id } })
        let names = session.recorder.names
        let ids = Dictionary(present.map { (names.name(of: $0), $0) }, uniquingKeysWith: { first, _ in first })
        var records: [RecordSubject: RecordChange] = [:]
        let collector = RecordCollector { record in
            guard let id = ids[record.id], let fate = fates[id] else { return }
            if let change = Self.change(record, fate) { records[change.subject] = change }
        }
        var writer: any GraphWriter = collector
        _ = try session.export(from: present, to: &writer, progress: progress)
        for case (let id, .deleted(let values)) in fates {
            guard session.plan.includes(id.entity) else { continue }
            let deletion = RecordChange.deleted(deletedRecord(id, values, names))
            switch records[deletion.subject] {
            // Another object now has the deleted object's key: the two changes become an update.
            case .inserted(let record)?: records[deletion.subject] = Self.change(record, .updated(nil))
            case .updated?: break
            case nil, .deleted?: records[deletion.subject] = deletion
            }
        }
        let header = DocumentHeader(
            shape: .flat, idScheme: comparison.naming == .keys ? .mixed : .stored,
            model: coordinator.managedObjectModel, store: coordinator.persistentStores.first, isWholeStore: false)
        return GraphDelta(records.values, oldHeader: header, newHeader: header, knowledge: .new)
    }

    /// The objects that still exist, in the order of their names. Cost: one fetch for each entity and 1000 objects.
    private func presentObjects(_ ids: [NSManagedObjectID]) throws -> [NSManagedObjectID] {
        var present: [NSManagedObjectID] = []
        for (name, ids) in Dictionary(grouping: ids, by: { $0.entity.name ?? "" }) {
            let sorted = ids.sorted { ObjectName($0) < ObjectName($1) }
            for start in stride(from: 0, to: sorted.count, by: 1000) {
                let request = NSFetchRequest<NSManagedObjectID>(entityName: name)
                request.resultType = .managedObjectIDResultType
                request.includesSubentities = false
                request.predicate = NSPredicate(
                    format: "SELF IN %@", Array(sorted[start..<min(start + 1000, sorted.count)]))
                present += try context.fetch(request)
            }
        }
        return present.sorted { ObjectName($0) < ObjectName($1) }
    }

    /// Nil if none of the changed properties are in the comparison's shape.
    private static func change(_ record: GraphRecord, _ fate: HistoryFold.Fate) -> RecordChange? {
        let record = record.canonical
        guard case .updated(let names) = fate else { return .inserted(record) }
        func isUpdated(_ name: String) -> Bool {
            names.map { $0.contains(String(name.prefix { $0 != "." })) } ?? true
        }
        let update = RecordUpdate(
            id: record.id, entity: record.entity,
            attributes: record.attributes.filter { isUpdated($0.name) }
                .map { AttributeChange(name: $0.name, old: nil, new: $0.value) },
            relationships: record.relationships.filter { isUpdated($0.name) }
                .map {
                    RelationshipChange(
                        name: $0.name, isOrdered: $0.isOrdered, change: .replaced(old: nil, new: $0.target))
                })
        return update.isEmpty ? nil : .updated(update)
    }

    /// The record of a deleted object: its name, and the values that the history preserves.
    private func deletedRecord(
        _ id: NSManagedObjectID, _ values: [String: Any], _ names: RecordNames
    ) -> GraphRecord {
        var record = GraphRecord(
            id: RecordNames(store: names.store).name(of: id), entity: id.entity.name ?? "")
        let attributes = id.entity.attributesByName
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            guard let attribute = attributes[name] else { continue }
            let value = value is NSNull ? nil : value
            record.attributes.append(
                GraphAttribute(name: name, value: GraphValue(value, declaredAs: GraphSchema.Attribute(attribute))))
        }
        if comparison.naming == .keys, !rules.rules(of: id.entity).isEmpty {
            // Without a natural key the record is named by its URI, which includes the store: a primary key alone would
            // identify another object in another store.
            record.id = key(of: record, id.entity) ?? RecordID(id.uriRepresentation().absoluteString)
        }
        return record.canonical
    }

    private func key(of record: GraphRecord, _ entity: NSEntityDescription) -> RecordID? {
        guard let rule = rules.rules(of: entity).first else { return nil }
        var texts: [String] = []
        for part in rule.parts {
            guard case .attribute(let name) = part, let value = record.value(of: name), !value.isNull,
                let text = TextValue.text(of: value)
            else { return nil }
            texts.append(text)
        }
        return .key(entity: rule.entity, values: texts)
    }
}
