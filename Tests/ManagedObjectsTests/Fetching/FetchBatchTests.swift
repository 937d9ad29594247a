import Foundation
import Testing

@testable import EngineTesting

@testable import FollowedResults
@testable import FoundationAdditions
@testable import ManagedObjects

@Suite("A fetch with a batch size reads rows batch by batch")
struct FetchBatchTests {
    private let log = StatementLog()

    private func stackOfNotes(_ count: Int) throws -> TestStack {
        let stack = try log.stack()
        let context = stack.context()
        for number in 0..<count {
            // The order of primary keys is the reverse of the order of the results.
            let note = context.insert("Note", ["title": "note \(number)", "count": count - number])
            for index in 0..<2 {
                let entity = index == 0 ? "Item" : "SpecialItem"
                let item = context.insert(entity, ["index": index, "name": "item \(number).\(index)"])
                item.setValue(note, forKey: "note")
            }
        }
        try context.save()
        return stack
    }

    private func request(_ entity: String = "Note", by key: String = "count", size: Int) -> NSFetchRequest<
        NSManagedObject
    > {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        request.fetchBatchSize = size
        return request
    }

    private func counts(of notes: [NSManagedObject]) -> [Int] {
        notes.map { $0.value(forKey: "count") as? Int ?? -1 }
    }

