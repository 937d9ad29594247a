import Foundation
import Testing

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

/// A derivation that keeps its text has another result if the values that it names are other ones.
@Suite("A migration in place computes derived attributes whose sources change", .serialized)
struct DerivedSourceTests {
    /// Books on shelves, with attributes that are derived in every way.
    private func model(_ change: (_ book: NSEntityDescription, _ shelf: NSEntityDescription) -> Void = { _, _ in })
        -> NSManagedObjectModel
    {
        let shelf = NotesModel.entity(
            "Shelf",
            [
                NotesModel.attribute("name", .stringAttributeType),
                DerivedModel.derived("total", .integer64AttributeType, "books.pages.@sum"),
            ])
        let book = NotesModel.entity(
            "Book",
            [
                NotesModel.attribute("number", .integer64AttributeType),
                NotesModel.attribute("title", .stringAttributeType),
                NotesModel.attribute("subtitle", .stringAttributeType),
                NotesModel.attribute("pages", .integer64AttributeType),
                NotesModel.attribute("weight", .integer64AttributeType),
                DerivedModel.derived("key", .stringAttributeType, "canonical:(title)"),
                DerivedModel.derived("shelfName", .stringAttributeType, "shelf.name"),
                DerivedModel.derived("shelfKey", .stringAttributeType, "uppercase:(shelf.name)"),
            ])
        NotesModel.relate(shelf, "books", many: true, book, "shelf", many: false, rule: .nullifyDeleteRule)
        change(book, shelf)
        let model = NSManagedObjectModel()
        model.entities = [shelf, book]
        return model
    }

    /// Removes one attribute and gives another one its name.
    private func replace(_ name: String, by other: String, in entity: NSEntityDescription) {
        entity.properties.removeAll { $0.name == name }
        let renamed = entity.attributesByName[other]
        renamed?.renamingIdentifier = other
        renamed?.name = name
    }

    private func require(_ name: String, default value: Any, in entity: NSEntityDescription) {
        entity.attributesByName[name]?.isOptional = false
        entity.attributesByName[name]?.defaultValue = value
    }

    /// The values of a store with two books on two shelves, after a migration.
    private func values(
        _ type: String, after change: (_ book: NSEntityDescription, _ shelf: NSEntityDescription) -> Void
    ) throws -> (keys: [String?], shelfNames: [String?], shelfKeys: [String?], totals: Set<Int?>) {
        let folder = try StoreFolder()
        let url = type == NSSQLiteStoreType ? folder.url : TestStores.url(type)
        let old = try TestStack(model: model(), type: type, url: url)
        let writing = old.context()
        let rows: [[String: Any]] = [
            ["title": "Ä", "subtitle": "Ö", "pages": 10, "weight": 1], ["subtitle": "Ü", "pages": 20, "weight": 2],
        ]
        for (number, values) in rows.enumerated() {
            let book = writing.insert("Book", values)
            book.setValue(number, forKey: "number")
            book.setValue(writing.insert("Shelf", number == 0 ? ["name": "Upper"] : [:]), forKey: "shelf")
        }
        try writing.save()
        for store in old.coordinator.persistentStores { try old.coordinator.remove(store) }
        let new = try TestStack(
            model: model(change), type: type, url: url,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            ])
        let reading = new.context()
        let books = try reading.all("Book", sortedBy: "number")
        func texts(_ name: String) -> [String?] { books.map { $0.value(forKey: name) as? String } }
        let totals = try reading.all("Shelf").map { $0.value(forKey: "total") as? Int }
        return (texts("key"), texts("shelfName"), texts("shelfKey"), Set(totals))
    }

    @Test(arguments: TestStores.sqlTypes) func `a source that becomes required has its default value`(
        type: String
    ) throws {
        let values = try values(type) { book, _ in require("title", default: "None", in: book) }
        #expect(values.keys == ["a", "none"])
        #expect(values.totals == [10, 20])
    }

    @Test(arguments: TestStores.sqlTypes) func `another attribute has the name of the source`(type: String) throws {
        let values = try values(type) { book, _ in replace("title", by: "subtitle", in: book) }
        #expect(values.keys == ["o", "u"])
        #expect(values.shelfNames == ["Upper", nil])
    }

    @Test(arguments: TestStores.sqlTypes) func `the source of a sum is another attribute`(type: String) throws {
        let values = try values(type) { book, _ in replace("pages", by: "weight", in: book) }
        #expect(values.totals == [1, 2])
        #expect(values.keys == ["a", nil])
    }

    @Test(arguments: TestStores.sqlTypes) func `a source of another object becomes required`(type: String) throws {
        let values = try values(type) { _, shelf in require("name", default: "Lower", in: shelf) }
        #expect(values.shelfNames == ["Upper", "Lower"])
        #expect(values.shelfKeys == ["UPPER", "LOWER"])
    }

    @Test(arguments: TestStores.sqlTypes) func `other changes keep the values`(type: String) throws {
        let values = try values(type) { book, _ in
            book.properties += [NotesModel.attribute("price", .decimalAttributeType)]
        }
        #expect(values.keys == ["a", nil])
        #expect(values.shelfNames == ["Upper", nil])
        #expect(values.shelfKeys == ["UPPER", nil])
        #expect(values.totals == [10, 20])
    }
}
