import ManagedObjects

/// The members of each owner of a to-many relationship whose members have a reference to the owner, in order.
///
/// Built when members are first read, and used until rows of the members' hierarchy change.
final class MemberIndex: Sendable {
    struct Name: Hashable {
        /// The entity that declares the relationship.
        let entity: Int
        let relationship: String

        init(_ toMany: EntityLayout.ToMany) {
            entity = toMany.relationship.entity.index
            relationship = toMany.name
        }
    }

    /// The change count of the members' table when the index was built.
    let changeCount: Int
    private let keys: [Int64: [Int64]]

    /// Cost: one pass over the members' rows.
    fileprivate init(of toMany: EntityLayout.ToMany, slot: Int, position: Int?, in content: MemoryContent) {
        changeCount = content.changeCount(of: toMany)
        var found: [Int64: [(rank: Int64, key: Int64)]] = [:]
        for (key, row) in content.keys(of: toMany.destination, includingSubentities: true) {
            guard case .reference(let owner) = row.values[slot] else { continue }
            var rank = Int64.max
            if let position, case .integer(let number) = row.values[position] { rank = number }
            found[owner.number, default: []].append((rank, key))
        }
        // Rows are in the order of their keys; members without a position follow those that have one.
        keys = found.mapValues { members in
            (position == nil ? members : members.sorted { ($0.rank, $0.key) < ($1.rank, $1.key) }).map(\.key)
        }
    }

    func members(of owner: Int64) -> [Int64] { keys[owner] ?? [] }
}

extension MemoryContent {
    /// The index of a relationship: the existing one, if it is still valid, or a new one.
    func memberIndex(of toMany: EntityLayout.ToMany, slot: Int, position: Int?) -> MemberIndex {
        if let known = memberIndexes[MemberIndex.Name(toMany)], known.changeCount == changeCount(of: toMany) {
            return known
        }
        return MemberIndex(of: toMany, slot: slot, position: position, in: self)
    }

    fileprivate func changeCount(of toMany: EntityLayout.ToMany) -> Int {
        tables[toMany.destination.rootEntity.index]?.changeCount ?? 0
    }

    /// The members of one owner of a relationship with a join table, in order.
    func members(of relationship: NSRelationshipDescription, owner: Int64) -> [(key: Int64, position: Int64?)] {
        let side = PairSide(relationship)
        guard let pairs = pairs[side.name]?.pairs else { return [] }
        var members = pairs.members(of: owner, backward: side.isBackward)
        guard side.isReflexive else { return members }
        let known = Set(members.map(\.key))
        members += pairs.members(of: owner, backward: true).filter { !known.contains($0.key) }
        return members.sorted { ($0.position ?? .max, $0.key) < ($1.position ?? .max, $1.key) }
    }
}
