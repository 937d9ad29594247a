import Foundation
import Testing

@testable import EngineTesting

@testable import ManagedObjects
@testable import SQLStores

/// Stores moved to other locations and types, replaced and destroyed.
@Suite struct StoreMovingTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("StoreMoving-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

    /// A store with rows, pairs and ordered members.
    private func fill(_ bench: RowBench) throws {
        let folders = try bench.insert("Folder", [["name": .string("Work")]])
        try bench.insert(
            "Note",
            [
                ["title": .string("n1"), "folder": .reference(bench.key("Folder", folders[0]))],
                ["title": .string("n2")],
            ])
        let items = try bench.insert("Item", [["name": .string("i1")]])
        let special = try bench.insert("SpecialItem", [["name": .string("i2"), "extra": .string("e")]])
        let tags = try bench.insert("Tag", [["name": .string("t1")], ["name": .string("t2")]])
        try bench.delete("Tag", [(tags[0], 1)])
        try bench.pairs(
            "Item", "tags",
            (items + special).map { SavePlan.Pair(kind: .insert, source: $0, destination: tags[1]) })
        try bench.pairs("Note", "related", [SavePlan.Pair(kind: .insert, source: 1, destination: 2)])
    }

    private func expectContent(_ bench: RowBench) throws {
        let rows = bench.coordinator.rowStores[0]
        #expect(try rows.keys(matching: bench.query("Tag"), generation: nil).map(\.number) == [2])
        let result = try rows.rows(matching: bench.query("Note"), generation: nil)
        let page = try #require(result.pages.first)
        #expect(RowBench.text(page, row: 0, "title") == "n1" && RowBench.text(page, row: 0, "folder") == "p1")
        let items = try rows.members(
            of: bench.relationship("Tag", "items"), owners: [2], ownerEntity: bench.entity("Tag"), includesRows: true,
            generation: nil)
        #expect(items.members.map(\.number) == [1, 2])
        let related = try rows.members(
            of: bench.relationship("Note", "relatedBy"), owners: [1, 2], ownerEntity: bench.entity("Note"),
            includesRows: false, generation: nil)
        #expect(related.starts == [0, 0, 1] && related.members.map(\.number) == [1])
    }

    @Test(arguments: [
        (NSInMemoryStoreType, NSSQLiteStoreType), (NSSQLiteStoreType, NSInMemoryStoreType),
        (NSSQLiteStoreType, NSSQLiteStoreType), (NSInMemoryStoreType, NSInMemoryStoreType),
    ])
    func aStoreMovesAndItsObjectsStayTheSame(from: String, to: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let bench = try RowBench(from, url: file("a.sqlite"))
        try fill(bench)
        let id = bench.coordinator.objectID(for: bench.key("Note", 1))
        let moved = try bench.coordinator.migratePersistentStore(
            bench.store, to: file("b.sqlite"), options: nil, withType: to)
        #expect(bench.coordinator.persistentStores == [moved])
        #expect(moved.type == to && moved.number == 1)
        #expect(bench.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == id)
        try expectContent(bench)
        // New keys continue after the existing ones.
        #expect(try bench.coordinator.rowStores[0].reserveKeys(entity: bench.entity("Tag"), count: 1).lowerBound >= 3)
        if to == NSSQLiteStoreType {
            let again = try RowBench(to, url: file("b.sqlite"))
            #expect(again.store.identifier == bench.store.identifier)
            try expectContent(again)
        }
    }

    @Test func aStoreIsReplacedByACopyOfAnother() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = try RowBench(NSSQLiteStoreType, url: file("source.sqlite"))
        try fill(source)
        let old = try RowBench(NSSQLiteStoreType, url: file("target.sqlite"))
        try old.insert("Tag", [["name": .string("old")]])
        try old.coordinator.remove(old.store)
        try old.coordinator.replacePersistentStore(
            at: file("target.sqlite"), withPersistentStoreFrom: file("source.sqlite"), type: .sqlite)
        try expectContent(try RowBench(NSSQLiteStoreType, url: file("target.sqlite")))
        try expectContent(source)
        #expect(throws: CocoaError.self) {
            try old.coordinator.replacePersistentStore(
                at: file("target.sqlite"), withPersistentStoreFrom: file("absent.sqlite"), type: .sqlite)
        }
    }

    @Test func aDestroyedStoreLeavesAnEmptyFileInWhichAStoreCanBeMade() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let bench = try RowBench(NSSQLiteStoreType, url: file("a.sqlite"))
        try fill(bench)
        try bench.coordinator.remove(bench.store)
        try bench.coordinator.destroyPersistentStore(at: file("a.sqlite"), type: .sqlite, options: nil)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
                "a.sqlite", "a.sqlite-shm", "a.sqlite-wal",
            ])
        try bench.coordinator.destroyPersistentStore(at: file("a.sqlite"), type: .sqlite, options: nil)
        let again = try RowBench(NSSQLiteStoreType, url: file("a.sqlite"))
        #expect(try again.insert("Tag", [["name": .string("new")]]) == [1])
        try again.coordinator.remove(again.store)
        try FileManager.default.removeItem(at: file("a.sqlite"))
        try again.coordinator.destroyPersistentStore(at: file("a.sqlite"), type: .sqlite, options: nil)
        #expect(try Data(contentsOf: file("a.sqlite")).isEmpty)
    }

    @Test func `a file that is not a store is destroyed only with force`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("no database, but long enough to look at".utf8).write(to: file("a.sqlite"))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NotesModel.make())
        let error = #expect(throws: CocoaError.self) {
            try coordinator.destroyPersistentStore(at: file("a.sqlite"), type: .sqlite, options: nil)
        }
        #expect(error?.errorCode == 134070)
        #expect(FileManager.default.fileExists(atPath: file("a.sqlite").path))
        try coordinator.destroyPersistentStore(
            at: file("a.sqlite"), type: .sqlite, options: [NSPersistentStoreForceDestroyOption: true])
        #expect(try Data(contentsOf: file("a.sqlite")).isEmpty)
    }

    @Test func `metadata are read and written without adding the store`() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let bench = try RowBench(NSSQLiteStoreType, url: file("a.sqlite"))
        let identifier = bench.store.identifier
        try bench.coordinator.remove(bench.store)
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            type: .sqlite, at: file("a.sqlite"))
        #expect(metadata[NSStoreUUIDKey] as? String == identifier)
        metadata["colour"] = "red"
        try NSPersistentStoreCoordinator.setMetadata(metadata, type: .sqlite, at: file("a.sqlite"))
        let again = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: file("a.sqlite"))
        #expect(again["colour"] as? String == "red")
        #expect(again[NSStoreUUIDKey] as? String == identifier)
    }

    @Test func aStoreOfAnotherModelIsRefused() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        _ = try RowBench(NSSQLiteStoreType, url: file("a.sqlite"))
        let other = NSManagedObjectModel()
        other.entities = [NotesModel.entity("Folder", [NotesModel.attribute("size", .integer32AttributeType)])]
        func code(_ options: [String: Any]) -> Int? {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: other)
            let error = #expect(throws: CocoaError.self) {
                try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: nil, at: file("a.sqlite"), options: options)
            }
            return error?.errorCode
        }
        #expect(code([:]) == 134100)
        // The store contains its model, and inferring a mapping model is not permitted.
        #expect(code([NSMigratePersistentStoresAutomaticallyOption: true]) == 134140)
    }
}
