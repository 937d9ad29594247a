import CoreData

// The model of the examples, created in code: notes, their items and tags.

extension NSManagedObjectModel {
    /// Notes with ordered items, tags that notes share, and people who wrote them.
    public static func notes() -> NSManagedObjectModel {
        let note = entity(
            "Note",
            [
                ("title", .stringAttributeType), ("body", .stringAttributeType), ("createdAt", .dateAttributeType),
                ("isPinned", .booleanAttributeType), ("rank", .doubleAttributeType), ("identifier", .UUIDAttributeType),
            ])
        let item = entity(
            "Item",
            [
                ("name", .stringAttributeType), ("quantity", .integer64AttributeType), ("price", .decimalAttributeType),
            ])
        let tag = entity("Tag", [("name", .stringAttributeType)])
        let person = entity("Person", [("name", .stringAttributeType), ("site", .URIAttributeType)])
        connect(note, "items", to: item, "note", isOrdered: true, rule: .cascadeDeleteRule)
        connect(person, "notes", to: note, "author")
        let tags = relationship("tags", to: tag, isToMany: true)
        let notes = relationship("notes", to: note, isToMany: true)
        (tags.inverseRelationship, notes.inverseRelationship) = (notes, tags)
        note.properties.append(tags)
        tag.properties.append(notes)
        tag.uniquenessConstraints = [["name"]]
        let model = NSManagedObjectModel()
        model.entities = [note, item, tag, person]
        return model
    }

    private static func entity(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = attributes.map { name, type in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            attribute.isOptional = true
            return attribute
        }
        return entity
    }

    private static func relationship(
        _ name: String, to destination: NSEntityDescription, isToMany: Bool
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.maxCount = isToMany ? 0 : 1
        relationship.isOptional = true
        relationship.deleteRule = .nullifyDeleteRule
        return relationship
    }

    /// A one-to-many relationship with its inverse.
    private static func connect(
        _ one: NSEntityDescription, _ many: String, to other: NSEntityDescription, _ back: String,
        isOrdered: Bool = false, rule: NSDeleteRule = .nullifyDeleteRule
    ) {
        let toMany = relationship(many, to: other, isToMany: true)
        let toOne = relationship(back, to: one, isToMany: false)
        toMany.isOrdered = isOrdered
        toMany.deleteRule = rule
        (toMany.inverseRelationship, toOne.inverseRelationship) = (toOne, toMany)
        one.properties.append(toMany)
        other.properties.append(toOne)
    }
}
