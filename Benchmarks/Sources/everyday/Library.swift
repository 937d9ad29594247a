import CoreData
import Foundation

/// A library of notes: the model of all operations. Each operation gets a store of its own.
enum Library {
    /// Notes with tags (many-to-many), lines (ordered), a folder that counts and sums its notes, and an attachment in a file.
    static func model() -> NSManagedObjectModel {
        let (folder, note, tag, line) = (entity("Folder"), entity("Note"), entity("Tag"), entity("Line"))
        let notes = relationship("notes", to: note, isToMany: true)
        let folderOfNote = relationship("folder", to: folder)
        pair(notes, folderOfNote)
        notes.deleteRule = .cascadeDeleteRule
        let tags = relationship("tags", to: tag, isToMany: true)
        let notesOfTag = relationship("notes", to: note, isToMany: true)
        pair(tags, notesOfTag)
        let lines = relationship("lines", to: line, isToMany: true)
        lines.isOrdered = true
        lines.deleteRule = .cascadeDeleteRule
        let noteOfLine = relationship("note", to: note)
        pair(lines, noteOfLine)
        let size = attribute("size", .integer64AttributeType)
        folder.properties = [attribute("name", .stringAttributeType), notes]
        let data = attribute("attachment", .binaryDataAttributeType)
        data.allowsExternalBinaryDataStorage = true
        note.properties = [
            attribute("title", .stringAttributeType), attribute("number", .integer64AttributeType), size, data,
            folderOfNote, tags,
            lines,
        ]
        tag.properties = [attribute("name", .stringAttributeType), notesOfTag]
        line.properties = [attribute("text", .stringAttributeType), noteOfLine]
        note.indexes = [
            NSFetchIndexDescription(
                name: "byNumber",
                elements: [
                    NSFetchIndexElementDescription(property: note.attributesByName["number"]!, collationType: .binary)
                ])
        ]
        let model = NSManagedObjectModel()
        model.entities = [folder, note, tag, line]
        return model
    }

    /// The same with a folder whose count and sum of notes the store derives.
    static func derivingModel() -> NSManagedObjectModel {
        let model = model()
        let folder = model.entitiesByName["Folder"]!
        folder.properties += [
            derived("noteCount", "notes.@count", .integer64AttributeType),
            derived("totalSize", "notes.@sum.size", .integer64AttributeType),
        ]
        return model
    }

    /// Accounts with unique names.
    static func uniqueModel() -> NSManagedObjectModel {
        let account = entity("Account")
        account.properties = [attribute("name", .stringAttributeType), attribute("size", .integer64AttributeType)]
        account.uniquenessConstraints = [["name"]]
        let model = NSManagedObjectModel()
        model.entities = [account]
        return model
    }

    /// Many entities with some attributes each.
    static func wideModel(entities: Int, attributes: Int) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = (0..<entities).map { number in
            let entity = entity("Entity\(number)")
            entity.properties = (0..<attributes).map { attribute("attribute\($0)", .integer64AttributeType) }
            return entity
        }
        return model
    }

    private static func entity(_ name: String) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = "NSManagedObject"
        return entity
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }

    private static func derived(_ name: String, _ expression: String, _ type: NSAttributeType) -> NSAttributeDescription
    {
        let attribute = NSDerivedAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        attribute.derivationExpression = NSExpression(format: expression)
        return attribute
    }

    private static func relationship(
        _ name: String, to entity: NSEntityDescription, isToMany: Bool = false
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.destinationEntity = entity
        relationship.maxCount = isToMany ? 0 : 1
        relationship.isOptional = true
        relationship.deleteRule = .nullifyDeleteRule
        return relationship
    }

    private static func pair(_ one: NSRelationshipDescription, _ other: NSRelationshipDescription) {
        one.inverseRelationship = other
        other.inverseRelationship = one
    }
}
