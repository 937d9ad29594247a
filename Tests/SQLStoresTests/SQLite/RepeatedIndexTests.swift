import Foundation
import GRDB
import Testing

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

/// Models of real stores declare an index twice; the stores contain it once.
struct RepeatedIndexTests {
    @Test func `an index that is declared twice is created once`() throws {
        let entity = NSEntityDescription()
        entity.name = "Element"
        let attributes = ["domain", "label"].map { name in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = .stringAttributeType
            attribute.isOptional = true
            return attribute
        }
        entity.properties = attributes
        func index(_ name: String) -> NSFetchIndexDescription {
            NSFetchIndexDescription(
                name: name,
                elements: attributes.filter { $0.name == name }.map {
                    NSFetchIndexElementDescription(property: $0, collationType: .binary)
                })
        }
        entity.indexes = [index("domain"), index("label"), index("label"), index("domain")]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite")
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) } }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        try coordinator.remove(store)
        let names = try DatabaseQueue(path: url.path).read {
            try String.fetchAll(
                $0, sql: "SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY 1")
        }
        #expect(names == ["Z_Element_domain", "Z_Element_label"])
    }

    @Test func `a text in the condition of an index stays a text`() throws {
        let attribute = NSAttributeDescription("domain", .stringAttributeType)
        let entity = NSEntityDescription("Element", [attribute])
        let index = NSFetchIndexDescription(
            name: "domain", elements: [NSFetchIndexElementDescription(property: attribute, collationType: .binary)])
        // A quote and a combining mark are one `Character`, but SQLite reads the quote.
        index.partialIndexPredicate = NSPredicate(
            format: "domain == %@", "x'\u{301} OR 1); DROP TABLE Z_METADATA; --")
        entity.indexes = [index]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let folder = try StoreFolder()
        let open = try OpenStore(at: folder.url, model: model)
        try open.insert("Element", key: 1, ["domain": .string("one")])
        #expect(try open.sql("SELECT count(*) FROM Z_METADATA") == [1])
        #expect(try open.sql("SELECT count(*) FROM sqlite_master WHERE name = 'Z_Element_domain'") == [1])
    }
}
