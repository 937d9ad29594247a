/// The changes between two states of a graph: a value that can be written to a document, applied, reverted, joined to
/// the next, and merged with another.
///
///     let delta = try note.changes(since: earlier)
///     try delta.inverse.apply(to: context) // takes them back
///
/// Changes are sorted by entity and id, at most one for each record, and none without effect: two deltas between the
/// same states are equal, and their documents have the same bytes. Records are compared by id, so both states must use
/// the same ids. Tombstones are treated as absent.
///
/// If ids are natural keys, a record whose key has changed has another id in each state: the update contains both
/// (`RecordUpdate.formerID`). All other ids are those of the old state in old values and deleted records, and those of the
/// new state in new values and inserted records.
public struct GraphDelta: Sendable, Hashable {
    /// The header of the old state's document, if any.
    package var oldHeader: DocumentHeader?
    /// The header of the new state's document, if any.
    package var newHeader: DocumentHeader?
    /// The changes, sorted by entity and id.
    public internal(set) var changes: [RecordChange]
    /// The states whose values the changes contain.
    package private(set) var knowledge: Knowledge

    /// The states whose values a delta contains.
    package enum Knowledge: String, Sendable, Hashable {
        /// The old and the new one.
        case both
        /// The new one only, as in a delta from a `GraphToken`: of old values it is only known that they differ from
        /// the new ones. Such a delta cannot be reverted.
        case new
        /// The old one only: the inverse of a delta with new values only. Such a delta cannot be applied.
        case old

        fileprivate var inverse: Knowledge {
            switch self {
            case .both: .both
            case .new: .old
            case .old: .new
            }
        }
    }

    /// Creates a delta of changes, which are sorted; of several for one record the last is used.
    package init(
        _ changes: some Sequence<RecordChange> = [], oldHeader: DocumentHeader? = nil, newHeader: DocumentHeader? = nil,
        knowledge: Knowledge = .both
    ) {
        self.knowledge = knowledge
        self.oldHeader = oldHeader
        self.newHeader = newHeader
        let byPlace = Dictionary(changes.map { ($0.place, $0) }, uniquingKeysWith: { $1 })
        self.changes = byPlace.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Whether there are no changes.
    public var isEmpty: Bool { changes.isEmpty }

    /// One line: `2 inserted, 1 updated, 0 deleted`.
    public var summary: String {
        var counts = (inserted: 0, updated: 0, deleted: 0)
        for change in changes {
            switch change {
            case .inserted: counts.inserted += 1
            case .updated: counts.updated += 1
            case .deleted: counts.deleted += 1
            }
        }
        return "\(counts.inserted) inserted, \(counts.updated) updated, \(counts.deleted) deleted"
    }

    /// The change of a record; nil if it is unchanged. If a deleted record had an id that another record has now, the
    /// change of that one. Logarithmic in the number of changes.
    package subscript(subject: RecordSubject) -> RecordChange? {
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].subject < subject { low = middle + 1 } else { high = middle }
        }
        if low + 1 < changes.count, changes[low + 1].subject == subject { return changes[low + 1] }
        return low < changes.count && changes[low].subject == subject ? changes[low] : nil
    }

    // MARK: - Applying and reverting

    /// The inverse delta.
    public var inverse: GraphDelta {
        GraphDelta(
            changes.map(\.inverse), oldHeader: newHeader, newHeader: oldHeader, knowledge: knowledge.inverse)
    }

    /// Throws `DeltaError` for a delta without new values, and for one with updates of records whose former natural key
    /// is not known.
    package func requireApplicable() throws {
        guard knowledge != .old else {
            throw DeltaError(
                .oneWay, "The delta is from a token: it has no old values and cannot be reverted.")
        }
        if let subject = updatesWithUnknownKey.first {
            throw DeltaError(
                .unknownKey,
                "The key of \(subject) may have changed, and the delta does not contain the former one, by which the "
                    + "object could be found.", at: subject)
        }
    }

    /// The records after the delta, in canonical form, sorted by entity and id.
    ///
    /// With `checking`, throws `DeltaError` if the records differ from the delta's old state; without it, missing
    /// records are skipped, and existing ones are changed.
    package func applied(to records: some Sequence<GraphRecord>, checking: Bool = true) throws -> [GraphRecord] {
        try requireApplicable()
        guard !hasRenamedRecords else {
            let ids = RenamedIDs(self)
            return try renamed(old: { $0 }, new: ids.old).applied(to: records, checking: checking)
                .map { $0.renamed(ids.new).canonical }.sorted { $0.subject < $1.subject }
        }
        let checksValues = checking && knowledge == .both
        var current = Dictionary(
            records.lazy.filter { !$0.isDeleted }.map { ($0.subject, $0.canonical) }, uniquingKeysWith: { $1 })
        for change in changes {
            let subject = change.subject
            switch (change, current[subject]) {
            case (.inserted, _?) where checking:
                throw DeltaError(.exists, "\(subject) already exists.", at: subject)
            case (.inserted(let record), _): current[subject] = record
            case (.updated(let update), let record?):
                current[subject] = try update.applied(to: record, checking: checksValues)
            case (.deleted(let old), let record?):
                guard !checksValues || old == record else {
                    throw DeltaError(.mismatch, "\(subject) does not have the delta's old state.", at: subject)
                }
                current[subject] = nil
            case (_, nil) where checking: throw DeltaError(.missing, "\(subject) does not exist.", at: subject)
            case (_, nil): break
            }
        }
        return current.sorted { $0.key < $1.key }.map(\.value)
    }

    // MARK: - Joining

    /// This delta joined with one that follows it: records that were inserted and deleted again are omitted.
    ///
    /// Throws `DeltaError` if the old state of the other is not the new state of this one. Cost: one step for each
    /// change.
    public func followed(by next: GraphDelta) throws -> GraphDelta {
        try requireApplicable()
        try next.requireApplicable()
        guard !hasRenamedRecords, !next.hasRenamedRecords else { return try renamedFollowed(by: next) }
        let isChecked = knowledge == .both && next.knowledge == .both
        var joined = Dictionary(changes.map { ($0.subject, $0) }, uniquingKeysWith: { $1 })
        for change in next.changes {
            let subject = change.subject
            guard let first = joined[subject] else {
                joined[subject] = change
                continue
            }
            joined[subject] = try GraphDelta.join(first, change, checking: isChecked)
        }
        return GraphDelta(
            isChecked ? Array(joined.values) : joined.values.map(\.forgettingOld), oldHeader: oldHeader,
            newHeader: next.newHeader, knowledge: isChecked ? .both : .new)
    }

    /// Nil if the changes cancel each other.
    ///
    /// - Parameter checking: Whether both changes contain their old values. Otherwise those of the result are not to be used.
    private static func join(_ first: RecordChange, _ second: RecordChange, checking: Bool) throws -> RecordChange? {
        switch (first, second) {
        case (.inserted(let record), .updated(let update)):
            return .inserted(try update.applied(to: record, checking: checking))
        case (.inserted(let record), .deleted(let old)):
            guard !checking || record == old else { throw unrelated(first) }
            return nil
        case (.updated(let one), .updated(let other)):
            let update = try one.followed(by: other, checking: checking)
            return update.isEmpty ? nil : .updated(update)
        case (.updated(let update), .deleted(let record)):
            return .deleted(checking ? try update.inverse.applied(to: record, checking: true) : record)
        case (.deleted(let old), .inserted(let new)):
            let update = RecordUpdate(from: old, to: new)
            return update.isEmpty ? nil : .updated(update)
        case (.inserted, .inserted), (.updated, .inserted), (.deleted, .updated), (.deleted, .deleted):
            guard checking else { return second }
            throw unrelated(first)
        }
    }

    private static func unrelated(_ change: RecordChange) -> DeltaError {
        DeltaError(
            .unrelated, "The deltas do not follow one another: they differ in \(change.subject).", at: change.subject)
    }
}

