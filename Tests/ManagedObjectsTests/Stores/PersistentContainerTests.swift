import Foundation
import Testing

@testable import EngineTesting

@testable import ManagedObjects

@Suite struct PersistentContainerTests {
    private func container() -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Notes", managedObjectModel: NotesModel.make())
        let description = NSPersistentStoreDescription()
        description.type = NSInMemoryStoreType
        container.persistentStoreDescriptions = [description]
        return container
    }

    @Test func theDefaultStoreIsInTheDefaultFolder() {
        let container = NSPersistentContainer(name: "Notes", managedObjectModel: NotesModel.make())
        #expect(container.persistentStoreDescriptions.count == 1)
        #expect(
            container.persistentStoreDescriptions[0].url
                == NSPersistentContainer.defaultDirectoryURL().appendingPathComponent("Notes.sqlite"))
        #expect(container.viewContext.concurrencyType == .mainQueueConcurrencyType)
        #expect(container.viewContext.persistentStoreCoordinator === container.persistentStoreCoordinator)
    }

    @Test func loadingCallsTheBlockOnceForEachStore() {
        let container = container()
        var outcomes: [String] = []
        container.loadPersistentStores { description, error in
            outcomes.append("\(description.type) \(error == nil)")
        }
        #expect(outcomes == ["InMemory true"])
        #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    }

    @Test func aStoreThatCannotBeOpenedIsReported() throws {
        let container = NSPersistentContainer(name: "Notes", managedObjectModel: NotesModel.make())
        container.persistentStoreDescriptions = [
            // The folder of this store cannot be created, because a file has its name.
            NSPersistentStoreDescription(url: URL(fileURLWithPath: #filePath + "/Notes.sqlite"))
        ]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        #expect(failure != nil)
        #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
    }

    @Test func aStoreCanBeAddedAsynchronously() async {
        let container = container()
        container.persistentStoreDescriptions[0].shouldAddStoreAsynchronously = true
        let error: (any Error)? = await withCheckedContinuation { continuation in
            container.loadPersistentStores { continuation.resume(returning: $1) }
        }
        #expect(error == nil)
        #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    }

    @Test func backgroundTasksHaveContextsOfTheirOwn() async throws {
        let container = container()
        container.loadPersistentStores { _, _ in }
        let name = try await container.performBackgroundTask { context in
            let tag = context.insert("Tag", ["name": "urgent"])
            try context.save()
            return tag.value(forKey: "name") as? String
        }
        #expect(name == "urgent")
        let count = await withCheckedContinuation { continuation in
            container.performBackgroundTask { context in
                continuation.resume(returning: (try? context.all("Tag").count) ?? -1)
            }
        }
        #expect(count == 1)
    }

    @Test func aDescriptionKeepsItsOptions() throws {
        let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/tmp/a.sqlite"))
        #expect(description.type == NSSQLiteStoreType)
        #expect(description.shouldMigrateStoreAutomatically && description.shouldInferMappingModelAutomatically)
        #expect(description.timeout == 240 && !description.isReadOnly)
        description.isReadOnly = true
        description.timeout = 3
        description.setValue("MEMORY" as NSString, forPragmaNamed: "journal_mode")
        description.setValue("1" as NSString, forPragmaNamed: "synchronous")
        description.setValue(nil, forPragmaNamed: "synchronous")
        description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
        #expect(description.sqlitePragmas == ["journal_mode": "MEMORY" as NSString])
        #expect(description.options[NSReadOnlyPersistentStoreOption] == NSNumber(value: true))
        let copy = try #require(description.copy() as? NSPersistentStoreDescription)
        #expect(copy == description)
        copy.isReadOnly = false
        #expect(copy != description)
    }
}
