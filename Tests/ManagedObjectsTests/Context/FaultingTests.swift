import Foundation
import Testing

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

@Suite("Faults are fulfilled in batches")
struct FaultingTests {
    private let log = StatementLog()

    private func stackOfNotes(_ count: Int) throws -> TestStack {
        let stack = try log.stack()
        let context = stack.context()
        let tags = (0..<20).map { context.insert("Tag", ["name": "tag \($0)"]) }
        for number in 0..<count {
            let note = context.insert("Note", ["title": "note \(number)", "count": number])
            for index in 0..<5 {
                let item = context.insert("Item", ["index": index, "name": "item \(number).\(index)"])
                item.setValue(note, forKey: "note")
                item.setValue(
                    NSSet(array: [tags[(number + index) % 20], tags[(number + index + 7) % 20]]), forKey: "tags")
            }
        }
        try context.save()
        return stack
    }

    @Test func `a plain loop over a thousand notes, their items and tags takes few statements`() throws {
        let stack = try stackOfNotes(1000)
        let context = stack.context()
        var items = 0
        var tags = 0
        let statements = try log.counting {
            for note in try context.all("Note") {
                for case let item as NSManagedObject in (note.value(forKey: "items") as? NSOrderedSet)?.array ?? [] {
                    items += item.value(forKey: "name") == nil ? 0 : 1
                    for case let tag as NSManagedObject in (item.value(forKey: "tags") as? NSSet)?.allObjects ?? [] {
                        tags += tag.value(forKey: "name") == nil ? 0 : 1
                    }
                }
            }
        }
        #expect(items == 5000)
        #expect(tags == 10000)
        #expect(statements.count <= 30, "\(statements.count) statements, such as \(statements.prefix(40))")
    }

    @Test func `a plain loop over items and the titles of their notes takes few statements`() throws {
        let stack = try stackOfNotes(500)
        let context = stack.context()
        var titles: Set<String> = []
        let statements = try log.counting {
            for item in try context.all("Item") {
                let note = item.value(forKey: "note") as? NSManagedObject
                if let title = note?.value(forKey: "title") as? String { titles.insert(title) }
            }
        }
        #expect(titles.count == 500)
        #expect(statements.count <= 8, "\(statements.count) statements")
    }

    @Test func `objects that a loop passes once are released soon, unless they are referenced`() throws {
        let stack = try stackOfNotes(1000)
        let context = stack.context()
        var (most, items) = (0, 0)
        var held: [NSManagedObject] = []
        for note in try context.all("Note", sortedBy: "count") {
            for case let item as NSManagedObject in (note.value(forKey: "items") as? NSOrderedSet)?.array ?? [] {
                items += 1
                if items % 500 == 0 { held.append(item) }
                if items % 501 == 0 { item.setValue("changed", forKey: "name") }
                _ = item.value(forKey: "tags")
            }
            most = max(most, context.registry.count)
        }
        #expect(items == 5000)
        // The notes, which the fetch has returned, the tags, which are reached repeatedly, and the items that were created
        // last.
        #expect(most < 1000 + 20 + 1024 + 100, "\(most) objects at a time")
        #expect(held.map { context.registeredObject(for: $0.objectID) === $0 } == Array(repeating: true, count: 10))
        #expect(context.updatedObjects.count == 9)
        try context.save()
        let changed = NSFetchRequest<NSManagedObject>(entityName: "Item")
        changed.predicate = NSPredicate(format: "name == 'changed'")
        #expect(try stack.context().count(for: changed) == 9)
    }

    @Test func `a second loop over members whose rows were discarded takes few statements`() throws {
        let stack = try stackOfNotes(1000)
        let context = stack.context()
        context.registry.youngLimit = 50
        let notes = try context.all("Note", sortedBy: "count")
        func names() -> Int {
            var count = 0
            for note in notes {
                for case let item as NSManagedObject in (note.value(forKey: "items") as? NSOrderedSet)?.array ?? [] {
                    for case let tag as NSManagedObject in (item.value(forKey: "tags") as? NSSet)?.allObjects ?? [] {
                        count += tag.value(forKey: "name") == nil ? 0 : 1
                    }
                    count += item.value(forKey: "name") == nil ? 0 : 1
                }
            }
            return count
        }
        for _ in 0..<3 {
            var count = 0
            let statements = log.counting { count = names() }
            #expect(count == 15_000)
            // The state after many other rows have been read.
            context.prefetchedRows.removeAll()
            #expect(statements.count <= 60, "\(statements.count) statements, such as \(statements.prefix(40))")
        }
    }

    @Test func `a single access reads one object`() throws {
        let stack = try stackOfNotes(50)
        let context = stack.context()
        let notes = try context.all("Note", sortedBy: "count")
        let statements = log.counting {
            let items = notes[7].value(forKey: "items") as? NSOrderedSet
            #expect(items?.count == 5)
        }
        #expect(statements.count == 1)
    }

    @Test func `prefetched key paths need no statement`() throws {
        let stack = try stackOfNotes(100)
        let context = stack.context()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.relationshipKeyPathsForPrefetching = ["items.tags"]
        let notes = try context.fetch(request)
        let statements = log.counting {
            for note in notes {
                for case let item as NSManagedObject in (note.value(forKey: "items") as? NSOrderedSet)?.array ?? [] {
                    _ = item.value(forKey: "name")
                    for case let tag as NSManagedObject in (item.value(forKey: "tags") as? NSSet)?.allObjects ?? [] {
                        _ = tag.value(forKey: "name")
                    }
                }
            }
        }
        #expect(statements == [])
    }

