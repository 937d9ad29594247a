/// What has changed between two states of a graph: a value that can be written to a document, applied, reverted, joined to
/// the next, and merged with another.
///
/// Changes are sorted by entity and id, at most one for each record, and none that changes nothing: two deltas between the
/// same states are equal, and their documents have the same bytes. What is compared are the records, each with its id, so
/// both states must name their records alike (see `RecordKeys`). Tombstones count as absent.
public struct GraphDelta: Sendable, Hashable {
    /// What the older state's document says of itself, where there was one.
    public var oldHeader: DocumentHeader?
    /// What the newer state's document says of itself, where there was one.
    public var newHeader: DocumentHeader?
    /// The changes, sorted by entity and id.
    public private(set) var changes: [RecordChange]
    /// Which of the two states the changes tell.
    public private(set) var knowledge: Knowledge

    /// Which of the two states a delta tells.
    public enum Knowledge: String, Sendable, Hashable {
        /// What was, and what is.
        case both
        /// What is; of what was, only that it was otherwise. So it is since a `GraphToken`. Such a delta cannot be reverted.
        case new
        /// What was: the inverse of a delta that tells what is. Such a delta cannot be applied.
        case old

        fileprivate var inverse: Knowledge {
            switch self {
            case .both: .both
            case .new: .old
            case .old: .new
            }
        }
    }

    /// A delta of changes, which are put in order; of several for one record the last counts.
    public init(
        _ changes: some Sequence<RecordChange> = [], oldHeader: DocumentHeader? = nil, newHeader: DocumentHeader? = nil,
        knowledge: Knowledge = .both
    ) {
        self.knowledge = knowledge
        self.oldHeader = oldHeader
        self.newHeader = newHeader
        let bySubject = Dictionary(changes.map { ($0.subject, $0) }, uniquingKeysWith: { $1 })
        self.changes = bySubject.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Whether nothing has changed.
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

    /// The change of a record; nil where it has none. Logarithmic in the number of changes.
    public subscript(subject: RecordSubject) -> RecordChange? {
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].subject < subject { low = middle + 1 } else { high = middle }
        }
        return low < changes.count && changes[low].subject == subject ? changes[low] : nil
    }

    // MARK: - Applying and reverting

    /// The delta back.
    public var inverse: GraphDelta {
        GraphDelta(
            changes.map(\.inverse), oldHeader: newHeader, newHeader: oldHeader, knowledge: knowledge.inverse)
    }

    /// Refuses a delta that does not tell what is to be. Throws `DeltaError`.
    public func requireApplicable() throws {
        guard knowledge != .old else {
            throw DeltaError(
                .oneWay, "The delta was made since a token: it does not know what was, and cannot be reverted.")
        }
    }

    /// The records after the delta, in canonical form, sorted by entity and id.
    ///
    /// With `checking`, throws `DeltaError` where the records are not what the delta says they were; without it, what is
    /// missing is passed over, and what is there already is changed.
    public func applied(to records: some Sequence<GraphRecord>, checking: Bool = true) throws -> [GraphRecord] {
        try requireApplicable()
        let checksValues = checking && knowledge == .both
        var current = Dictionary(
            records.lazy.filter { !$0.isDeleted }.map { ($0.subject, $0.canonical) }, uniquingKeysWith: { $1 })
        for change in changes {
            let subject = change.subject
            switch (change, current[subject]) {
            case (.inserted, _?) where checking:
                throw DeltaError(.exists, "\(subject) is there already.", subject)
            case (.inserted(let record), _): current[subject] = record
            case (.updated(let update), let record?):
                current[subject] = try update.applied(to: record, checking: checksValues)
            case (.deleted(let old), let record?):
                guard !checksValues || old == record else {
                    throw DeltaError(.mismatch, "\(subject) is not what the delta says it was.", subject)
                }
                current[subject] = nil
            case (_, nil) where checking: throw DeltaError(.missing, "\(subject) is not there.", subject)
            case (_, nil): break
            }
        }
        return current.sorted { $0.key < $1.key }.map(\.value)
    }

    // MARK: - Joining

    /// This delta and one that follows it, as one: what was inserted and deleted again is not mentioned.
    ///
    /// Throws `DeltaError` where the other does not begin where this one ends. Cost: one step for each change.
    public func followed(by next: GraphDelta) throws -> GraphDelta {
        try requireApplicable()
        try next.requireApplicable()
        guard knowledge == .both, next.knowledge == .both else { return followedOneWay(by: next) }
        var joined = Dictionary(changes.map { ($0.subject, $0) }, uniquingKeysWith: { $1 })
        for change in next.changes {
            let subject = change.subject
            guard let first = joined[subject] else {
                joined[subject] = change
                continue
            }
            joined[subject] = try GraphDelta.join(first, change)
        }
        return GraphDelta(joined.values, oldHeader: oldHeader, newHeader: next.newHeader)
    }

    /// The two as one that tells what is: nothing can be checked, and what was is forgotten.
    private func followedOneWay(by next: GraphDelta) -> GraphDelta {
        var joined = Dictionary(changes.map { ($0.subject, $0.forgettingOld) }, uniquingKeysWith: { $1 })
        for change in next.changes {
            let subject = change.subject
            switch (joined[subject], change) {
            case (.inserted(let record)?, .updated(let update)):
                joined[subject] = .inserted(update.applied(to: record))
            case (.inserted?, .deleted): joined[subject] = nil
            case (.updated(let first)?, .updated(let update)):
                let record = update.applied(to: first.applied(to: GraphRecord(id: first.id, entity: first.entity)))
                joined[subject] = .updated(RecordUpdate(settingAllBut: [], of: record))
            case (.deleted?, .inserted(let record)):
                joined[subject] = .updated(RecordUpdate(settingAllBut: [], of: record))
            default: joined[subject] = change.forgettingOld
            }
        }
        return GraphDelta(joined.values, oldHeader: oldHeader, newHeader: next.newHeader, knowledge: .new)
    }

    /// Nil where the two undo each other.
    private static func join(_ first: RecordChange, _ second: RecordChange) throws -> RecordChange? {
        switch (first, second) {
        case (.inserted(let record), .updated(let update)):
            return .inserted(try update.applied(to: record, checking: true))
        case (.inserted(let record), .deleted(let old)):
            guard record == old else { throw unrelated(first) }
            return nil
        case (.updated(let one), .updated(let other)):
            let update = try one.followed(by: other)
            return update.isEmpty ? nil : .updated(update)
        case (.updated(let update), .deleted(let record)):
            return .deleted(try update.inverse.applied(to: record, checking: true))
        case (.deleted(let old), .inserted(let new)):
            let update = RecordUpdate(from: old, to: new)
            return update.isEmpty ? nil : .updated(update)
        case (.inserted, .inserted), (.updated, .inserted), (.deleted, .updated), (.deleted, .deleted):
            throw unrelated(first)
        }
    }

    private static func unrelated(_ change: RecordChange) -> DeltaError {
        DeltaError(
            .unrelated, "The deltas do not follow one another: they disagree about \(change.subject).", change.subject)
    }
}

