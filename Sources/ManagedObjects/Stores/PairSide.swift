/// Which of the two sides of a relationship its pairs are told from.
struct PairSide {
    /// The side whose owners are sources: the same for both sides.
    let relationship: NSRelationshipDescription
    /// Whether the side asked about is the other one.
    let isBackward: Bool
    /// Whether the relationship is its own inverse: a pair then goes both ways.
    let isReflexive: Bool

    /// The entity and name of the side that counts.
    struct Name: Hashable {
        let entity: Int
        let relationship: String
    }

    init(_ side: NSRelationshipDescription) {
        let inverse = side.inverseRelationship
        isReflexive = inverse === side
        if let inverse, inverse !== side, (inverse.entity.index, inverse.name) < (side.entity.index, side.name) {
            relationship = inverse
            isBackward = true
        } else {
            relationship = side
            isBackward = false
        }
    }

    var name: Name { Name(entity: relationship.entity.index, relationship: relationship.name) }
    /// The root entities of owners and members, of the side that counts.
    var sourceRoot: Int { relationship.entity.rootEntity.index }
    var destinationRoot: Int? { relationship.destinationEntity?.rootEntity.index }
}
