import Foundation
import Testing

@testable import ManagedObjects

/// Stores that are destroyed while another stack has them open.
struct DestroyedStoreTests {
    private static func number(ofFile path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
    }

    @Test func `a log that another connection has open stays, and both see each other's commits afterwards`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Notes.sqlite")

        let other = try TestStack(type: NSSQLiteStoreType, url: url)
        let otherContext = other.context()
        _ = otherContext.insert("Note", ["title": "before"])
        try otherContext.save()
        let files = [url.path, url.path + "-wal", url.path + "-shm"]
        let numbers = try files.map(Self.number)

        try NSPersistentStoreCoordinator.destroy(url)
        #expect(try files.map(Self.number) == numbers)

        let stack = try TestStack(type: NSSQLiteStoreType, url: url)
        let context = stack.context()
        #expect(try context.all("Note").isEmpty)
        _ = context.insert("Note", ["title": "after"])
        try context.save()
        let second = other.context()
        let seenByOther = try second.all("Note").map { $0.value(forKey: "title") as? String }
        #expect(seenByOther == ["after"])
        _ = second.insert("Note", ["title": "of the other"])
        try second.save()
        let third = stack.context()
        let seen = try third.all("Note").map { $0.value(forKey: "title") as? String }
        #expect(Set(seen) == ["after", "of the other"])
    }

    @Test func `the last connection leaves an empty log and an empty shared memory`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Notes.sqlite")
        let stack = try TestStack(type: NSSQLiteStoreType, url: url)
        let context = stack.context()
        _ = context.insert("Note", ["title": "before"])
        try context.save()
        try stack.coordinator.remove(#require(stack.coordinator.persistentStores.first))
        try NSPersistentStoreCoordinator.destroy(url)
        for name in ["-wal", "-shm"] { #expect(try Data(contentsOf: URL(fileURLWithPath: url.path + name)).isEmpty) }
    }
}

extension NSPersistentStoreCoordinator {
    fileprivate static func destroy(_ url: URL) throws {
        try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
            .destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: nil)
    }
}