    @Test func `objects by ID, and refreshed ones, are read together in a loop`() throws {
        let stack = try stackOfNotes(1000)
        let context = stack.context()
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Note")
        request.resultType = .managedObjectIDResultType
        var ids: [NSManagedObjectID] = []
        let fetching = try log.counting { ids = try context.fetch(request) }
        #expect(fetching.map { $0.hasPrefix("SELECT t0.Z_PK, t0.Z_ENT\n") } == [true])
        #expect(context.registeredObjects.isEmpty)
        let notes = ids.map { context.object(with: $0) }
        func titles() -> Int { notes.filter { $0.value(forKey: "title") != nil }.count }
        #expect(log.counting { _ = notes[500].value(forKey: "title") }.count == 1)
        #expect(notes.filter { !$0.isFault }.count == 1)
        let looking = log.counting { #expect(titles() == 1000) }
        #expect(looking.count <= 20, "\(looking.count) statements")
        context.refreshAllObjects()
        let again = log.counting { #expect(titles() == 1000) }
        #expect(again.count <= 20, "\(again.count) statements")
        notes[0].setValue("changed", forKey: "title")
        try context.save()
        let last = log.counting { #expect(titles() == 1000) }
        #expect(last.isEmpty)
    }

    @Test func `objects by ID are read together after many that were made and changed one by one`() throws {
        let stack = try stackOfNotes(1000)
        let context = stack.context()
        let request = NSFetchRequest<NSManagedObjectID>(entityName: "Note")
        request.resultType = .managedObjectIDResultType
        let ids = try context.fetch(request)
        // No other fault is there when these are read, so that searches for faults become short.
        var notes = ids.prefix(500).map { id in
            let note = context.object(with: id)
            note.setValue("changed", forKey: "title")
            return note
        }
        notes += ids.dropFirst(500).map { context.object(with: $0) }
        let statements = log.counting {
            let titles = notes.dropFirst(500).compactMap { $0.value(forKey: "title") as? String }
            #expect(titles.count { $0.hasPrefix("note") } == 500)
        }
        #expect(statements.count <= 12, "\(statements.count) statements")
    }

    @Test func `a loop in a child takes few statements, however many objects there are`() throws {
        let stack = try stackOfNotes(6000)
        let parent = stack.context(.privateQueueConcurrencyType)
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        var items = 0
        let statements = try log.counting {
            try child.performAndWait {
                for note in try child.all("Note", sortedBy: "count") {
                    let members = (note.value(forKey: "items") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
                    items += members.filter { $0.value(forKey: "name") != nil }.count
                }
            }
        }
        #expect(items == 30_000)
        #expect(statements.count <= 60, "\(statements.count) statements")
    }

    @Test func `targets of several entities are read together`() throws {
        let stack = try log.stack()
        let writer = stack.context()
        for number in 0..<200 {
            let note = writer.insert("Note", ["count": number])
            note.setValue(writer.insert(number % 2 == 0 ? "SpecialItem" : "Item", ["index": number]), forKey: "cover")
        }
        try writer.save()
        let context = stack.context()
        var sum = 0
        let statements = try log.counting {
            for note in try context.all("Note", sortedBy: "count") {
                sum += (note.value(forKey: "cover") as? NSManagedObject)?.value(forKey: "index") as? Int ?? 0
            }
        }
        #expect(sum == 19900)
        #expect(statements.count <= 8, "\(statements.count) statements")
    }

    @Test func `an object is one object in a context, however it is reached`() throws {
        let stack = try stackOfNotes(3)
        let context = stack.context()
        let note = try #require(try context.all("Note", sortedBy: "count").first)
        let item = try #require((note.value(forKey: "items") as? NSOrderedSet)?.firstObject as? NSManagedObject)
        #expect(item.value(forKey: "note") as? NSManagedObject === note)
        #expect(context.object(with: note.objectID) === note)
        #expect(try context.existingObject(with: note.objectID) === note)
        #expect(try context.all("Note", sortedBy: "count").first === note)
    }

    @Test func `a missing row is an error or a deleted object, never a trap`() throws {
        let stack = try stackOfNotes(1)
        let context = stack.context()
        let note = try #require(try context.all("Note").first)
        let id = note.objectID
        let other = stack.context()
        let same = try other.existingObject(with: id)
        context.delete(note)
        try context.save()
        other.refresh(same, mergeChanges: false)
        #expect(same.value(forKey: "title") == nil)
        #expect(throws: CocoaError.self) { try stack.context().existingObject(with: id) }
    }

    @Test func `a context that fetches one page after another releases the earlier ones`() throws {
        let stack = try TestStack()
        let filling = stack.context()
        for number in 0..<20_000 { _ = filling.insert("Tag", ["name": "\(number)"]) }
        try filling.save()
        let context = stack.context()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        request.sortDescriptors = [NSSortDescriptor(key: "objectID", ascending: true)]
        request.fetchLimit = 500
        var kept: [NSManagedObject] = []
        var most = 0
        for page in 0..<40 {
            request.fetchOffset = page * 500
            let tags = try context.fetch(request)
            #expect(tags.count == 500)
            kept.append(tags[page])
            most = max(most, context.registry.count)
        }
        // The smallest number of objects at which a context is swept, and a page.
        #expect(most <= 4096 + 500)
        request.fetchOffset = 0
        #expect(try context.fetch(request)[0] === kept[0])
        #expect(kept.enumerated().allSatisfy { $1.value(forKey: "name") as? String == "\($0 * 500 + $0)" })
    }
}
