/// Two deltas from one state, as one: what either side has changed, and where both have changed the same, what the policy
/// says.
public struct DeltaMerge: Sendable {
    /// What is done where both sides have changed the same.
    public enum Policy: Sendable {
        /// The merge throws `DeltaError`.
        case fail
        /// The first side's change counts.
        case ours
        /// The second side's change counts.
        case theirs
        /// Neither counts: the record stays as it was before both.
        case neither
        /// A function decides, conflict by conflict.
        case decide(@Sendable (DeltaConflict) -> Choice)
    }

    /// Whose change counts.
    public enum Choice: Sendable, Hashable {
        /// The first side's.
        case ours
        /// The second side's.
        case theirs
        /// Nobody's: the record stays as it was before both.
        case neither
    }

    /// Both sides' changes, from the state that both began with.
    public let delta: GraphDelta
    /// Where both had changed the same, sorted by record and property, each with the side that counted.
    public let conflicts: [DeltaConflict]

    /// Merges two deltas from the same state.
    ///
    /// Both sides may make the same change; members of unordered relationships are merged one by one. What is a conflict says
    /// `DeltaConflict.Kind`. Throws `DeltaError` where there is one and the policy is to fail, and for a delta since a token.
    /// Cost: one step for each change.
    public init(_ ours: GraphDelta, _ theirs: GraphDelta, policy: Policy = .fail) throws {
        guard ours.knowledge == .both, theirs.knowledge == .both else {
            throw DeltaError(
                .oneWay, "A delta that was made since a token does not know what was, and cannot be merged.")
        }
        var merger = DeltaMerger(policy: policy)
        try merger.merge(ours, theirs)
        delta = GraphDelta(merger.changes, oldHeader: ours.oldHeader ?? theirs.oldHeader)
        conflicts = merger.conflicts.sorted {
            ($0.subject, $0.property ?? "") < ($1.subject, $1.property ?? "")
        }
    }
}

/// Where both sides of a merge have changed the same.
public struct DeltaConflict: Sendable, Hashable, CustomStringConvertible {
    /// What both sides have done to a record.
    public enum Kind: String, Sendable, Hashable {
        /// Both sides have given a property another value.
        case bothUpdated
        /// Both sides have inserted a record of this id, and they differ.
        case bothInserted
        /// One side has changed a record that the other has deleted.
        case updatedAndDeleted
        /// One side has linked to a record that the other has deleted. The deletion counts, and the link is left out.
        case linkedAndDeleted
    }

    /// What both sides have done.
    public var kind: Kind
    /// The record.
    public var subject: RecordSubject
    /// The attribute or relationship; nil where it is about the record.
    public var property: String?
    /// What the first side has done to the record.
    public var ours: RecordChange
    /// What the second side has done to the record.
    public var theirs: RecordChange
    /// Whose change counted.
    public var choice: DeltaMerge.Choice

    public var description: String {
        let place = property.map { "\(subject).\($0)" } ?? "\(subject)"
        switch kind {
        case .bothUpdated: return "\(place) is changed by both sides; \(choice) counts."
        case .bothInserted: return "\(place) is inserted by both sides; \(choice) counts."
        case .updatedAndDeleted: return "\(place) is changed by one side and deleted by the other; \(choice) counts."
        case .linkedAndDeleted: return "\(place) leads to what the other side has deleted; the link is left out."
        }
    }
}

/// One run of a merge.
private struct DeltaMerger {
    let policy: DeltaMerge.Policy
    var changes: [RecordChange] = []
    var conflicts: [DeltaConflict] = []

    init(policy: DeltaMerge.Policy) { self.policy = policy }

    mutating func merge(_ ours: GraphDelta, _ theirs: GraphDelta) throws {
        var (i, j) = (0, 0)
        while i < ours.changes.count || j < theirs.changes.count {
            let mine = i < ours.changes.count ? ours.changes[i] : nil
            let other = j < theirs.changes.count ? theirs.changes[j] : nil
            guard let mine, let other, mine.subject == other.subject else {
                if let mine, other.map({ mine.subject < $0.subject }) ?? true {
                    changes.append(mine)
                    i += 1
                } else if let other {
                    changes.append(other)
                    j += 1
                }
                continue
            }
            if let change = try merge(mine, other) { changes.append(change) }
            i += 1
            j += 1
        }
        try leaveOutLinksToDeleted(ours, theirs)
    }

    private mutating func merge(_ ours: RecordChange, _ theirs: RecordChange) throws -> RecordChange? {
        if ours == theirs { return ours }
        switch (ours, theirs) {
        case (.updated(let mine), .updated(let other)):
            let update = try merge(mine, other)
            return update.isEmpty ? nil : .updated(update)
        case (.inserted, .inserted):
            return try choose(.bothInserted, nil, ours, theirs)
        case (.updated, .deleted), (.deleted, .updated):
            return try choose(.updatedAndDeleted, nil, ours, theirs)
        default:
            let subject = ours.subject
            throw DeltaError(
                .unrelated, "The deltas do not begin with the same state: they disagree about \(subject).", subject)
        }
    }

