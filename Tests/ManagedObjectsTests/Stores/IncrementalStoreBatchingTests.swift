import Foundation
import Testing

@testable import EngineTesting

@testable import ManagedObjects

/// The number of calls that loops cost over an incremental store with batching.
@Suite(.serialized) struct IncrementalStoreBatchingTests {
    /// Generated notes with items.
    class OneByOne: NSIncrementalStore, @unchecked Sendable {  // because a test calls from one thread
        nonisolated(unsafe) static var calls: [String: Int] = [:]
        nonisolated(unsafe) static var noteCount = 0
        static let itemsEach = 5

        override func loadMetadata() throws {
            metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: "8E9B2C9F-3A07-44B0-9C5D-7C42F3E1B0AA"]
        }

        func id(_ entity: String, _ reference: String) -> NSManagedObjectID {
            let model = persistentStoreCoordinator?.managedObjectModel
            return newObjectID(for: model?.entitiesByName[entity] ?? NSEntityDescription(), referenceObject: reference)
        }

        override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any
        {
            guard let fetch = request as? NSFetchRequest<any NSFetchRequestResult> else { return [] }
            Self.calls["fetch", default: 0] += 1
            let notes = (0..<Self.noteCount).map { id("Note", "\($0)") }
            let ids =
                switch fetch.entity?.name {
                case "Note": notes
                case "Item": notes.flatMap(members)
                default: [NSManagedObjectID]()
                }
            return fetch.resultType == .managedObjectIDResultType ? ids : ids.compactMap { context?.object(with: $0) }
        }

        func node(_ id: NSManagedObjectID) -> NSIncrementalStoreNode {
            let reference = "\(referenceObject(for: id))"
            let values: [String: Any] =
                id.entity.name == "Note"
                ? ["title": "Note \(reference)", "folder": NSNull(), "cover": NSNull()]
                : [
                    "name": "Item \(reference)", "coverOf": NSNull(),
                    "note": self.id("Note", String(reference.split(separator: "-")[0])),
                ]
            return NSIncrementalStoreNode(objectID: id, withValues: values, version: 1)
        }

        func members(_ id: NSManagedObjectID) -> [NSManagedObjectID] {
            (0..<Self.itemsEach).map { self.id("Item", "\(referenceObject(for: id))-\($0)") }
        }

        override func newValuesForObject(
            with objectID: NSManagedObjectID, with context: NSManagedObjectContext
        ) throws -> NSIncrementalStoreNode {
            Self.calls["row", default: 0] += 1
            return node(objectID)
        }

        override func newValue(
            forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
            with context: NSManagedObjectContext?
        ) throws -> Any {
            Self.calls["relationship", default: 0] += 1
            return relationship.name == "items" ? members(objectID) : []
        }
    }

    // Because a test calls from one thread.
    final class Batching: OneByOne, IncrementalStoreBatching, @unchecked Sendable {
        func newValuesForObjects(
            with objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
        ) throws -> [NSIncrementalStoreNode] {
            Self.calls["rows", default: 0] += 1
            return objectIDs.reversed().map(node)
        }

        func newValues(
            forRelationship relationship: NSRelationshipDescription, forObjectsWith objectIDs: [NSManagedObjectID],
            with context: NSManagedObjectContext
        ) throws -> [NSManagedObjectID: Any] {
            Self.calls["relationships", default: 0] += 1
            return Dictionary(
                uniqueKeysWithValues: objectIDs.map { ($0, relationship.name == "items" ? members($0) : []) })
        }
    }

    private func loop(_ storeClass: OneByOne.Type, notes: Int) throws -> [String: Int] {
        NSPersistentStoreCoordinator.registerStoreClass(storeClass, forStoreType: "Loops")
        OneByOne.noteCount = notes
        OneByOne.calls = [:]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NotesModel.make())
        try coordinator.addPersistentStore(
            ofType: "Loops", configurationName: nil, at: URL(fileURLWithPath: "/tmp/loops"), options: nil)
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        var names: [String] = []
        for note in try context.all("Note") {
            #expect((note.value(forKey: "title") as? String)?.hasPrefix("Note ") == true)
            for case let item as NSManagedObject in (note.value(forKey: "items") as? NSOrderedSet)?.array ?? [] {
                names.append(item.value(forKey: "name") as? String ?? "")
            }
        }
        let expected = (0..<notes).flatMap { note in (0..<OneByOne.itemsEach).map { "Item \(note)-\($0)" } }
        #expect(names == expected)
        return OneByOne.calls
    }

    @Test func `without batching each object and relationship is a call`() throws {
        let calls = try loop(OneByOne.self, notes: 100)
        #expect(calls == ["fetch": 1, "row": 100 + 500, "relationship": 100])
    }

    @Test func `with batching a loop costs a few calls`() throws {
        let calls = try loop(Batching.self, notes: 1000)
        #expect(calls["row"] == nil && calls["relationship"] == nil)
        #expect(calls["fetch"] == 1)
        #expect((calls["rows"] ?? .max) <= 60, "\(calls)")
        #expect((calls["relationships"] ?? .max) <= 40, "\(calls)")
    }

    /// All rows of such a store, copied to an SQLite store: with ordered relationships and the same keys.
    @Test(arguments: [false, true])
    func itIsMigratedIntoAnotherType(inBatches: Bool) throws {
        let storeClass = inBatches ? Batching.self : OneByOne.self
        NSPersistentStoreCoordinator.registerStoreClass(storeClass, forStoreType: "Loops")
        OneByOne.noteCount = 3
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NotesModel.make())
        let store = try coordinator.addPersistentStore(
            ofType: "Loops", configurationName: nil, at: URL(fileURLWithPath: "/tmp/loops"), options: nil)
        let folder = try StoreFolder()
        let moved = try coordinator.migratePersistentStore(store, to: folder.url, type: .sqlite)
        #expect(moved.identifier == "8E9B2C9F-3A07-44B0-9C5D-7C42F3E1B0AA")
        try check(coordinator)
        let file = folder.directory.appendingPathComponent("copy.xml")
        let inFile = try coordinator.migratePersistentStore(moved, to: file, type: .xml)
        try check(coordinator)
        try coordinator.remove(inFile)
    }

    private func check(_ coordinator: NSPersistentStoreCoordinator) throws {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let notes = try context.all("Note", sortedBy: "title")
        #expect(notes.count == 3)
        for (index, note) in notes.enumerated() {
            let items = (note.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject]
            #expect(
                items?.map { $0.value(forKey: "name") as? String }
                    == (0..<OneByOne.itemsEach).map { "Item \(index)-\($0)" })
        }
    }
}
