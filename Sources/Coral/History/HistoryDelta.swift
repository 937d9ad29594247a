import CoreData
import GraphDocuments

/// Makes a delta of the objects that a history names.
struct HistoryDelta {
    private let comparison: GraphComparison
    private let coordinator: NSPersistentStoreCoordinator
    private let fold: HistoryFold
    private let rules: IdentityRules
    private let session: ExportSession
    private let context: NSManagedObjectContext
    private let names: HistoryNames

    init(
        _ comparison: GraphComparison, _ fold: HistoryFold, _ context: NSManagedObjectContext,
        _ coordinator: NSPersistentStoreCoordinator
    ) throws {
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
        rules = try IdentityRules(coordinator.managedObjectModel, identity: comparison.identity)
        names = try HistoryNames(
            fold, session, rules: comparison.naming == .keys ? rules : nil)
    }

    func delta(progress: Progress?) throws -> GraphDelta {
        let records = try presentRecords(progress)
        let reversible = fold.reversal.isComplete ? try reversibleChanges(records) : nil
        let header = DocumentHeader(
            shape: .flat, idScheme: comparison.naming == .keys ? .mixed : .stored,
            model: coordinator.managedObjectModel, store: coordinator.persistentStores.first, isWholeStore: false)
        return GraphDelta(
            reversible ?? oneWayChanges(records), oldHeader: header, newHeader: header,
            knowledge: reversible == nil ? .new : .both)
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

    // MARK: - Changes without old values

    private func oneWayChanges(_ records: [NSManagedObjectID: GraphRecord]) -> [RecordChange] {
        var changes: [RecordSubject: RecordChange] = [:]
        for (id, fate) in fold.fates {
            guard let record = records[id], let change = Self.change(record, fate) else { continue }
            changes[change.subject] = change
        }
        for case (let id, .deleted(let values)) in fold.fates where session.plan.includes(id.entity) {
            let deletion = RecordChange.deleted(deletedRecord(id, values))
            switch changes[deletion.subject] {
            // Another object now has the deleted object's key: the two changes become an update.
            case .inserted(let record)?: changes[deletion.subject] = Self.change(record, .updated(nil))
            case .updated?: break
            case nil, .deleted?: changes[deletion.subject] = deletion
            }
        }
        return Array(changes.values)
    }

    /// Nil if none of the changed properties are in the comparison's shape.
    private static func change(_ record: GraphRecord, _ fate: HistoryFold.Fate) -> RecordChange? {
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

    /// The changes between the old and the present records of all objects in the history; nil if two objects had the same
    /// name at different times, because a delta identifies changes by name.
    private func reversibleChanges(_ records: [NSManagedObjectID: GraphRecord]) throws -> [RecordChange]? {
        let old = try HistoryOldRecords(fold, session, names, present: records).records
        var changes: [RecordSubject: RecordChange] = [:]
        for id in fold.fates.keys.sorted(by: { ObjectName($0) < ObjectName($1) }) {
            let change: RecordChange
            switch (old[id], records[id]) {
            case (let old?, let new?): change = .updated(RecordUpdate(from: old, to: new))
            case (let old?, nil): change = .deleted(old)
            case (nil, let new?): change = .inserted(new)
            case (nil, nil): continue
            }
            if case .updated(let update) = change, update.isEmpty { continue }
            let subject = change.subject
            switch (changes[subject], change) {
            case (nil, _): changes[subject] = change
            // Another object now has the deleted object's key: the two changes become an update.
            case (.inserted(let new)?, .deleted(let old)), (.deleted(let old)?, .inserted(let new)):
                let update = RecordUpdate(from: old, to: new)
                changes[subject] = update.isEmpty ? nil : .updated(update)
            default: return nil
            }
        }
        return Array(changes.values)
    }
}

/// The names of objects that a history names, of present and of deleted ones.
struct HistoryNames {
    /// Those of deleted objects.
    private var deleted: [NSManagedObjectID: RecordID] = [:]
    private let present: RecordNames

    /// - Parameter rules: The natural keys that objects are named by; nil where they are named by their IDs.
    init(_ fold: HistoryFold, _ session: ExportSession, rules: IdentityRules?) throws {
        present = session.recorder.names
        let stored = RecordNames(store: present.store)
        for case (let id, .deleted(let tombstone)) in fold.fates {
            guard let rules, !rules.rules(of: id.entity).isEmpty else {
                deleted[id] = stored.name(of: id)
                continue
            }
            // Without a natural key the record is named by its URI, which includes the store: a primary key alone would
            // identify another object in another store.
            deleted[id] =
                try Self.key(of: id, fold, tombstone, rules) ?? RecordID(id.uriRepresentation().absoluteString)
        }
    }

    func name(of id: NSManagedObjectID) -> RecordID { deleted[id] ?? present.name(of: id) }

    private static func key(
        of id: NSManagedObjectID, _ fold: HistoryFold, _ tombstone: [String: Any], _ rules: IdentityRules
    ) throws -> RecordID? {
        guard let rule = rules.rules(of: id.entity).first else { return nil }
        var texts: [String] = []
        for part in rule.parts {
            guard case .attribute(let name) = part, let attribute = id.entity.attributesByName[name] else { return nil }
            let kept = fold.reversal.isComplete ? try fold.reversal.value(of: attribute, id) : nil
            let value = kept ?? GraphValue(tombstone[name], declaredAs: GraphSchema.Attribute(attribute))
            guard !value.isNull, let text = TextValue.text(of: value) else { return nil }
            texts.append(text)
        }
        return .key(entity: rule.entity, values: texts)
    }
}
