import Foundation
import Testing

@testable import EngineTesting

@testable import FollowedResults
@testable import FoundationAdditions
@testable import ManagedObjects

/// A save changes derived attributes, also those of objects that it does not write. All contexts and all results are updated.
@Suite("Results that depend on derived attributes", .timeLimit(.minutes(20)))
struct DerivedResultsTests {
    private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
        var log: [String] = []

        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
            at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) {
            let kind = [1: "insert", 2: "delete", 3: "move", 4: "update"][type.rawValue] ?? "?"
            log.append("\(kind) \(indexPath.map { "\($0.item)" } ?? "-") \(newIndexPath.map { "\($0.item)" } ?? "-")")
        }

        func take() -> [String] {
            defer { log = [] }
            return log
        }
    }

    private func results(
        _ entity: String, by key: String, where format: String, in context: NSManagedObjectContext
    ) throws -> (NSFetchedResultsController<NSManagedObject>, Listener) {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: format)
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        let results = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        let listener = Listener()
        results.delegate = listener
        try results.performFetch()
        return (results, listener)
    }

    private func number(_ object: NSManagedObject, _ key: String) -> Int? {
        (object.value(forKey: key) as? NSNumber)?.intValue
    }

    @Test func `an object's own derived attributes order it after a save`() throws {
        let context = try TestStack(model: DerivedModel.make()).context()
        let books = ["b", "d"].map { context.insert("Book", ["title": $0]) }
        try context.save()
        let (results, listener) = try results("Book", by: "key", where: "key < 'z'", in: context)
        #expect(results.fetchedObjects == books)
        books[0].setValue("E", forKey: "title")
        let new = context.insert("Book", ["title": "A"])
        try context.save()
        #expect(results.fetchedObjects == [new, books[1], books[0]])
        books[1].setValue("Z", forKey: "title")
        try context.save()
        #expect(results.fetchedObjects == [new, books[0]])
        #expect(results.fetchedObjects == (try context.fetch(results.fetchRequest)))
        withExtendedLifetime(listener) {}
    }

    @Test func `objects that the save does not write are moved and updated, with no further statement`() throws {
        let log = StatementLog()
        let stack = try log.stack(model: DerivedModel.make())
        let context = stack.context()
        let writers = ["a", "b", "c"].map { context.insert("Writer", ["name": $0]) }
        for (writer, count) in zip(writers, [1, 2, 3]) {
            for _ in 0..<count { context.insert("Book").setValue(writer, forKey: "writer") }
        }
        try context.save()
        func statements(following: Bool) throws -> (count: Int, log: [String]) {
            let context = stack.context()
            let (results, listener) = try results("Writer", by: "count", where: "count > 0", in: context)
            if !following { results.delegate = nil }
            let writers = try #require(results.fetchedObjects)
            let run = try log.counting {
                for _ in 0..<3 { context.insert("Book").setValue(writers[0], forKey: "writer") }
                context.insert("Book").setValue(writers[2], forKey: "writer")
                try context.save()
            }
            if following {
                #expect(results.fetchedObjects == (try context.fetch(results.fetchRequest)))
                // The computed values are part of the rows: there is nothing to save.
                for writer in writers { #expect(writer.changedValues().isEmpty && !writer.hasPersistentChangedValues) }
            }
            return (run.count, listener.take())
        }
        let alone = try statements(following: false)
        let followed = try statements(following: true)
        #expect(alone.log.isEmpty)
        #expect(followed.count == alone.count)
        // The first event reports the changed relationship, the second one the computed values.
        #expect(followed.log.contains("move 0 1") || followed.log.contains("move 1 0"), "\(followed.log)")
    }

    @Test func `unregistered objects are inserted when their derived attributes match`() throws {
        let stack = try TestStack(model: DerivedModel.make())
        let other = stack.context()
        let writer = other.insert("Writer", ["name": "a"])
        let book = other.insert("Book")
        try other.save()
        let context = stack.context()
        let (results, listener) = try results("Writer", by: "count", where: "count > 0", in: context)
        #expect(results.fetchedObjects?.isEmpty == true)
        let own = try context.existingObject(with: book.objectID)
        own.setValue(try context.existingObject(with: writer.objectID), forKey: "writer")
        try context.save()
        #expect(results.fetchedObjects?.map(\.objectID) == [writer.objectID])
        withExtendedLifetime(listener) {}
    }

    @Test func `other contexts merge derived attributes of objects that the save has not written`() throws {
        let stack = try TestStack(model: DerivedModel.make())
        let context = stack.context()
        let other = stack.context()
        let writer = context.insert("Writer", ["name": "a"])
        try context.save()
        let same = try other.existingObject(with: writer.objectID)
        #expect(number(same, "count") == 0)
        other.automaticallyMergesChangesFromParent = true
        let (results, listener) = try results("Writer", by: "count", where: "count > 0", in: other)
        context.insert("Book", ["pages": 3]).setValue(writer, forKey: "writer")
        try context.save()
        #expect(number(writer, "count") == 1 && number(writer, "pages") == 3)
        #expect(number(same, "count") == 1 && number(same, "pages") == 3)
        #expect(results.fetchedObjects == [same])
        // A computed value is no unsaved change, which a merge would keep.
        other.insert("Book", ["pages": 4]).setValue(same, forKey: "writer")
        let observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: other, queue: nil
        ) { [unowned(unsafe) context] in context.mergeChanges(fromContextDidSave: $0) }
        defer { NotificationCenter.default.removeObserver(observer) }
        try other.save()
        #expect(number(writer, "count") == 2 && number(writer, "pages") == 7)
        withExtendedLifetime(listener) {}
    }

    @Test func `another coordinator's save is followed though it changes no version`() async throws {
        let folder = try StoreFolder()
        let context = try TestStack(model: DerivedModel.make(), url: folder.url)
            .context(.privateQueueConcurrencyType)
        let id = try await context.perform {
            let writer = context.insert("Writer", ["name": "a"])
            try context.save()
            return writer.objectID.uriRepresentation()
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Writer")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        var counts = context.results(of: request) { ($0.value(forKey: "count") as? NSNumber)?.intValue ?? 0 }
            .makeAsyncIterator()
        #expect(try await counts.next() == [0])
        var sums = context.aggregates(.sum, of: "count", over: request).makeAsyncIterator()
        #expect(try await sums.next() == .some(0))
        let stranger = try TestStack(model: DerivedModel.make(), url: folder.url)
            .context(.privateQueueConcurrencyType)
        try await stranger.perform {
            let id = try #require(
                stranger.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: id))
            stranger.insert("Book").setValue(try stranger.existingObject(with: id), forKey: "writer")
            try stranger.save()
        }
        #expect(try await counts.next() == [1])
        #expect(try await sums.next() == .some(1))
    }
}
