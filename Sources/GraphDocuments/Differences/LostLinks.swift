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
    private lazy var changesByID = Dictionary(
        changes.map { ($0.subject.id, $0) }, uniquingKeysWith: { first, _ in first })

    /// A link that a record has added or removed.
    private struct Link {
        let record: RecordSubject
        let relationship: String
        let isAdded: Bool
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

    /// The changes of the side without the rejected links. Some may be empty.
    mutating func remaining() -> [RecordChange] {
        if links.isEmpty, undeleted.isEmpty { return changes }
        var remaining: [RecordChange] = []
        remaining.reserveCapacity(changes.count)
        for change in changes { remaining.append(self.remaining(of: change)) }
        return remaining
    }

    private mutating func remaining(of change: RecordChange) -> RecordChange {
        var result = change
        for link in links[change.subject.id] ?? [] {
            for name in inverses(of: link, in: change) {
                result = result.without(link.record.id, in: name, isAdded: link.isAdded)
            }
        }
        if !undeleted.isEmpty, case .updated(let update) = change {
            for relationship in update.relationships {
                for id in relationship.change.difference.removed where undeleted.contains(id) {
                    result = result.without(id, in: relationship.name, isAdded: false)
                }
            }
        }
        return result
    }

    /// The relationships of a destination that a link may be a member of: those that have the record as a new or former member
    /// and, if there are several, are changed like that by all links of that relationship.
    private mutating func inverses(of link: Link, in change: RecordChange) -> [String] {
        let candidates = change.relationships(changing: link.record.id, isAdded: link.isAdded)
        if candidates.count < 2 { return candidates }
        let consistent = candidates.filter { isInverse($0, of: link) }
        return consistent.isEmpty ? candidates : consistent
    }

    private mutating func isInverse(_ name: String, of link: Link) -> Bool {
        for change in changes where change.subject.entity == link.record.entity {
            for id in change.added(by: link.relationship) {
                guard let target = changesByID[id] else { continue }
                if !target.relationships(changing: change.subject.id, isAdded: true).contains(name) { return false }
            }
        }
        return true
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

    /// The change without one destination that is added or removed.
    fileprivate func without(_ id: RecordID, isAdded: Bool) -> Self {
        switch self {
        case .members(let removed, let added):
            return isAdded
                ? .members(removed: removed, added: added.filter { $0 != id })
                : .members(removed: removed.filter { $0 != id }, added: added)
        case .replaced(let old, .toMany(var ids)):
            if isAdded {
                ids.removeAll { $0 == id }
            } else if !ids.contains(id), let position = old?.ids.firstIndex(of: id) {
                ids.insert(id, at: min(position, ids.count))
            }
            return .replaced(old: old, new: .toMany(ids))
        case .replaced(let old, let new):
            // A destination that was replaced by another one is not restored.
            return isAdded || (new?.ids ?? []).isEmpty ? .replaced(old: old, new: old) : self
        }
    }
}

extension RecordChange {
    /// The destinations that the record adds to a relationship.
    fileprivate func added(by relationship: String) -> [RecordID] {
        switch self {
        case .inserted(let record): record.target(of: relationship)?.ids ?? []
        case .updated(let update):
            update.relationships.first { $0.name == relationship }?.change.difference.added ?? []
        case .deleted: []
        }
    }

    /// The names of the relationships in which a destination is added or removed.
    fileprivate func relationships(changing id: RecordID, isAdded: Bool) -> [String] {
        switch self {
        case .inserted(let record):
            isAdded ? record.relationships.filter { $0.target.ids.contains(id) }.map(\.name) : []
        case .updated(let update):
            update.relationships.filter { relationship in
                let (removed, added) = relationship.change.difference
                return (isAdded ? added : removed).contains(id)
            }.map(\.name)
        case .deleted: []
        }
    }

    /// The change without a destination that is added to or removed from a relationship.
    fileprivate func without(_ id: RecordID, in name: String, isAdded: Bool) -> RecordChange {
        switch self {
        case .inserted(var record):
            guard isAdded, let index = record.relationships.firstIndex(where: { $0.name == name }) else { return self }
            switch record.relationships[index].target {
            case .toMany(let ids): record.relationships[index].target = .toMany(ids.filter { $0 != id })
            case .toOne(let other) where other == id: record.relationships[index].target = .toOne(nil)
            default: return self
            }
            return .inserted(record)
        case .updated(var update):
            guard let index = update.relationships.firstIndex(where: { $0.name == name }) else { return self }
            let change = update.relationships[index].change.without(id, isAdded: isAdded)
            if change.isEmpty {
                update.relationships.remove(at: index)
            } else {
                update.relationships[index].change = change
            }
            return .updated(update)
        case .deleted: return self
        }
    }
}