extension RecordUpdate {
    /// This update and the next of the same record as one.
    func followed(by next: RecordUpdate) throws -> RecordUpdate {
        var joined = RecordUpdate(id: id, entity: entity)
        var failure: DeltaError?
        forEachName(attributes, next.attributes, \.name) { name, one, other in
            if let one, let other {
                if one.new != other.old { failure = disagreement(name) }
                if one.old != other.new {
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
                if let both = try one.followed(by: other, of: subject) { joined.relationships.append(both) }
            } catch {
                failure = disagreement(name)
            }
        }
        if let failure { throw failure }
        return joined
    }

    private func disagreement(_ name: String) -> DeltaError {
        DeltaError(.unrelated, "The deltas do not follow one another: they disagree about \(subject).\(name).", subject)
    }
}

extension RelationshipChange {
    /// Nil where the two undo each other.
    fileprivate func followed(by next: RelationshipChange, of subject: RecordSubject) throws -> RelationshipChange? {
        switch (change, next.change) {
        case (.members(let removed, let added), .members(let removedNext, let addedNext)):
            let lost = Set(removed).subtracting(addedNext).union(Set(removedNext).subtracting(added))
            let got = Set(added).subtracting(removedNext).union(Set(addedNext).subtracting(removed))
            guard !lost.isEmpty || !got.isEmpty else { return nil }
            return RelationshipChange(
                name: name, isOrdered: isOrdered,
                change: .members(removed: RecordID.sortedSet(lost), added: RecordID.sortedSet(got)))
        case (.replaced(let old, let new), _):
            let end = try next.applied(to: new, of: subject, checking: true)
            return RelationshipChange(name: name, isOrdered: next.isOrdered, from: old, to: end)
        case (.members, .replaced(let old, let new)):
            let start = try inverse.applied(to: old, of: subject, checking: true)
            return RelationshipChange(name: name, isOrdered: next.isOrdered, from: start, to: new)
        }
    }
}
