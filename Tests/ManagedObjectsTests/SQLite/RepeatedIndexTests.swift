import Foundation
import GRDB
import Testing

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
}
