// Merging two deltas from the same state.

extension GraphDelta {
    /// The changes of this delta and of another one from the same state, with the conflicts between them, sorted by record and
    /// property, each with its resolution.
    ///
    ///     let merge = try ours.merging(theirs) { _ in .ours }
    ///     try merge.delta.apply(to: context)
    ///
    /// Equal changes of both sides are not a conflict; members of unordered relationships are merged one by one. Throws
    /// `DeltaError` if there is a conflict and no closure, and for a delta from a token, and for one in which natural keys have
    /// changed. Cost: one step for each change.
    ///
    /// - Parameters:
    ///   - theirs: The other side's delta.
    ///   - resolve: Resolves each conflict: `{ _ in .ours }` uses this delta's change of all of them.
    public func merging(
        _ theirs: GraphDelta, resolve: ((DeltaConflict) throws -> DeltaConflict.Choice)? = nil
    ) throws -> (delta: GraphDelta, conflicts: [DeltaConflict]) {
        guard knowledge == .both, theirs.knowledge == .both else {
            throw DeltaError(
                .oneWay, "A delta from a token has no old values and cannot be merged.")
        }
        guard !hasRenamedRecords, !theirs.hasRenamedRecords else {
            throw DeltaError(
                .conflict,
                "A delta in which natural keys have changed cannot be merged. Compare the states by ids instead.")
        }
        var merger = DeltaMerger(resolve: resolve)
        try merger.merge(self, theirs)
        let conflicts = merger.conflicts.sorted {
            ($0.subject, $0.property ?? "") < ($1.subject, $1.property ?? "")
        }
        return (GraphDelta(merger.changes, oldHeader: oldHeader ?? theirs.oldHeader), conflicts)
    }
}

/// A conflict between both sides of a merge.
public struct DeltaConflict: Sendable, Hashable, CustomStringConvertible {
    /// The resolution of one conflict.
    public enum Choice: Sendable, Hashable {
        /// The first side's change.
        case ours
        /// The second side's change.
        case theirs
        /// Neither: the record keeps its common old state.
        case neither
    }

    /// The kind of conflict.
    package enum Kind: String, Sendable, Hashable {
        /// Both sides have set a property to different values.
        case bothUpdated
        /// Both sides have inserted different records with the same id.
        case bothInserted
        /// One side has changed a record that the other has deleted.
        case updatedAndDeleted
        /// One side has linked to a record that the other has deleted. The deletion is kept, and the link is omitted.
        case linkedAndDeleted
    }

    /// The kind of conflict.
    package var kind: Kind
    /// The record.
    public var subject: RecordSubject
    /// The attribute or relationship; nil if the conflict concerns the record.
    public var property: String?
    /// The first side's change of the record.
    public var ours: RecordChange
    /// The second side's change of the record.
    public var theirs: RecordChange
    /// The resolution.
    public var choice: Choice

    public var description: String {
        let place = property.map { "\(subject).\($0)" } ?? "\(subject)"
        switch kind {
        case .bothUpdated: return "\(place) is changed by both sides; resolution: \(choice)."
        case .bothInserted: return "\(place) is inserted by both sides; resolution: \(choice)."
        case .updatedAndDeleted: return "\(place) is changed by one side, deleted by the other; resolution: \(choice)."
        case .linkedAndDeleted: return "\(place) refers to a record that the other side deleted; the link is omitted."
        }
    }
}

/// One run of a merge.
private struct DeltaMerger {
    let resolve: ((DeltaConflict) throws -> DeltaConflict.Choice)?
    var changes: [RecordChange] = []
    var conflicts: [DeltaConflict] = []
    private var decisions: [Decision: DeltaConflict.Choice] = [:]

    /// A conflict by its record and property.
    private struct Decision: Hashable {
        let subject: RecordSubject
        let property: String?
    }

    init(resolve: ((DeltaConflict) throws -> DeltaConflict.Choice)?) { self.resolve = resolve }

    mutating func merge(_ ours: GraphDelta, _ theirs: GraphDelta) throws {
        // The conflicts that decide about links come first, because both sides of a link must have the same resolution.
        var (lost, alsoLost) = (LostLinks(of: ours.changes), LostLinks(of: theirs.changes))
        try Self.forEachRecord(ours.changes, theirs.changes) { mine, other in
            guard let mine, let other, mine != other else { return }
            for (property, choice) in try decideLinks(mine, other) {
                let isReverted = choice == .neither
                if choice != .ours { lost.add(mine, property: property, isReverted: isReverted) }
                if choice != .theirs { alsoLost.add(other, property: property, isReverted: isReverted) }
            }
        }
        // Then those of lists, some of which the links that are rejected so far have caused.
        let (left, right) = (lost.remaining(), alsoLost.remaining())
        (lost, alsoLost) = (LostLinks(of: left), LostLinks(of: right))
        try Self.forEachRecord(left, right) { mine, other in
            guard case .updated(let one)? = mine, case .updated(let two)? = other, one != two else { return }
            for (change, rival, choice, kept) in try decideLists(one, two) {
                if choice != .ours { lost.add(change, of: one.subject, keeping: kept) }
                if choice != .theirs { alsoLost.add(rival, of: two.subject, keeping: kept) }
            }
        }
        try Self.forEachRecord(lost.remaining(), alsoLost.remaining()) { mine, other in
            if let mine, let other {
                if let change = try merge(mine, other) { changes.append(change) }
            } else if let change = mine ?? other {
                changes.append(change)
            }
        }
        // The links that conflicts reject may be all that a record has changed.
        if !conflicts.isEmpty { removeEmptyUpdates() }
        try omitLinksToDeleted(ours, theirs)
    }

