/// The canonical side of a relationship that is stored as pairs.
struct PairSide {
    /// The canonical side, whose owners are the sources: the same for both sides.
    let relationship: NSRelationshipDescription
    /// Whether the given side is the other one.
    let isBackward: Bool
    /// Whether the relationship is its own inverse: a pair then applies in both directions.
    let isReflexive: Bool

    /// The entity and name of the canonical side.
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
    /// The root entities of the canonical side's owners and members.
    var sourceRoot: Int { relationship.entity.rootEntity.index }
    var destinationRoot: Int? { relationship.destinationEntity?.rootEntity.index }
}
