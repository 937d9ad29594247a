import Foundation
import Testing

@testable import EngineTesting

@testable import ManagedObjects

@Suite("Saved objects are read back", .serialized)
struct SavingTests {
    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func `every attribute type round-trips`(type: String) throws {
        let stack = try TestStack(type: type)
        let context = stack.context()
        let uuid = UUID()
        let date = Date(timeIntervalSinceReferenceDate: 12345.678901)
        let note = context.insert(
            "Note",
            [
                "title": "Größe", "rank": 0.1, "count": Int64.max, "small": -7, "isPinned": true, "createdAt": date,
                "identifier": uuid, "price": NSDecimalNumber(string: "10.11"),
                "link": try #require(URL(string: "https://example.org/a?b=c")), "blob": Data([0, 1, 2, 255]),
            ])
        #expect(note.objectID.isTemporaryID)
        try context.save()
        #expect(!note.objectID.isTemporaryID)
        #expect(context.brokenInvariants() == [])
        let other = stack.context()
        let read = try #require(try other.all("Note").first)
        #expect(read.objectID == note.objectID)
        #expect(read.isFault)
        #expect(read.value(forKey: "title") as? String == "Größe")
        #expect(!read.isFault)
        #expect(read.value(forKey: "rank") as? Double == 0.1)
        #expect(read.value(forKey: "count") as? Int64 == .max)
        #expect(read.value(forKey: "small") as? Int == -7)
        #expect(read.value(forKey: "isPinned") as? Bool == true)
        #expect(read.value(forKey: "createdAt") as? Date == date)
        #expect(read.value(forKey: "identifier") as? UUID == uuid)
        #expect((read.value(forKey: "price") as? NSDecimalNumber)?.decimalValue == Decimal(string: "10.11"))
        #expect((read.value(forKey: "link") as? URL)?.absoluteString == "https://example.org/a?b=c")
        #expect(read.value(forKey: "blob") as? Data == Data([0, 1, 2, 255]))
    }

    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func `relationships of every kind round-trip, with their order`(type: String) throws {
        let stack = try TestStack(type: type)
        let context = stack.context()
        let note = context.insert("Note", ["title": "a"])
        let items = (0..<30).map { context.insert($0 % 3 == 0 ? "SpecialItem" : "Item", ["index": $0]) }
        note.setValue(NSOrderedSet(array: items.reversed()), forKey: "items")
        let tags = (0..<5).map { context.insert("Tag", ["name": "t\($0)"]) }
        for (index, item) in items.enumerated() {
            item.setValue(Set([tags[index % 5], tags[(index + 1) % 5]]), forKey: "tags")
        }
        note.setValue(items[3], forKey: "cover")
        let twin = context.insert("Note", ["title": "b"])
        note.mutableSetValue(forKey: "related").add(twin)
        note.mutableSetValue(forKey: "related").add(note)
        #expect(context.brokenInvariants() == [])
        try context.save()
        #expect(context.brokenInvariants() == [])

        let other = stack.context()
        let read = try #require(try other.all("Note", sortedBy: "title").first)
        let readItems = try #require(read.value(forKey: "items") as? NSOrderedSet)
        #expect(
            readItems.compactMap { ($0 as? NSManagedObject)?.value(forKey: "index") as? Int }
                == Array((0..<30).reversed()))
        #expect((read.value(forKey: "cover") as? NSManagedObject)?.entity.name == "SpecialItem")
        #expect((read.value(forKey: "related") as? NSSet)?.count == 2)
        let first = try #require(readItems.firstObject as? NSManagedObject)
        let names = (first.value(forKey: "tags") as? Set<NSManagedObject> ?? []).compactMap {
            $0.value(forKey: "name") as? String
        }
        #expect(names.sorted() == ["t0", "t4"])
        #expect(other.brokenInvariants() == [])
    }

    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func `members of an ordered relationship are moved, added and removed`(type: String) throws {
        let stack = try TestStack(type: type)
        let context = stack.context()
        let note = context.insert("Note")
        let ordered = note.mutableOrderedSetValue(forKey: "items")
        for index in 0..<5 { ordered.add(context.insert("Item", ["index": index])) }
        try context.save()
        let moved = ordered.object(at: 4)
        ordered.removeObject(at: 4)
        ordered.insert(moved, at: 1)
        ordered.insert(context.insert("Item", ["index": 9]), at: 0)
        if let last = ordered.lastObject as? NSManagedObject { context.delete(last) }
        try context.save()
        let other = stack.context()
        let read = try #require(try other.all("Note").first)
        let members = (read.value(forKey: "items") as? NSOrderedSet)?.array ?? []
        let indices = members.compactMap { ($0 as? NSManagedObject)?.value(forKey: "index") as? Int }
        #expect(indices == [9, 0, 4, 1, 2])
    }

    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func `a new order alone is a change`(type: String) throws {
        let stack = try TestStack(type: type)
        let context = stack.context()
        let note = context.insert("Note")
        let items = (0..<4).map { context.insert("Item", ["index": $0]) }
        note.setValue(NSOrderedSet(array: items), forKey: "items")
        try context.save()
        note.setValue(NSOrderedSet(array: [items[2], items[0], items[3], items[1]]), forKey: "items")
        try context.save()
        #expect(!context.hasChanges)
        let other = stack.context()
        let read = try #require(try other.all("Note").first)
        let members = (read.value(forKey: "items") as? NSOrderedSet)?.array ?? []
        #expect(members.compactMap { ($0 as? NSManagedObject)?.value(forKey: "index") as? Int } == [2, 0, 3, 1])
    }

    @Test func `objects leave the list of changed objects together, and return to it once`() throws {
        let stack = try TestStack()
        let context = stack.context()
        for number in 0..<60 { _ = context.insert("Note", ["count": number]) }
        try context.save()
        let notes = try context.all("Note", sortedBy: "count")
        for note in notes { note.setValue(-1, forKey: "count") }
        context.processPendingChanges()
        for note in notes.prefix(40) { context.refresh(note, mergeChanges: false) }
        #expect(context.changed.count == 20)
        for note in notes.prefix(40) { context.refresh(note, mergeChanges: false) }
        for note in notes.suffix(10) {
            context.refresh(note, mergeChanges: false)
            note.setValue(700, forKey: "count")
        }
        for note in notes.prefix(5) { note.setValue(700, forKey: "count") }
        #expect(context.changed.count == 25)
        #expect(Set(context.changed.map { ObjectIdentifier($0) }).count == 25)
        #expect(context.updatedObjects.count == 25)
        try context.save()
        let reader = stack.context()
        let counts = try reader.all("Note").compactMap { $0.value(forKey: "count") as? Int }
        #expect(counts.filter { $0 == 700 }.count == 15 && counts.filter { $0 == -1 }.count == 10)
    }

    @Test func `metadata that have been set are written by a save without changes`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Notes.sqlite")
        let stack = try TestStack(url: url)
        let store = try #require(stack.coordinator.persistentStores.first)
        var metadata = stack.coordinator.metadata(for: store)
        metadata["mine"] = "yes"
        stack.coordinator.setMetadata(metadata, for: store)
        try stack.context().save()
        let read = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
        #expect(read["mine"] as? String == "yes")
    }

    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
    func `deletion applies the delete rules`(type: String) throws {
        let stack = try TestStack(type: type)
        let context = stack.context()
        let folder = context.insert("Folder", ["name": "root"])
        var parent = folder
        for depth in 0..<2000 {
            let child = context.insert("Folder", ["name": "\(depth)"])
            child.setValue(parent, forKey: "parent")
            parent = child
        }
        let note = context.insert("Note")
        note.setValue(folder, forKey: "folder")
        try context.save()
        context.delete(folder)
        #expect(throws: (any Error).self) { try context.save() }
        context.rollback()
        #expect(try context.all("Folder").count == 2001)
        note.setValue(nil, forKey: "folder")
        context.delete(folder)
        try context.save()
        #expect(try stack.context().all("Folder").isEmpty)
        #expect(try stack.context().all("Note").count == 1)
        #expect(context.brokenInvariants() == [])
    }
}
