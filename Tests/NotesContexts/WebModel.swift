import Coral

/// A model with every kind of relationship: an ordered tree, many-to-many, one-to-one, without inverse, and
/// inheritance.
package enum WebModel {
    package static func make() -> NSManagedObjectModel {
        let thing = entity("Thing", [("name", .stringAttributeType), ("number", .integer64AttributeType)])
        let special = entity("Special", [("extra", .stringAttributeType)])
        let place = entity("Place", [("name", .stringAttributeType)])
        thing.subentities = [special]
        relate(thing, "children", .toMany(ordered: true), thing, "parent", .toOne, rule: .cascadeDeleteRule)
        relate(thing, "friends", .toMany(ordered: false), thing, "friendOf", .toMany(ordered: true))
        relate(thing, "partner", .toOne, special, "partnerOf", .toOne)
        relate(thing, "rival", .toOne, special, "rivalOf", .toMany(ordered: false))
        relate(place, "inhabitants", .toMany(ordered: false), thing, "place", .toOne, rule: .cascadeDeleteRule)
        let pointer = NSRelationshipDescription()
        pointer.name = "pointer"
        pointer.destinationEntity = place
        pointer.maxCount = 1
        pointer.isOptional = true
        pointer.deleteRule = .nullifyDeleteRule
        thing.properties.append(pointer)
        let model = NSManagedObjectModel()
        model.entities = [thing, special, place]
        return model
    }

    package static func entity(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = "NSManagedObject"
        entity.properties = attributes.map { attribute($0, $1) }
        return entity
    }

    package static func attribute(
        _ name: String, _ type: NSAttributeType, optional: Bool = true, userInfo: [String: String] = [:]
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = optional
        attribute.userInfo = userInfo
        return attribute
    }

    package enum Arity {
        case toOne
        case toMany(ordered: Bool)
    }

    package static func relate(
        _ source: NSEntityDescription, _ name: String, _ arity: Arity, _ destination: NSEntityDescription,
        _ inverseName: String, _ inverseArity: Arity, rule: NSDeleteRule = .nullifyDeleteRule
    ) {
        let there = relationship(name, arity, destination, rule)
        let back = relationship(inverseName, inverseArity, source, .nullifyDeleteRule)
        there.inverseRelationship = back
        back.inverseRelationship = there
        source.properties.append(there)
        destination.properties.append(back)
    }

    private static func relationship(
        _ name: String, _ arity: Arity, _ destination: NSEntityDescription, _ rule: NSDeleteRule
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.isOptional = true
        relationship.deleteRule = rule
        switch arity {
        case .toOne: relationship.maxCount = 1
        case .toMany(let ordered):
            relationship.maxCount = 0
            relationship.isOrdered = ordered
        }
        return relationship
    }
}
