import Foundation

@testable import FoundationAdditions
@testable import ManagedObjects

/// A model with derived attributes of every kind, and an index of places.
enum DerivedModel {
    static func derived(_ name: String, _ type: NSAttributeType, _ format: String)
        -> NSDerivedAttributeDescription
    {
        let attribute = NSDerivedAttributeDescription()
        (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
        attribute.derivationExpression = NSExpression(format: format)
        return attribute
    }

    static func make() -> NSManagedObjectModel {
        let writer = NotesModel.entity(
            "Writer",
            [NotesModel.attribute("name", .stringAttributeType), NotesModel.attribute("born", .doubleAttributeType)])
        let book = NotesModel.entity(
            "Book",
            [
                NotesModel.attribute("title", .stringAttributeType),
                NotesModel.attribute("pages", .integer64AttributeType),
                NotesModel.attribute("latitude", .doubleAttributeType),
                NotesModel.attribute("longitude", .doubleAttributeType),
                derived("key", .stringAttributeType, "canonical:(title)"),
                derived("writerKey", .stringAttributeType, "canonical:(writer.name)"),
                derived("writerName", .stringAttributeType, "writer.name"),
                derived("changedAt", .dateAttributeType, "now()"),
            ])
        NotesModel.relate(writer, "books", many: true, book, "writer", many: false, rule: .nullifyDeleteRule)
        writer.properties += [
            derived("count", .integer64AttributeType, "books.@count"),
            derived("pages", .integer64AttributeType, "books.pages.@sum"),
        ]
        book.indexes = [
            NSFetchIndexDescription(
                name: "byPlace",
                elements: ["latitude", "longitude"].compactMap { name in
                    book.attributesByName[name].map {
                        NSFetchIndexElementDescription(property: $0, collationType: .rTree)
                    }
                })
        ]
        let model = NSManagedObjectModel()
        model.entities = [writer, book]
        return model
    }
}