extension RecordUpdate {
    /// This update joined with the next one of the same record, whose old values must be the new ones of this with `checking`.
    fileprivate func followed(by next: RecordUpdate, checking: Bool) throws -> RecordUpdate {
        var joined = RecordUpdate(id: id, entity: entity)
        var failure: DeltaError?
        forEachName(attributes, next.attributes, \.name) { name, one, other in
            if let one, let other {
                if checking, one.new != other.old { failure = disagreement(name) }
                // Without checking, the old value may be unknown.
                if !checking || one.old != other.new {
                    joined.attributes.append(AttributeChange(name: name, old: one.old, new: other.new))
                }
            } else if let only = one ?? other {
                joined.attributes.append(only)
            }
        }
        forEachName(relationships, next.relationships, \.name) { name, one, other in
            do {
                guard let one, let other else {
                    if let only = one ?? other { joined.relationships.append(only) }
                    return
                }
                let both = try one.followed(by: other, of: subject, checking: checking)
                if let both { joined.relationships.append(both) }
            } catch {
                failure = disagreement(name)
            }
        }
        if let failure { throw failure }
        return joined
    }

    private func disagreement(_ name: String) -> DeltaError {
        DeltaError(.unrelated, "The deltas do not follow one another: they differ in \(subject).\(name).", at: subject)
    }
}

extension RelationshipChange {
    /// Nil if the changes cancel each other.
    fileprivate func followed(
        by next: RelationshipChange, of subject: RecordSubject, checking: Bool
    ) throws -> RelationshipChange? {
        switch (change, next.change) {
        case (.members(let removed, let added), .members(let removedNext, let addedNext)):
            let lost = Set(removed).subtracting(addedNext).union(Set(removedNext).subtracting(added))
            let got = Set(added).subtracting(removedNext).union(Set(addedNext).subtracting(removed))
            guard !lost.isEmpty || !got.isEmpty else { return nil }
            return RelationshipChange(
                name: name, isOrdered: isOrdered,
                change: .members(removed: RecordID.sortedSet(lost), added: RecordID.sortedSet(got)))
        case (.replaced(let old, let new), _):
            let end = try next.applied(to: new, of: subject, checking: checking)
            guard checking else { return next.setting(end) }
            return RelationshipChange(name: name, isOrdered: next.isOrdered, from: old, to: end)
        case (.members, .replaced(let old, let new)):
            guard checking else { return next.setting(new) }
            let start = try inverse.applied(to: old, of: subject, checking: true)
            return RelationshipChange(name: name, isOrdered: next.isOrdered, from: start, to: new)
        }
    }

    /// The change to a target from an unknown one.
    private func setting(_ target: RelationshipTarget?) -> RelationshipChange {
        RelationshipChange(name: name, isOrdered: isOrdered, change: .replaced(old: nil, new: target))
    }
}
