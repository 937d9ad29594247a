import Foundation

@testable import ManagedObjects

/// A model for queries: every attribute type, every kind of relationship, a hierarchy, a composite.
enum QueryModel {
    static func make() -> NSManagedObjectModel {
        let note = NotesModel.entity(
            "Note",
            [
                NotesModel.attribute("title", .stringAttributeType), NotesModel.attribute("body", .stringAttributeType),
                NotesModel.attribute("rank", .doubleAttributeType), NotesModel.attribute("ratio", .floatAttributeType),
                NotesModel.attribute("count", .integer64AttributeType),
                NotesModel.attribute("small", .integer16AttributeType),
                NotesModel.attribute("isPinned", .booleanAttributeType),
                NotesModel.attribute("createdAt", .dateAttributeType),
                NotesModel.attribute("identifier", .UUIDAttributeType),
                NotesModel.attribute("price", .decimalAttributeType),
                NotesModel.attribute("link", .URIAttributeType),
                NotesModel.attribute("blob", .binaryDataAttributeType),
                place(),
            ])
        let item = NotesModel.entity(
            "Item",
            [
                NotesModel.attribute("name", .stringAttributeType),
                NotesModel.attribute("size", .integer32AttributeType),
                NotesModel.attribute("price", .decimalAttributeType),
                NotesModel.attribute("weight", .doubleAttributeType),
            ])
        let special = NotesModel.entity("SpecialItem", [NotesModel.attribute("extra", .stringAttributeType)])
        item.subentities = [special]
        let tag = NotesModel.entity("Tag", [NotesModel.attribute("name", .stringAttributeType)])
        NotesModel.relate(
            note, "items", many: true, ordered: true, item, "note", many: false, rule: .cascadeDeleteRule)
        NotesModel.relate(item, "tags", many: true, tag, "items", many: true, rule: .nullifyDeleteRule)
        NotesModel.relate(note, "parent", many: false, note, "children", many: true, rule: .nullifyDeleteRule)
        NotesModel.relate(note, "cover", many: false, item, "coverOf", many: false, rule: .nullifyDeleteRule)
        let model = NSManagedObjectModel()
        model.entities = [note, item, special, tag]
        return model
    }

    private static func place() -> NSCompositeAttributeDescription {
        let place = NSCompositeAttributeDescription()
        place.name = "place"
        place.elements = [
            NotesModel.attribute("city", .stringAttributeType), NotesModel.attribute("height", .doubleAttributeType),
        ]
        return place
    }
}
