// Deltas of records whose ids differ between the two states, because they are natural keys that have changed.
//
// Deleted records, old values and `RecordUpdate.oldID` contain the ids of the old state; inserted records, new values and
// `RecordUpdate.id` those of the new one. The same id may be that of two records, one in each state: `b` if `a` becomes
// `b` and `b` becomes `c`. Deltas are therefore joined and applied to records with ids of one state only.

extension GraphDelta {
    /// The updated records whose natural key may have changed and whose former key is not known, in the order of the
    /// changes. A delta with such records cannot be applied: another store may contain them under any key. History
    /// alone does not contain former keys; it does if the store keeps old values.
    public var updatesWithUnknownKey: [RecordSubject] {
        changes.compactMap { change in
            guard case .updated(let update) = change, update.oldID == .unknown else { return nil }
            return change.subject
        }
    }

    var hasRenamedRecords: Bool {
        changes.contains { if case .updated(let update) = $0 { update.oldID != .same } else { false } }
    }

    /// The delta with other ids.
    ///
    /// - Parameters:
    ///   - old: Returns the id that replaces one of the old state.
    ///   - new: Returns the id that replaces one of the new state.
    func renamed(old: (RecordID) -> RecordID, new: (RecordID) -> RecordID) -> GraphDelta {
        GraphDelta(
            changes.map { $0.renamed(old: old, new: new) }, oldHeader: oldHeader, newHeader: newHeader,
            knowledge: knowledge)
    }

    /// This delta joined with one that follows it, where records have other ids in one of the states.
    func renamedFollowed(by next: GraphDelta) throws -> GraphDelta {
        // A record has one id in the state between the two deltas.
        let (ids, nextIDs) = (RenamedIDs(self), RenamedIDs(next))
        var joined = try renamed(old: ids.new, new: { $0 })
            .followed(by: next.renamed(old: { $0 }, new: nextIDs.old))
        let known = Set(joined.changes.map(\.subject))
        // Two updates that cancel each other may still rename their record.
        for case .updated(let update) in changes + next.renamed(old: { $0 }, new: nextIDs.old).changes
        where !known.contains(update.subject) {
            joined.changes.append(.updated(RecordUpdate(id: update.id, entity: update.entity)))
        }
        return joined.named(old: ids.old, new: nextIDs.new)
    }

    /// The delta with the ids that its records have in each state, of one whose records have the same id in both.
    ///
    /// A deleted and an inserted record that get the same id are one record, which is updated.
    ///
    /// - Parameter unknown: The records whose ids in the old state are not known.
    package func named(
        old: (RecordID) -> RecordID, new: (RecordID) -> RecordID, unknown: Set<RecordID> = []
    ) -> GraphDelta {
        let deleted = Dictionary(
            changes.compactMap { change -> (RecordSubject, RecordID)? in
                guard case .deleted(let record) = change else { return nil }
                return (RecordSubject(entity: record.entity, id: old(record.id)), record.id)
            }, uniquingKeysWith: { first, _ in first })
        var replacements: [RecordID: RecordID] = [:]
        for case .inserted(let record) in changes where !deleted.isEmpty {
            replacements[record.id] = deleted[RecordSubject(entity: record.entity, id: new(record.id))]
        }
        let replaced = Set(replacements.values)
        let united = uniting(replacements).map { change -> RecordChange in
            guard case .updated(var update) = change, unknown.contains(update.id) else { return change }
            update.oldID = .unknown
            return .updated(update)
        }
        let named = united.map { $0.renamed(old: old, new: { replaced.contains($0) ? old($0) : new($0) }) }
        return GraphDelta(
            named.filter { if case .updated(let update) = $0 { !update.isEmpty } else { true } },
            oldHeader: oldHeader, newHeader: newHeader, knowledge: knowledge)
    }

    /// The changes where each of these inserted records is the deleted record with the other id.
    private func uniting(_ replacements: [RecordID: RecordID]) -> [RecordChange] {
        guard !replacements.isEmpty else { return changes }
        let changes = changes.map { $0.renamed(old: { $0 }, new: { replacements[$0] ?? $0 }) }
        let replaced = Set(replacements.values)
        var inserted: [RecordID: GraphRecord] = [:]
        for case .inserted(let record) in changes where replaced.contains(record.id) { inserted[record.id] = record }
        return changes.compactMap { change in
            switch change {
            case .inserted(let record): return inserted[record.id] == nil ? change : nil
            case .deleted(let old):
                guard let new = inserted[old.id] else { return change }
                let update =
                    knowledge == .both
                    ? RecordUpdate(from: old.canonical, to: new) : RecordUpdate(settingAllBut: [], of: new)
                return .updated(update)
            case .updated(var update):
                update.relationships = update.relationships.compactMap(\.withoutUnchangedMembers)
                return .updated(update)
            }
        }
    }
}

