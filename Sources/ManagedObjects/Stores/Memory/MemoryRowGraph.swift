/// The rows of a store in memory, as an evaluation sees them.
final class MemoryRowGraph: RowGraph {
    private let content: MemoryContent
    private let entities: [NSEntityDescription]
    private let store: UInt16
    /// The members of the relationships met so far, by owner: the other side's rows are passed over once for each.
    private var memberKeys: [MemberName: [Int64: [Int64]]] = [:]
    private let identify: (ObjectKey) -> NSManagedObjectID

    private struct MemberName: Hashable {
        let entity: Int
        let relationship: String
    }

    init(
        content: MemoryContent, entities: [NSEntityDescription], store: UInt16,
        identify: @escaping (ObjectKey) -> NSManagedObjectID
    ) {
        self.content = content
        self.entities = entities
        self.store = store
        self.identify = identify
    }

    /// The rows of an entity, in the order of their keys.
    func subjects(of entity: NSEntityDescription, includingSubentities: Bool) -> [RowSubject] {
        content.keys(of: entity, includingSubentities: includingSubentities).map { subject(key: $0.key, row: $0.row) }
    }

    private func subject(key: Int64, row: MemoryTable.Row) -> RowSubject {
        RowSubject(
            key: ObjectKey(store: store, entity: row.entity, number: key), layout: entities[Int(row.entity)].layout,
            content: .values(row.values), graph: self)
    }

    func subject(for key: ObjectKey) throws -> RowSubject? {
        guard key.store == store, entities.indices.contains(Int(key.entity)) else { return nil }
        let root = entities[Int(key.entity)].rootEntity.index
        return content.row(root: root, key: key.number).map { subject(key: key.number, row: $0) }
    }

    /// Does nothing: rows are read when they are met.
    func read(_ subject: RowSubject) throws {}

    func members(place: Int, of subject: RowSubject) throws -> [RowSubject] {
        let toMany = subject.layout.toMany[place]
        let root = toMany.destination.rootEntity.index
        return memberKeys(of: toMany, owner: subject.key.number).compactMap { key in
            content.row(root: root, key: key).map { self.subject(key: key, row: $0) }
        }
    }

    private func memberKeys(of toMany: EntityLayout.ToMany, owner: Int64) -> [Int64] {
        let name = MemberName(entity: toMany.relationship.entity.index, relationship: toMany.name)
        if let known = memberKeys[name] { return known[owner] ?? [] }
        switch toMany.storage {
        case .memberSlot(let slot, let position):
            let owners = content.members(in: toMany.destination, slot: slot, position: position)
            memberKeys[name] = owners.mapValues { $0.map(\.key) }
            return memberKeys[name]?[owner] ?? []
        case .pairs:
            return content.members(of: toMany.relationship, owner: owner).map(\.key)
        }
    }

    func objectID(for key: ObjectKey) -> NSManagedObjectID { identify(key) }
}

extension MemoryContent {
    /// The members of all owners of a relationship that members keep in a slot of theirs, in order. Cost: one pass over
    /// the members' rows.
    func members(
        in destination: NSEntityDescription, slot: Int, position: Int?, owners: Set<Int64>? = nil
    ) -> [Int64: [(key: Int64, position: Int64?)]] {
        var found: [Int64: [(key: Int64, position: Int64?)]] = [:]
        for (key, row) in keys(of: destination, includingSubentities: true) {
            guard case .reference(let owner) = row.values[slot], owners?.contains(owner.number) != false else {
                continue
            }
            var place: Int64?
            if let position, case .integer(let number) = row.values[position] { place = number }
            found[owner.number, default: []].append((key, place))
        }
        guard position != nil else { return found }
        return found.mapValues { $0.sorted { ($0.position ?? .max, $0.key) < ($1.position ?? .max, $1.key) } }
    }

    /// The members of one owner of a relationship that is kept in pairs, in order.
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