    /// Calls a closure for each record with the changes of both sides, which are sorted by record.
    private static func forEachRecord(
        _ ours: [RecordChange], _ theirs: [RecordChange],
        _ body: (RecordChange?, RecordChange?) throws -> Void
    ) rethrows {
        var (i, j) = (0, 0)
        while i < ours.count || j < theirs.count {
            var mine = i < ours.count ? ours[i] : nil
            var other = j < theirs.count ? theirs[j] : nil
            if let one = mine, let two = other, one.subject != two.subject {
                if one.subject < two.subject { other = nil } else { mine = nil }
            }
            try body(mine, other)
            if mine != nil { i += 1 }
            if other != nil { j += 1 }
        }
    }

    /// The resolutions of the conflicts of a whole record, or of its to-one relationships.
    private mutating func decideLinks(
        _ ours: RecordChange, _ theirs: RecordChange
    ) throws -> [(property: String?, choice: DeltaConflict.Choice)] {
        switch (ours, theirs) {
        case (.updated(let mine), .updated(let other)):
            var choices: [(String?, DeltaConflict.Choice)] = []
            for change in mine.relationships {
                guard let rival = other.relationships.first(where: { $0.name == change.name }), rival != change,
                    change.change.isToOne || rival.change.isToOne
                else { continue }
                choices.append((change.name, try decide(.bothUpdated, change.name, ours, theirs)))
            }
            return choices
        case (.inserted, .inserted): return [(nil, try decide(.bothInserted, nil, ours, theirs))]
        case (.updated, .deleted), (.deleted, .updated):
            return [(nil, try decide(.updatedAndDeleted, nil, ours, theirs))]
        default: return []
        }
    }

    /// The resolutions of the conflicts of a record's lists, each with the members that are kept.
    private mutating func decideLists(
        _ ours: RecordUpdate, _ theirs: RecordUpdate
    ) throws -> [(
        ours: RelationshipChange, theirs: RelationshipChange, choice: DeltaConflict.Choice, kept: Set<RecordID>
    )] {
        var choices: [(RelationshipChange, RelationshipChange, DeltaConflict.Choice, Set<RecordID>)] = []
        for change in ours.relationships {
            guard let rival = theirs.relationships.first(where: { $0.name == change.name }), rival != change,
                !change.change.isToOne, !rival.change.isToOne
            else { continue }
            // The old members are in each change of a list; members that are merged one by one are no conflict.
            let old: RelationshipTarget?
            switch (change.change, rival.change) {
            case (.replaced(let target, _), _), (_, .replaced(let target, _)): old = target
            case (.members, .members): continue
            }
            let choice = try decide(.bothUpdated, change.name, .updated(ours), .updated(theirs))
            let kept =
                switch choice {
                case .ours: try change.applied(to: old, of: ours.subject, checking: false)
                case .theirs: try rival.applied(to: old, of: ours.subject, checking: false)
                case .neither: old
                }
            choices.append((change, rival, choice, Set(kept?.ids ?? [])))
        }
        return choices
    }

    private mutating func removeEmptyUpdates() {
        changes.removeAll { if case .updated(let update) = $0 { update.isEmpty } else { false } }
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
                .unrelated, "The deltas do not have the same old state: they differ in \(subject).", at: subject)
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
    ) throws -> DeltaConflict.Choice {
        var conflict = DeltaConflict(
            kind: kind, subject: ours.subject, property: property, ours: ours, theirs: theirs, choice: .neither)
        let decision = Decision(subject: ours.subject, property: property)
        if let known = decisions[decision] { return known }
        guard let resolve else {
            throw DeltaError(.conflict, "Both sides have changed \(conflict.place).", at: conflict.subject)
        }
        conflict.choice = try resolve(conflict)
        decisions[decision] = conflict.choice
        conflicts.append(conflict)
        return conflict.choice
    }

    // MARK: - Links to records that the other side has deleted

    private mutating func omitLinksToDeleted(_ ours: GraphDelta, _ theirs: GraphDelta) throws {
        var deleted: [RecordID: RecordChange] = [:]
        for case .deleted(let record) in changes { deleted[record.id] = .deleted(record) }
        guard !deleted.isEmpty else { return }
        for index in changes.indices {
            let change = changes[index]
            guard let (reduced, property, target) = change.withoutLinks(to: deleted) else { continue }
            // One side cannot link to a record that it deletes, so the link is the other side's.
            let isOurs = ours[change.subject] == change || theirs[change.subject] == nil
            let gone = deleted[target] ?? change
            let conflict = DeltaConflict(
                kind: .linkedAndDeleted, subject: change.subject, property: property, ours: isOurs ? change : gone,
                theirs: isOurs ? gone : change, choice: isOurs ? .theirs : .ours)
            guard resolve != nil else { throw DeltaError(.conflict, "\(conflict)", at: change.subject) }
            conflicts.append(conflict)
            changes[index] = reduced
        }
        // An update may have consisted only of such links.
        removeEmptyUpdates()
    }
}

extension DeltaConflict {
    fileprivate var place: String { property.map { "\(subject).\($0)" } ?? "\(subject)" }
}

extension RelationshipChange.Change {
    /// Whether the relationship is known to be a to-one.
    var isToOne: Bool {
        guard case .replaced(let old, let new) = self else { return false }
        return [old, new].contains { if case .toOne? = $0 { true } else { false } }
    }

    /// Whether nothing is changed.
    var isEmpty: Bool {
        switch self {
        case .replaced(let old, let new): old == new
        case .members(let removed, let added): removed.isEmpty && added.isEmpty
        }
    }
}

extension RecordChange {
    /// The change without new links to deleted records, with the first affected property and the destination; nil if
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
