/// The canonical side of a relationship that is stored as pairs.
package struct PairSide {
    /// The canonical side, whose owners are the sources: the same for both sides.
    let relationship: NSRelationshipDescription
    /// Whether the given side is the other one.
    package let isBackward: Bool
    /// Whether the relationship is its own inverse: a pair then applies in both directions.
    package let isReflexive: Bool

    /// The entity and name of the canonical side.
    package struct Name: Hashable {
        let entity: Int
        let relationship: String
    }

    package init(_ side: NSRelationshipDescription) {
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

    package var name: Name { Name(entity: relationship.entity.index, relationship: relationship.name) }
    /// The root entities of the canonical side's owners and members.
    package var sourceRoot: Int { relationship.entity.rootEntity.index }
    package var destinationRoot: Int? { relationship.destinationEntity?.rootEntity.index }
}
