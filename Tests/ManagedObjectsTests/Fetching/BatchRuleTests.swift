import Foundation
import Testing

import class FoundationAdditions.NSExpression
import class FoundationAdditions.NSPredicate

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

@Suite("Batch requests change only what they may", .serialized)
struct BatchRuleTests {
    private func update(_ entity: String, _ values: [AnyHashable: Any]) -> NSBatchUpdateRequest {
        let request = NSBatchUpdateRequest(entityName: entity)
        request.propertiesToUpdate = values
        return request
    }

    private func isRejected(_ request: NSPersistentStoreRequest, _ context: NSManagedObjectContext) -> Bool {
        do {
            _ = try context.execute(request)
            return false
        } catch {
            return (error as NSError).code == 134060
        }
    }

    @Test(arguments: TestStores.sqlTypes) func `a reference is to an object of the destination`(type: String) throws {
        let stack = try TestStack(model: QueryModel.make(), type: type)
        let context = stack.context()
        let (tag, note) = (context.insert("Tag"), context.insert("Note", ["count": 1]))
        _ = context.insert("SpecialItem", ["size": 1])
        try context.save()
        #expect(isRejected(update("Item", ["note": tag.objectID]), context))
        #expect(isRejected(NSBatchInsertRequest(entityName: "Item", objects: [["note": tag]]), context))
        #expect(!isRejected(update("Item", ["note": note]), context))
        let fresh = stack.context()
        let items = try fresh.all("Item")
        #expect(items.map { ($0.value(forKey: "note") as? NSManagedObject)?.objectID } == [note.objectID])
    }

    /// Both rows refer to each other, and a request changes the rows of one entity.
    @Test(arguments: TestStores.sqlTypes) func `a one-to-one relationship is not set`(type: String) throws {
        let stack = try TestStack(model: QueryModel.make(), type: type)
        let context = stack.context()
        let (note, item, other) = (context.insert("Note"), context.insert("Item"), context.insert("Item"))
        note.setValue(item, forKey: "cover")
        try context.save()
        for value in [other as Any, NSNull()] {
            #expect(isRejected(update("Note", ["cover": value]), context), "\(value)")
        }
        #expect(isRejected(update("Item", ["coverOf": note.objectID]), context))
        #expect(isRejected(NSBatchInsertRequest(entityName: "Note", objects: [["cover": other]]), context))
        #expect(isRejected(NSBatchInsertRequest(entityName: "Item", objects: [["coverOf": note]]), context))
        #expect(!isRejected(NSBatchInsertRequest(entityName: "Note", objects: [["cover": NSNull()]]), context))
        let fresh = stack.context()
        let covers = try fresh.all("Note").map { ($0.value(forKey: "cover") as? NSManagedObject)?.objectID }
        #expect(Set(covers) == [item.objectID, nil] && covers.count == 2)
        let owners = try fresh.all("Item").map { ($0.value(forKey: "coverOf") as? NSManagedObject)?.objectID }
        #expect(Set(owners) == [note.objectID, nil] && owners.count == 2)
    }

    // MARK: - Numbers

    @Test(arguments: TestStores.sqlTypes) func `a computed number is in its attribute's range`(type: String) throws {
        let stack = try TestStack(model: QueryModel.make(), type: type)
        let context = stack.context()
        _ = context.insert("Note", ["count": 5, "small": 70, "isPinned": true, "rank": 1.5])
        // Only the rows that the request selects are examined.
        _ = context.insert("Note", ["count": 6, "small": 1000])
        _ = context.insert("Item", ["size": 1 << 20])
        try context.save()
        func expression(_ format: String) -> NSExpression { NSExpression(format: format) }
        let rejected: [(String, String, NSExpression)] = [
            ("Note", "small", expression("small * 1000")), ("Note", "small", expression("count / 2.0")),
            ("Note", "count", expression("count / 2.0")), ("Note", "count", expression("rank")),
            ("Note", "isPinned", expression("count")), ("Note", "isPinned", expression("rank")),
            ("Item", "size", expression("size * 4096")), ("Note", "small", expression("0 - small * 1000")),
        ]
        for (entity, name, value) in rejected {
            #expect(isRejected(update(entity, [name: value]), context), "\(name) = \(value)")
        }
        #expect(isRejected(update("Note", ["small": 70000]), context))
        #expect(isRejected(NSBatchInsertRequest(entityName: "Note", objects: [["small": 70000]]), context))
        func values(_ name: String) throws -> [NSNumber?] {
            let fresh = stack.context()
            return try fresh.all("Note", sortedBy: "count").map { $0.value(forKey: name) as? NSNumber }
        }
        #expect(try values("small") == [70, 1000])
        #expect(try values("count") == [5, 6])
        #expect(try values("isPinned") == [true, nil])

        let accepted = update("Note", ["small": expression("small * 100"), "rank": expression("count / 2.0")])
        accepted.predicate = NSPredicate(format: "small < 100")
        #expect(!isRejected(accepted, context))
        #expect(try values("small") == [7000, 1000])
        #expect(try values("rank") == [2.5, nil])
    }

