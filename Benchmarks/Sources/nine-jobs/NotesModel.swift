import CoreData

/// The workload's model: notes with ordered items and a detail each, items with tags.
enum NotesModel {
    static func make() -> NSManagedObjectModel {
        let note = entity(
            "Note",
            [
                attribute("id", .UUIDAttributeType), attribute("title", .stringAttributeType),
                attribute("body", .stringAttributeType), attribute("createdAt", .dateAttributeType),
                attribute("isPinned", .booleanAttributeType), attribute("rank", .doubleAttributeType),
            ])
        let detail = entity("NoteDetail", [attribute("content", .stringAttributeType)])
        let item = entity(
            "Item",
            [
                attribute("index", .integer32AttributeType), attribute("name", .stringAttributeType),
                attribute("noteID", .UUIDAttributeType), attribute("quantity", .integer64AttributeType),
                attribute("price", .decimalAttributeType),
            ])
        let tag = entity("Tag", [attribute("name", .stringAttributeType)])
        // Copies get new identifiers, and their items refer to these.
        note.attributesByName["id"]?.userInfo = ["rebuild": "uuid"]
        item.attributesByName["noteID"]?.userInfo = ["followParent": "Note.id"]
        relate(note, "items", toMany: true, isOrdered: true, item, "note", toMany: false)
        relate(note, "detail", toMany: false, isOrdered: false, detail, "note", toMany: false)
        relate(item, "tags", toMany: true, isOrdered: false, tag, "items", toMany: true)
        note.uniquenessConstraints = [["id"]]
        tag.uniquenessConstraints = [["name"]]
        note.indexes = [index("byCreatedAt", note, "createdAt")]
        let model = NSManagedObjectModel()
        model.entities = [note, detail, item, tag]
        return model
    }

    private static func entity(_ name: String, _ properties: [NSPropertyDescription]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = "nine_jobs.\(name)"
        entity.properties = properties
        return entity
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }

    private static func index(_ name: String, _ entity: NSEntityDescription, _ key: String) -> NSFetchIndexDescription {
        guard let property = entity.propertiesByName[key] else { preconditionFailure("no property \(key)") }
        return NSFetchIndexDescription(
            name: name, elements: [NSFetchIndexElementDescription(property: property, collationType: .binary)])
    }

    private static func relate(
        _ source: NSEntityDescription, _ name: String, toMany: Bool, isOrdered: Bool,
        _ destination: NSEntityDescription, _ inverseName: String, toMany inverseToMany: Bool
    ) {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = destination
        relationship.maxCount = toMany ? 0 : 1
        relationship.isOrdered = isOrdered
        relationship.deleteRule = inverseToMany ? .nullifyDeleteRule : .cascadeDeleteRule
        let inverse = NSRelationshipDescription()
        inverse.name = inverseName
        inverse.destinationEntity = source
        inverse.maxCount = inverseToMany ? 0 : 1
        inverse.deleteRule = .nullifyDeleteRule
        relationship.inverseRelationship = inverse
        inverse.inverseRelationship = relationship
        source.properties += [relationship]
        destination.properties += [inverse]
    }
}