/// The ids of a delta's records in each of its states, by those in the other. Inserted and deleted records get unique
/// ids in the state that does not contain them.
struct RenamedIDs {
    private var newIDs: [RecordID: RecordID] = [:]
    private var oldIDs: [RecordID: RecordID] = [:]
    private var inserted: Set<RecordID> = []
    private var deleted: Set<RecordID> = []

    private static let insertedMark = "\u{0}+"
    private static let deletedMark = "\u{0}-"

    init(_ delta: GraphDelta) {
        for change in delta.changes {
            switch change {
            case .inserted(let record): inserted.insert(record.id)
            case .deleted(let record): deleted.insert(record.id)
            case .updated(let update):
                guard case .renamed(let old) = update.oldID else { continue }
                newIDs[old] = update.id
                oldIDs[update.id] = old
            }
        }
    }

    /// The id in the new state.
    func new(_ old: RecordID) -> RecordID {
        if old.text.hasPrefix(Self.insertedMark) { return RecordID(String(old.text.dropFirst(2))) }
        return newIDs[old] ?? (deleted.contains(old) ? RecordID(Self.deletedMark + old.text) : old)
    }

    /// The id in the old state.
    func old(_ new: RecordID) -> RecordID {
        if new.text.hasPrefix(Self.deletedMark) { return RecordID(String(new.text.dropFirst(2))) }
        return oldIDs[new] ?? (inserted.contains(new) ? RecordID(Self.insertedMark + new.text) : new)
    }
}

extension RecordChange {
    fileprivate func renamed(old: (RecordID) -> RecordID, new: (RecordID) -> RecordID) -> RecordChange {
        switch self {
        case .inserted(let record): return .inserted(record.renamed(new).canonical)
        case .deleted(let record): return .deleted(record.renamed(old).canonical)
        case .updated(var update):
            let former = update.formerID.map(old)
            update.id = new(update.id)
            update.oldID = former.map { $0 == update.id ? .same : .renamed(from: $0) } ?? .unknown
            update.relationships = update.relationships.map { $0.renamed(old: old, new: new) }
            return .updated(update)
        }
    }
}

extension RelationshipChange {
    fileprivate func renamed(old: (RecordID) -> RecordID, new: (RecordID) -> RecordID) -> RelationshipChange {
        var renamed = self
        switch change {
        case .replaced(let was, let now):
            // Members of unordered relationships are sorted.
            func target(_ target: RelationshipTarget?, _ name: (RecordID) -> RecordID) -> RelationshipTarget? {
                guard !isOrdered, case .toMany(let ids)? = target else { return target?.renamed(name) }
                return .toMany(RecordID.sortedSet(ids.map(name)))
            }
            renamed.change = .replaced(old: target(was, old), new: target(now, new))
        case .members(let removed, let added):
            renamed.change = .members(
                removed: RecordID.sortedSet(removed.map(old)), added: RecordID.sortedSet(added.map(new)))
        }
        return renamed
    }

    /// Nil if nothing is changed.
    fileprivate var withoutUnchangedMembers: RelationshipChange? {
        switch change {
        case .replaced(let old, let new): return old == new && old != nil ? nil : self
        case .members(let removed, let added):
            let both = Set(removed).intersection(added)
            guard !both.isEmpty else { return self }
            let rest = (removed.filter { !both.contains($0) }, added.filter { !both.contains($0) })
            if rest.0.isEmpty && rest.1.isEmpty { return nil }
            return RelationshipChange(
                name: name, isOrdered: isOrdered, change: .members(removed: rest.0, added: rest.1))
        }
    }
}

extension RelationshipTarget {
    fileprivate func renamed(_ name: (RecordID) -> RecordID) -> RelationshipTarget {
        switch self {
        case .toOne(let id): .toOne(id.map(name))
        case .toMany(let ids): .toMany(ids.map(name))
        case .nullToMany: .nullToMany
        }
    }
}

extension GraphRecord {
    /// The record with other ids.
    package func renamed(_ name: (RecordID) -> RecordID) -> GraphRecord {
        var record = self
        record.id = name(record.id)
        for index in record.relationships.indices {
            record.relationships[index].target = record.relationships[index].target.renamed(name)
        }
        return record
    }
}