    @Test func `the fetch reads keys, and each batch is a statement`() throws {
        let stack = try stackOfNotes(100)
        let context = stack.context()
        var notes: [NSManagedObject] = []
        let fetching = try log.counting { notes = try context.fetch(request(size: 20)) }
        #expect(fetching.count == 1)
        #expect(fetching.first?.hasPrefix("SELECT t0.Z_PK, t0.Z_ENT\n") == true)
        #expect(notes.count == 100)
        #expect(notes.allSatisfy { $0.isFault })
        let looking = log.counting { #expect(counts(of: [notes[45], notes[59], notes[40]]) == [46, 60, 41]) }
        #expect(looking.count == 1)
        let walking = log.counting { #expect(counts(of: notes) == Array(1...100)) }
        #expect(walking.count == 4)
    }

    @Test func `objects of former batches release their rows, unless they are referenced`() throws {
        let stack = try stackOfNotes(1000)
        let context = stack.context()
        let notes = try context.fetch(request(size: 10))
        let held = notes[3]
        notes[5].setValue("changed", forKey: "title")
        #expect(held.value(forKey: "title") as? String == "note 996")
        for note in notes { _ = note.value(forKey: "title") }
        #expect(!held.isFault)
        #expect(notes.filter { !$0.isFault }.count <= 42)
        let pages = Dictionary(
            notes.compactMap { note in note.originSlot < 0 ? note.page.map { (ObjectIdentifier($0), $0) } : nil },
            uniquingKeysWith: { $1 }
        ).values
        #expect(pages.count <= 5)
        #expect(pages.reduce(0) { $0 + $1.byteCount } < 50 * 1024)
        // They can be read again.
        let again = log.counting { #expect(counts(of: notes) == Array(1...1000)) }
        #expect(again.count <= 100)
        #expect(context.updatedObjects == [notes[5]])
        try context.save()
        #expect(try stack.context().count(for: matching("title == 'changed'")) == 1)
    }

    private func matching(_ format: String) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: format)
        return request
    }

    @Test func `batches follow the results, whatever their entities and positions are`() throws {
        let stack = try stackOfNotes(60)
        let context = stack.context()
        let items = try context.fetch(request("Item", by: "name", size: 16))
        let names = try context.fetch(request("Item", by: "name", size: 0)).map { $0.value(forKey: "name") as? String }
        var found: [String?] = []
        let other = stack.context()
        let same = try other.fetch(request("Item", by: "name", size: 16))
        let statements = log.counting { found = same.map { $0.value(forKey: "name") as? String } }
        #expect(found == names)
        #expect(items.map { $0.objectID } == same.map { $0.objectID })
        #expect(statements.count == 8)
    }

    @Test func `relationships of a batch come with few statements, and with none where they are prefetched`() throws {
        let stack = try stackOfNotes(100)
        func names(_ notes: [NSManagedObject]) -> Int {
            notes.reduce(0) { sum, note in
                let items = (note.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
                return sum + items.filter { $0.value(forKey: "name") != nil }.count
            }
        }
        let loose = stack.context()
        let plain = try loose.fetch(request(size: 25))
        let loop = log.counting { #expect(names(plain) == 200) }
        #expect(loop.count <= 12, "\(loop.count) statements")

        let wanted = request(size: 25)
        wanted.relationshipKeyPathsForPrefetching = ["items.tags"]
        let context = stack.context()
        let notes = try context.fetch(wanted)
        _ = notes[0].value(forKey: "title")
        let inside = log.counting { #expect(names(Array(notes[..<25])) == 50) }
        #expect(inside.isEmpty)

        wanted.relationshipKeyPathsForPrefetching = ["pages"]
        #expect(throws: CocoaError.self) { try context.fetch(wanted) }
    }

    @Test func `unsaved objects are found, in order`() throws {
        let stack = try stackOfNotes(20)
        let context = stack.context()
        let first = try #require(try context.fetch(request(size: 0)).first)
        first.setValue(15, forKey: "count")
        first.setValue("moved", forKey: "title")
        _ = context.insert("Note", ["title": "new", "count": 3])
        let notes = try context.fetch(request(size: 4))
        #expect(counts(of: notes) == [2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 15, 16, 17, 18, 19, 20])
        let limited = request(size: 4)
        limited.fetchOffset = 1
        limited.fetchLimit = 6
        #expect(counts(of: try context.fetch(limited)) == [3, 3, 4, 5, 6, 7])
        limited.includesPendingChanges = false
        #expect(try context.fetch(limited).count == 6)
        // Unsaved changes of other entities do not prevent batches.
        context.rollback()
        _ = context.insert("Tag", ["name": "new"])
        let fetching = try log.counting { _ = try context.fetch(request(size: 4)) }
        #expect(fetching.first?.hasPrefix("SELECT t0.Z_PK, t0.Z_ENT\n") == true)
    }

    @Test func `without property values only keys are read`() throws {
        let stack = try stackOfNotes(50)
        let context = stack.context()
        let keys = request(size: 0)
        keys.includesPropertyValues = false
        var notes: [NSManagedObject] = []
        let fetching = try log.counting { notes = try context.fetch(keys) }
        #expect(fetching.map { $0.hasPrefix("SELECT t0.Z_PK, t0.Z_ENT\n") } == [true])
        let reading = log.counting { #expect(counts(of: notes) == Array(1...50)) }
        #expect(reading.count == 1)
    }

    @Test func `objects are realised batch by batch on request`() throws {
        let stack = try stackOfNotes(30)
        let context = stack.context()
        let wanted = request(size: 10)
        wanted.returnsObjectsAsFaults = false
        let notes = try context.fetch(wanted)
        _ = notes[12].value(forKey: "title")
        #expect(notes.map { !$0.isFault } == (0..<30).map { (10..<20).contains($0) })
    }

    @Test func `a child's batches are its parent's`() throws {
        let stack = try stackOfNotes(200)
        let parent = stack.context(.privateQueueConcurrencyType)
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        try child.performAndWait {
            let notes = try child.fetch(request(size: 20))
            let walking = log.counting { #expect(counts(of: notes) == Array(1...200)) }
            #expect(walking.count == 10)
            #expect(notes.filter { !$0.isFault }.count <= 80)
            #expect(parent.performAndWait { parent.registeredObjects.filter { !$0.isFault }.count } <= 80)
        }
    }

    @Test func `rows that are deleted or changed when their batch is read`() throws {
        let stack = try stackOfNotes(30)
        let context = stack.context()
        let notes = try context.fetch(request(size: 10))
        let other = stack.context()
        let others = try other.fetch(request(size: 0))
        other.delete(others[4])
        others[5].setValue("newer", forKey: "title")
        try other.save()
        #expect(notes[5].value(forKey: "title") as? String == "newer")
        #expect(notes[4].value(forKey: "title") == nil)
        #expect(notes[4].isDeleted)
        context.refreshAllObjects()
        let again = log.counting { #expect(notes[25].value(forKey: "title") as? String == "note 4") }
        #expect(again.count == 1)
    }
}
