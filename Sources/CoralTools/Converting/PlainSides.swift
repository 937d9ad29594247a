import Coral

/// Whether the two sides of one-to-one relationships agree in a store. Apps and damage leave stores in which only one side of a
/// relationship is set; each side has a column of its own in the store.
///
/// Memory does not grow with the number of records: the pairs of each side are added up as hashes, and equal sums have equal
/// pairs.
struct PlainSides {
    private struct Side {
        /// The relationship without a column in the plain database, and its inverse, which has one.
        let relationship: NSRelationshipDescription
        let inverse: NSRelationshipDescription
        /// The entities that have the relationship, and the inverse.
        let entities: Set<String>
        let inverseEntities: Set<String>
        var difference: UInt64 = 0
    }

    private var sides: [Side]
    /// The sides that the records of the last entity have.
    private var last: (entity: String, indices: [Int])?

    init(_ schema: PlainSchema) {
        let names = { (relationship: NSRelationshipDescription) in
            Set(PlainSchema.hierarchy(of: relationship.entity).map { $0.name ?? "" })
        }
        sides = schema.inverses.compactMap { relationship in
            PlainSchema.inverse(relationship).map {
                Side(relationship: relationship, inverse: $0, entities: names(relationship), inverseEntities: names($0))
            }
        }
    }

    /// The entities that have such a relationship, or the inverse of one.
    var entities: Set<String> { sides.reduce(into: []) { $0.formUnion($1.entities.union($1.inverseEntities)) } }

    /// - Parameter record: Costs nothing for an entity without such relationships.
    mutating func add(_ record: GraphRecord) {
        if last?.entity != record.entity { last = (record.entity, indices(of: record.entity)) }
        for index in last?.indices ?? [] {
            if sides[index].entities.contains(record.entity),
                let target = record.target(of: sides[index].relationship.name)?.ids.first
            {
                sides[index].difference &+= Self.hash(record.id, target)
            }
            if sides[index].inverseEntities.contains(record.entity),
                let target = record.target(of: sides[index].inverse.name)?.ids.first
            {
                sides[index].difference &-= Self.hash(target, record.id)
            }
        }
    }

    private func indices(of entity: String) -> [Int] {
        sides.indices.filter { sides[$0].entities.contains(entity) || sides[$0].inverseEntities.contains(entity) }
    }

    /// The relationships without a column that have pairs which their inverses do not have, or the reverse.
    var contradicting: [NSRelationshipDescription] { sides.filter { $0.difference != 0 }.map(\.relationship) }

    private static func hash(_ owner: RecordID, _ target: RecordID) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(owner.primaryKey)
        hasher.combine(target.primaryKey)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
