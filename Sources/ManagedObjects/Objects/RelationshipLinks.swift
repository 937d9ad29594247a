/// The two ends of each relationship of an entity: on its objects, and on their destinations.
///
/// Inherited properties have the same fields in subentities, so that the ends of the declared destination are valid for
/// objects of its subentities. A class, because every edit passes it on.
final class RelationshipLinks {
    enum End: Equatable {
        case none
        case slot(Int)
        case toMany(Int)
    }

    struct Link {
        /// The end on the object that has the relationship.
        var own = End.none
        /// The end on the destination.
        var inverse = End.none
    }

    /// By slot; only to-one relationships have ends.
    let slots: ContiguousArray<Link>
    /// By the index of a to-many relationship.
    let toMany: ContiguousArray<Link>

    init(layout: EntityLayout) {
        slots = ContiguousArray(
            layout.slots.enumerated().map { index, slot in
                guard slot.kind == .toOne else { return Link() }
                // A hidden slot is the inverse of a one-way to-many: its owner has the relationship.
                return Link(
                    own: .slot(index),
                    inverse: slot.isHidden ? Self.end(of: slot.property) : Self.inverse(of: slot.property))
            })
        toMany = ContiguousArray(
            layout.toMany.enumerated().map { index, field in
                Link(own: .toMany(index), inverse: Self.inverse(of: field.relationship))
            })
    }

    /// The end of a to-many relationship on the objects that have it.
    private static func end(of property: NSPropertyDescription) -> End {
        let owner = property.entityIfAny?.layout
        return owner?.toMany.firstIndex { $0.relationship === property }.map(End.toMany) ?? .none
    }

    /// The end of a relationship on its destination.
    private static func inverse(of property: NSPropertyDescription) -> End {
        guard let relationship = property as? NSRelationshipDescription,
            let destination = relationship.destinationEntity?.layout
        else { return .none }
        guard let inverse = relationship.inverseRelationship else {
            // One-way: the hidden slot of the members that contains their owner.
            let hidden = destination.slots.firstIndex {
                $0.isHidden && $0.kind == .toOne && $0.property === relationship
            }
            return hidden.map(End.slot) ?? .none
        }
        if let slot = destination.slots.firstIndex(where: {
            $0.kind == .toOne && !$0.isHidden && $0.property === inverse
        }) {
            return .slot(slot)
        }
        return destination.toMany.firstIndex { $0.relationship === inverse }.map(End.toMany) ?? .none
    }
}
