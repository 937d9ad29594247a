import CoreData
import Testing

extension NSPersistentStoreCoordinator {
    fileprivate static func made() -> Self { self.init(managedObjectModel: NSManagedObjectModel()) }
}

/// Assertions of other packages about coordinators and the folders of their stores.
@Suite struct CoordinatorTests {
    /// Sworm, `testBlobsMigration`, adds a store in a folder that does not exist: https://github.com/prisma-ai/sworm
    @Test func theFolderOfAStoreIsCreated() throws {
        let top = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: top) }
        let container = NSPersistentContainer(name: "Saga", managedObjectModel: DiaryModel.make())
        let url = top.appendingPathComponent("inner/store.sqlite")
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        #expect(failure == nil)
        #expect(FileManager.default.fileExists(atPath: url.path))
    }

    /// CoreDataPlus, `destroyStore(at:options:)`: https://github.com/alemar11/CoreDataPlus
    @Test func aClassMethodCreatesACoordinator() {
        #expect(NSPersistentStoreCoordinator.made().persistentStores.isEmpty)
    }
}
