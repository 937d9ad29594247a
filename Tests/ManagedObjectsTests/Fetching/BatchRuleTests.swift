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
        let (tag, item, special) = (context.insert("Tag"), context.insert("Item"), context.insert("SpecialItem"))
        _ = context.insert("Note", ["count": 1])
        try context.save()
        #expect(isRejected(update("Note", ["cover": tag.objectID]), context))
        #expect(isRejected(NSBatchInsertRequest(entityName: "Note", objects: [["cover": tag]]), context))
        for object in [item, special] {
            #expect(!isRejected(update("Note", ["cover": object]), context))
            let fresh = stack.context()
            let notes = try fresh.all("Note")
            #expect(notes.map { ($0.value(forKey: "cover") as? NSManagedObject)?.objectID } == [object.objectID])
        }
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
