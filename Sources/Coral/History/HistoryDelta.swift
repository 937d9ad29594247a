import CoreData
import GraphDocuments

/// Computes the delta of the objects that a history contains.
struct HistoryDelta {
    private let comparison: GraphComparison
    private let coordinator: NSPersistentStoreCoordinator
    private let fold: HistoryFold
    private let session: ExportSession
    private let context: NSManagedObjectContext
    private let names: HistoryNames

    init(
        _ comparison: GraphComparison, _ fold: HistoryFold, _ context: NSManagedObjectContext,
        _ coordinator: NSPersistentStoreCoordinator
    ) throws {
        let rules = try IdentityRules(coordinator.managedObjectModel, identity: comparison.identity)
        var fold = fold
        if comparison.naming == .keys { try fold.addRenamed(by: rules, in: context) }
        self.comparison = comparison
        self.fold = fold
        self.context = context
        self.coordinator = coordinator
        var shape = comparison.shape
        shape.base = .roots
        var exporter = GraphExporter(layout: .flat, shape: shape)
        exporter.identity = comparison.identity
        if comparison.naming == .keys { exporter.idScheme = .key }
        session = try ExportSession(exporter, context: context, store: coordinator.persistentStores.first)
        names = HistoryNames(fold, session, context, rules: comparison.naming == .keys ? rules : nil)
    }

    func delta(progress: Progress?) throws -> GraphDelta {
        let records = try presentRecords(progress)
        let reversal = fold.reversal.isComplete ? try reversibleChanges(records) : nil
        let header = DocumentHeader(
            layout: .flat, idScheme: comparison.naming == .keys ? .mixed : .stored,
            model: coordinator.managedObjectModel, store: coordinator.persistentStores.first, isWholeStore: false)
        let former = try names.formerNames(of: fold.fates.keys)
        let delta = GraphDelta(
            reversal ?? oneWayChanges(records), oldHeader: header, newHeader: header,
            knowledge: reversal == nil ? .new : .both)
        return delta.named(old: { former.names[$0] ?? $0 }, new: { $0 }, unknown: former.unknown)
    }

    // MARK: - Present objects

    /// The canonical records of inserted and updated objects, without those that were deleted after the history was read,
    /// whose deletion is part of the next delta.
    private func presentRecords(_ progress: Progress?) throws -> [NSManagedObjectID: GraphRecord] {
        let present = try presentObjects(
            fold.fates.compactMap { id, fate in if case .deleted = fate { nil } else { id } })
        let ids = Dictionary(present.map { (names.name(of: $0), $0) }, uniquingKeysWith: { first, _ in first })
        var records: [NSManagedObjectID: GraphRecord] = [:]
        var writer: any GraphWriter = RecordCollector { record in
            if let id = ids[record.id] { records[id] = record.canonical }
        }
        _ = try session.export(from: present, to: &writer, progress: progress)
        return records
    }

    /// The objects that still exist, in the order of their names. Cost: one fetch for each entity and 1000 objects.
    private func presentObjects(_ ids: [NSManagedObjectID]) throws -> [NSManagedObjectID] {
        var present: [NSManagedObjectID] = []
        for (name, ids) in Dictionary(grouping: ids, by: { $0.entity.name ?? "" }) {
            let sorted = ids.sortedByName { $0 }
            for start in stride(from: 0, to: sorted.count, by: 1000) {
                let request = NSFetchRequest<NSManagedObjectID>(entityName: name)
                request.resultType = .managedObjectIDResultType
                request.includesSubentities = false
                request.predicate = NSPredicate(
                    format: "SELF IN %@", Array(sorted[start..<min(start + 1000, sorted.count)]))
                present += try context.fetch(request)
            }
        }
        return present.sortedByName { $0 }
    }

    // MARK: - Changes without old values

    private func oneWayChanges(_ records: [NSManagedObjectID: GraphRecord]) -> [RecordChange] {
        fold.fates.compactMap { id, fate in
            if case .deleted(let values) = fate {
                return session.plan.includes(id.entity) ? .deleted(deletedRecord(id, values)) : nil
            }
            return records[id].map { Self.change($0, fate) }
        }
    }

    /// The change of a present object; an update is empty if none of the changed properties are in the comparison's shape.
    private static func change(_ record: GraphRecord, _ fate: HistoryFold.Fate) -> RecordChange {
        guard case .updated(let names) = fate else { return .inserted(record) }
        func isUpdated(_ name: String) -> Bool {
            names.map { $0.contains(String(name.prefix { $0 != "." })) } ?? true
        }
        return .updated(
            RecordUpdate(
                id: record.id, entity: record.entity,
                attributes: record.attributes.filter { isUpdated($0.name) }
                    .map { AttributeChange(name: $0.name, old: nil, new: $0.value) },
                relationships: record.relationships.filter { isUpdated($0.name) }
                    .map {
                        RelationshipChange(
                            name: $0.name, isOrdered: $0.isOrdered, change: .replaced(old: nil, new: $0.target))
                    }))
    }

    /// The record of a deleted object: its name, and the values that the history preserves.
    private func deletedRecord(_ id: NSManagedObjectID, _ values: [String: Any]) -> GraphRecord {
        var record = GraphRecord(id: names.name(of: id), entity: id.entity.name ?? "")
        for (name, value) in values {
            guard let attribute = id.entity.attributesByName[name] else { continue }
            record.attributes.append(
                GraphAttribute(name: name, value: GraphValue(value, declaredAs: GraphSchema.Attribute(attribute))))
        }
        return record.canonical
    }

    // MARK: - Changes with old values

    /// The changes between the old and the present records of all objects in the history.
    private func reversibleChanges(_ records: [NSManagedObjectID: GraphRecord]) throws -> [RecordChange] {
        let old = try HistoryOldRecords(fold, session, names, present: records).records
        return fold.fates.keys.compactMap { id in
            switch (old[id], records[id]) {
            case (let old?, let new?): .updated(RecordUpdate(from: old, to: new))
            case (let old?, nil): .deleted(old)
            case (nil, let new?): .inserted(new)
            case (nil, nil): nil
            }
        }
    }
}
