/// The links of one side of a merge that its resolved conflicts reject.
///
/// A delta contains both sides of a link: that of the record whose conflict was resolved, and the member of another record. Nobody
/// decides about the member, which would make the link again. A delta does not state which relationships are inverse to each other, so
/// this is inferred from its changes.
struct LostLinks {
    /// The rejected links from a record to another one, by the id of the latter.
    private var links: [RecordID: [Link]] = [:]
    /// The records whose deletion is rejected: no link to them is removed.
    private var undeleted: Set<RecordID> = []
    private let changes: [RecordChange]
    private lazy var destinationsByID = Dictionary(
        changes.map { ($0.subject.id, ChangedDestinations(of: $0)) }, uniquingKeysWith: { first, _ in first })
    private var knownInverses: [RelationshipPair: Bool] = [:]

    /// A link that a record has added or removed.
    private struct Link {
        let record: RecordSubject
        let relationship: String
        let isAdded: Bool
    }

    /// A relationship of an entity, and one of its destinations'.
    private struct RelationshipPair: Hashable {
        let entity: String
        let relationship: String
        let other: String
    }

    init(of changes: [RecordChange]) { self.changes = changes }

    /// Rejects the change of a record.
    ///
    /// - Parameters:
    ///   - property: The relationship; nil for the whole record.
    ///   - isReverted: Whether neither side's change is used, so that removed links are kept, too. Otherwise the other side has
    ///     removed the links to the former destinations itself.
    mutating func add(_ change: RecordChange, property: String? = nil, isReverted: Bool) {
        func links(_ name: String, removed: [RecordID], added: [RecordID]) -> [(RecordID, Link)] {
            let changed = added.map { ($0, true) } + (isReverted ? removed.map { ($0, false) } : [])
            return changed.map { ($0, Link(record: change.subject, relationship: name, isAdded: $1)) }
        }
        var found: [(RecordID, Link)] = []
        switch change {
        case .deleted(let record): undeleted.insert(record.id)
        case .inserted(let record):
            for relationship in record.relationships {
                found += links(relationship.name, removed: [], added: relationship.target.ids)
            }
        case .updated(let update):
            for relationship in update.relationships where property == nil || relationship.name == property {
                let (removed, added) = relationship.change.difference
                found += links(relationship.name, removed: removed, added: added)
            }
        }
        for (target, link) in found where target != change.subject.id { self.links[target, default: []].append(link) }
    }

    /// Rejects the change of a list, of which other members are kept.
    ///
    /// A kept member that the change has removed gets its inverse back: if it was moved to another record, it is not.
    mutating func add(_ change: RelationshipChange, of record: RecordSubject, keeping kept: Set<RecordID>) {
        func link(_ other: RecordID, isAdded: Bool) -> Link {
            Link(record: RecordSubject(entity: record.entity, id: other), relationship: change.name, isAdded: isAdded)
        }
        let (removed, added) = change.change.difference
        for member in added where !kept.contains(member) && member != record.id {
            let gained = link(record.id, isAdded: true)
            links[member, default: []].append(gained)
            // If it was moved from another record, it stays there.
            guard let destinations = destinationsByID[member] else { continue }
            let names = destinations.relationships(changing: record.id, isAdded: true)
            for name in inverses(of: gained, among: names) where destinations.toOne.contains(name) {
                let left = Link(
                    record: RecordSubject(entity: destinations.entity, id: member), relationship: name, isAdded: false)
                for other in destinations.removed[name] ?? [] where other != member {
                    links[other, default: []].append(left)
                }
            }
        }
        for member in removed where kept.contains(member) && member != record.id {
            let lost = link(record.id, isAdded: false)
            links[member, default: []].append(lost)
            guard let destinations = destinationsByID[member] else { continue }
            let names = destinations.relationships(changing: record.id, isAdded: false)
            for name in inverses(of: lost, among: names) where destinations.toOne.contains(name) {
                let moved = Link(
                    record: RecordSubject(entity: destinations.entity, id: member), relationship: name, isAdded: true)
                for other in destinations.added[name] ?? [] {
                    links[member, default: []].append(link(other, isAdded: true))
                    links[other, default: []].append(moved)
                }
            }
        }
    }

    /// The changes of the side without the rejected links. Some may be empty.
    mutating func remaining() -> [RecordChange] {
        if links.isEmpty, undeleted.isEmpty { return changes }
        var remaining: [RecordChange] = []
        remaining.reserveCapacity(changes.count)
        for change in changes { remaining.append(self.remaining(of: change)) }
        return remaining
    }

    private mutating func remaining(of change: RecordChange) -> RecordChange {
        let rejected = links[change.subject.id] ?? []
        if rejected.isEmpty, undeleted.isEmpty { return change }
        let destinations = destinationsByID[change.subject.id] ?? ChangedDestinations(of: change)
        var dropped = ChangedDestinations()
        for link in rejected {
            let names = destinations.relationships(changing: link.record.id, isAdded: link.isAdded)
            for name in inverses(of: link, among: names) {
                dropped.insert(link.record.id, in: name, isAdded: link.isAdded)
            }
        }
        if !undeleted.isEmpty, case .updated = change {
            for (name, removed) in destinations.removed {
                for id in removed where undeleted.contains(id) { dropped.insert(id, in: name, isAdded: false) }
            }
        }
        return change.without(dropped)
    }