    /// SQLite stores whole decimals and dates as integers.
    @Test(arguments: TestStores.sqlTypes) func `the quotient of a whole decimal has a fraction`(type: String) throws {
        let stack = try TestStack(model: QueryModel.make(), type: type)
        let context = stack.context()
        _ = context.insert("Note", ["price": NSDecimalNumber(value: 3)])
        try context.save()
        #expect(!isRejected(update("Note", ["price": NSExpression(format: "price / 2")]), context))
        let fresh = stack.context()
        let prices = try fresh.all("Note").map { $0.value(forKey: "price") as? NSDecimalNumber }
        #expect(prices == [NSDecimalNumber(string: "1.5")])
    }

    @Test(arguments: TestStores.sqlTypes) func `derived and transient attributes are not set`(type: String) throws {
        let model = DerivedModel.make()
        let book = try #require(model.entitiesByName["Book"])
        let draft = NotesModel.attribute("draft", .stringAttributeType)
        draft.isTransient = true
        book.properties += [draft]
        let stack = try TestStack(model: model, type: type)
        let context = stack.context()
        _ = context.insert("Book", ["title": "Ä", "pages": 1])
        try context.save()
        for name in ["key", "writerName", "draft"] {
            #expect(isRejected(update("Book", [name: "x"]), context), "\(name)")
            #expect(isRejected(update("Book", [name: NSExpression(format: "title"), "pages": 7]), context), "\(name)")
        }
        let insertion = NSBatchInsertRequest(
            entityName: "Book",
            objects: [["title": "Ö", "pages": 2, "key": "x", "writerName": "x", "draft": "x"]])
        #expect(!isRejected(insertion, context))
        let fresh = stack.context()
        let books = try fresh.all("Book", sortedBy: "pages")
        #expect(books.map { $0.value(forKey: "pages") as? Int } == [1, 2])
        #expect(books.map { $0.value(forKey: "key") as? String } == ["a", "o"])
        #expect(books.map { $0.value(forKey: "writerName") as? String } == [nil, nil])
        #expect(books.map { $0.value(forKey: "draft") as? String } == [nil, nil])
    }

    /// Another transaction changes the row between the beginning of the request and its change.
    @Test(arguments: TestStores.sqlTypes, ["count > 0", "count > 0 AND title.length > 0"])
    func `a row that no longer matches stays`(type: String, format: String) throws {
        try TestStores.withFile { file in
            let stack = try TestStack(
                model: QueryModel.make(), type: type, url: type == NSSQLiteStoreType ? file : TestStores.url(type))
            let context = stack.context()
            for number in 1...3 { _ = context.insert("Note", ["title": "note", "count": number]) }
            try context.save()
            let store = try #require(stack.coordinator.persistentStores.first)
            let coordinator = stack.coordinator
            let (deleted, updated) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            _ = try stack.context().inWriteTransaction(of: store) { own in
                let notes = try own.all("Note", sortedBy: "count")
                for note in notes.prefix(2) { note.setValue(0, forKey: "count") }
                try own.save()
                Thread.detachNewThread {
                    let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Note")
                    fetch.predicate = NSPredicate(format: format)
                    let own = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
                    own.persistentStoreCoordinator = coordinator
                    _ = try? own.execute(NSBatchDeleteRequest(fetchRequest: fetch))
                    deleted.signal()
                }
                Thread.detachNewThread {
                    let request = NSBatchUpdateRequest(entityName: "Note")
                    request.predicate = NSPredicate(format: format)
                    request.propertiesToUpdate = ["body": "changed"]
                    let own = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
                    own.persistentStoreCoordinator = coordinator
                    _ = try? own.execute(request)
                    updated.signal()
                }
                // Long enough for both to read what is committed, and to wait for this transaction.
                Thread.sleep(forTimeInterval: 0.5)
                return true
            }
            deleted.wait()
            updated.wait()
            let fresh = stack.context()
            let notes = try fresh.all("Note")
            #expect(notes.map { $0.value(forKey: "count") as? Int } == [0, 0])
            #expect(notes.map { $0.value(forKey: "body") as? String } == [nil, nil])
        }
    }
}
