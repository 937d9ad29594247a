import Foundation
import Testing

@testable import EngineTesting

@testable import ManagedObjects

/// Stores that are destroyed while another stack has them open.
struct DestroyedStoreTests {
    private func destroy(_ url: URL) throws {
        try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
            .destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: nil)
    }

    private func addNote(_ title: String, _ stack: TestStack) throws {
        let context = stack.context()
        _ = context.insert("Note", ["title": title])
        try context.save()
    }

    private func titles(_ stack: TestStack) throws -> Set<String?> {
        let context = stack.context()
        return Set(try context.all("Note").map { $0.value(forKey: "title") as? String })
    }

    @Test func `a log that another connection has open stays, and both see each other's commits afterwards`() throws {
        try TestStores.withFile { url in
            let other = try TestStack(url: url)
            try addNote("before", other)
            let files = ["", "-wal", "-shm"].map { url.path + $0 }
            let numbers = try files.map {
                try FileManager.default.attributesOfItem(atPath: $0)[.systemFileNumber] as? Int
            }

            try destroy(url)
            for (file, number) in zip(files, numbers) {
                #expect(try FileManager.default.attributesOfItem(atPath: file)[.systemFileNumber] as? Int == number)
            }

            let stack = try TestStack(url: url)
            #expect(try titles(stack).isEmpty)
            try addNote("after", stack)
            #expect(try titles(other) == ["after"])
            try addNote("of the other", other)
            #expect(try titles(stack) == ["after", "of the other"])
        }
    }

    @Test func `the last connection leaves an empty log and an empty shared memory`() throws {
        try TestStores.withFile { url in
            let stack = try TestStack(url: url)
            try addNote("before", stack)
            try stack.coordinator.remove(#require(stack.coordinator.persistentStores.first))
            try destroy(url)
            for name in ["-wal", "-shm"] {
                #expect(try Data(contentsOf: URL(fileURLWithPath: url.path + name)).isEmpty)
            }
        }
    }
}