    /// The relationships of a destination that a link may be a member of: those that have the record as a new or former member
    /// and, if there are several, are changed like that by all links of that relationship.
    private mutating func inverses(of link: Link, among candidates: [String]) -> [String] {
        if candidates.count < 2 { return candidates }
        let consistent = candidates.filter {
            isInverse(RelationshipPair(entity: link.record.entity, relationship: link.relationship, other: $0))
        }
        return consistent.isEmpty ? candidates : consistent
    }

    private mutating func isInverse(_ pair: RelationshipPair) -> Bool {
        if let known = knownInverses[pair] { return known }
        let destinations = destinationsByID
        let differences = changes.lazy.filter { $0.subject.entity == pair.entity }
            .map { ($0.subject.id, $0.difference(of: pair.relationship)) }
        // Removed links tell less: a record that was deleted does not list its own.
        let areAdded = differences.contains { !$0.1.added.isEmpty }
        let isInverse = differences.allSatisfy { id, difference in
            (areAdded ? difference.added : difference.removed).allSatisfy { other in
                guard let target = destinations[other], !target.isDeleted else { return true }
                return (areAdded ? target.added : target.removed)[pair.other]?.contains(id) == true
            }
        }
        knownInverses[pair] = isInverse
        return isInverse
    }
}

/// The destinations that a change adds and removes, by relationship.
private struct ChangedDestinations {
    private(set) var added: [String: Set<RecordID>] = [:]
    private(set) var removed: [String: Set<RecordID>] = [:]
    private(set) var isDeleted = false
    /// The updated to-one relationships.
    private(set) var toOne: Set<String> = []
    private(set) var entity = ""

    init() {}

    init(of change: RecordChange) {
        entity = change.subject.entity
        switch change {
        case .inserted(let record):
            for relationship in record.relationships { added[relationship.name] = Set(relationship.target.ids) }
        case .updated(let update):
            for relationship in update.relationships {
                let difference = relationship.change.difference
                added[relationship.name] = Set(difference.added)
                removed[relationship.name] = Set(difference.removed)
                if relationship.change.isToOne { toOne.insert(relationship.name) }
            }
        case .deleted: isDeleted = true
        }
    }

    mutating func insert(_ id: RecordID, in name: String, isAdded: Bool) {
        if isAdded { added[name, default: []].insert(id) } else { removed[name, default: []].insert(id) }
    }

    /// The names of the relationships in which a destination is added or removed.
    func relationships(changing id: RecordID, isAdded: Bool) -> [String] {
        (isAdded ? added : removed).filter { $0.value.contains(id) }.map(\.key).sorted()
    }
}

extension RelationshipChange.Change {
    /// The destinations that are removed and added.
    fileprivate var difference: (removed: [RecordID], added: [RecordID]) {
        switch self {
        case .members(let removed, let added): return (removed, added)
        case .replaced(let old, let new):
            let (before, after) = (old?.ids ?? [], new?.ids ?? [])
            let (was, isNow) = (Set(before), Set(after))
            return (before.filter { !isNow.contains($0) }, after.filter { !was.contains($0) })
        }
    }

    /// The change without some destinations that are added or removed.
    fileprivate func without(added: Set<RecordID>, removed: Set<RecordID>) -> Self {
        switch self {
        case .members(let wasRemoved, let wasAdded):
            return .members(
                removed: wasRemoved.filter { !removed.contains($0) }, added: wasAdded.filter { !added.contains($0) })
        case .replaced(let old, .toMany(let new)):
            var ids = new.filter { !added.contains($0) }
            let present = Set(ids)
            for (position, id) in (old?.ids ?? []).enumerated() where removed.contains(id) && !present.contains(id) {
                ids.insert(id, at: min(position, ids.count))
            }
            return .replaced(old: old, new: .toMany(ids))
        case .replaced(let old, let new):
            let ids = new?.ids ?? []
            // A destination that was replaced by another one is not restored.
            let isRestored =
                ids.isEmpty ? (old?.ids ?? []).contains(where: removed.contains) : ids.contains(where: added.contains)
            return isRestored ? .replaced(old: old, new: old) : self
        }
    }
}

extension RecordChange {
    /// The destinations that the record removes from a relationship and adds to it.
    fileprivate func difference(of relationship: String) -> (removed: [RecordID], added: [RecordID]) {
        switch self {
        case .inserted(let record): ([], record.target(of: relationship)?.ids ?? [])
        case .updated(let update):
            update.relationships.first { $0.name == relationship }?.change.difference ?? ([], [])
        case .deleted: ([], [])
        }
    }

    /// The change without destinations that are added to or removed from its relationships.
    fileprivate func without(_ dropped: ChangedDestinations) -> RecordChange {
        func names() -> [String] { Set(dropped.added.keys).union(dropped.removed.keys).sorted() }
        switch self {
        case .inserted(var record):
            for (name, ids) in dropped.added {
                guard let index = record.relationships.firstIndex(where: { $0.name == name }) else { continue }
                switch record.relationships[index].target {
                case .toMany(let members):
                    record.relationships[index].target = .toMany(members.filter { !ids.contains($0) })
                case .toOne(let other?) where ids.contains(other): record.relationships[index].target = .toOne(nil)
                default: continue
                }
            }
            return .inserted(record)
        case .updated(var update):
            for name in names() {
                guard let index = update.relationships.firstIndex(where: { $0.name == name }) else { continue }
                let change = update.relationships[index].change.without(
                    added: dropped.added[name] ?? [], removed: dropped.removed[name] ?? [])
                if change.isEmpty {
                    update.relationships.remove(at: index)
                } else {
                    update.relationships[index].change = change
                }
            }
            return .updated(update)
        case .deleted: return self
        }
    }
}