    private mutating func merge(_ ours: RecordUpdate, _ theirs: RecordUpdate) throws -> RecordUpdate {
        var merged = RecordUpdate(id: ours.id, entity: ours.entity)
        var pairs: [(String, AttributeChange?, AttributeChange?)] = []
        forEachName(ours.attributes, theirs.attributes, \.name) { pairs.append(($0, $1, $2)) }
        for (name, mine, other) in pairs {
            guard let mine, let other, mine != other else {
                if let only = mine ?? other { merged.attributes.append(only) }
                continue
            }
            switch try decide(.bothUpdated, name, .updated(ours), .updated(theirs)) {
            case .ours: merged.attributes.append(mine)
            case .theirs: merged.attributes.append(other)
            case .neither: break
            }
        }
        var links: [(String, RelationshipChange?, RelationshipChange?)] = []
        forEachName(ours.relationships, theirs.relationships, \.name) { links.append(($0, $1, $2)) }
        for (name, mine, other) in links {
            guard let mine, let other, mine != other else {
                if let only = mine ?? other { merged.relationships.append(only) }
                continue
            }
            if case .members(let removed, let added) = mine.change,
                case .members(let alsoRemoved, let alsoAdded) = other.change
            {
                let change = RelationshipChange.Change.members(
                    removed: RecordID.sortedSet(removed + alsoRemoved), added: RecordID.sortedSet(added + alsoAdded))
                merged.relationships.append(RelationshipChange(name: name, isOrdered: false, change: change))
                continue
            }
            switch try decide(.bothUpdated, name, .updated(ours), .updated(theirs)) {
            case .ours: merged.relationships.append(mine)
            case .theirs: merged.relationships.append(other)
            case .neither: break
            }
        }
        return merged
    }

    private mutating func choose(
        _ kind: DeltaConflict.Kind, _ property: String?, _ ours: RecordChange, _ theirs: RecordChange
    ) throws -> RecordChange? {
        switch try decide(kind, property, ours, theirs) {
        case .ours: ours
        case .theirs: theirs
        case .neither: nil
        }
    }

    private mutating func decide(
        _ kind: DeltaConflict.Kind, _ property: String?, _ ours: RecordChange, _ theirs: RecordChange
    ) throws -> DeltaMerge.Choice {
        var conflict = DeltaConflict(
            kind: kind, subject: ours.subject, property: property, ours: ours, theirs: theirs, choice: .neither)
        switch policy {
        case .fail: throw DeltaError(.conflict, "Both sides have changed \(conflict.place).", conflict.subject)
        case .ours: conflict.choice = .ours
        case .theirs: conflict.choice = .theirs
        case .neither: conflict.choice = .neither
        case .decide(let function): conflict.choice = function(conflict)
        }
        conflicts.append(conflict)
        return conflict.choice
    }

    // MARK: - Links to what the other side has deleted

    private mutating func leaveOutLinksToDeleted(_ ours: GraphDelta, _ theirs: GraphDelta) throws {
        var deleted: [RecordID: RecordChange] = [:]
        for case .deleted(let record) in changes { deleted[record.id] = .deleted(record) }
        guard !deleted.isEmpty else { return }
        for index in changes.indices {
            let change = changes[index]
            guard let (reduced, property, target) = change.withoutLinks(to: deleted) else { continue }
            // One side alone cannot link to what it deletes, so it was the other.
            let isOurs = ours[change.subject] == change
            let gone = deleted[target] ?? change
            let conflict = DeltaConflict(
                kind: .linkedAndDeleted, subject: change.subject, property: property, ours: isOurs ? change : gone,
                theirs: isOurs ? gone : change, choice: isOurs ? .theirs : .ours)
            if case .fail = policy {
                throw DeltaError(.conflict, "\(conflict)", change.subject)
            }
            conflicts.append(conflict)
            changes[index] = reduced
        }
        // An update may have been nothing but such links.
        changes.removeAll { if case .updated(let update) = $0 { update.isEmpty } else { false } }
    }
}

extension DeltaConflict {
    fileprivate var place: String { property.map { "\(subject).\($0)" } ?? "\(subject)" }
}

extension RelationshipChange.Change {
    /// Whether nothing changes.
    fileprivate var isEmpty: Bool {
        switch self {
        case .replaced(let old, let new): old == new
        case .members(let removed, let added): removed.isEmpty && added.isEmpty
        }
    }
}

extension RecordChange {
    /// The change without new links to records that are deleted, the first property that had one, and where it led; nil where
    /// there is no such link.
    fileprivate func withoutLinks(
        to deleted: [RecordID: RecordChange]
    ) -> (change: RecordChange, property: String, target: RecordID)? {
        var found: (String, RecordID)?
        func reduced(_ target: RelationshipTarget, _ name: String) -> RelationshipTarget {
            guard let gone = target.ids.first(where: { deleted[$0] != nil }) else { return target }
            found = found ?? (name, gone)
            if case .toMany(let ids) = target { return .toMany(ids.filter { deleted[$0] == nil }) }
            return .toOne(nil)
        }
        var result = self
        switch self {
        case .inserted(var record):
            for index in record.relationships.indices {
                let relationship = record.relationships[index]
                record.relationships[index].target = reduced(relationship.target, relationship.name)
            }
            result = .inserted(record)
        case .updated(var update):
            for index in update.relationships.indices {
                let relationship = update.relationships[index]
                switch relationship.change {
                case .replaced(let old, let new?):
                    let change = RelationshipChange.Change.replaced(old: old, new: reduced(new, relationship.name))
                    update.relationships[index].change = change
                case .members(let removed, let added):
                    let kept = reduced(.toMany(added), relationship.name).ids
                    update.relationships[index].change = .members(removed: removed, added: kept)
                case .replaced: break
                }
            }
            update.relationships.removeAll(where: \.change.isEmpty)
            result = .updated(update)
        case .deleted: return nil
        }
        return found.map { (result, $0.0, $0.1) }
    }
}
