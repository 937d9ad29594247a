import Foundation
import Testing

@testable import EngineTesting

@testable import FollowedResults
@testable import FoundationAdditions
@testable import ManagedObjects

/// The statements that a results controller executes.
@Suite("A results controller executes statements only if the store must be queried")
struct ResultsStatementTests {
    private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
        var changes = 0
        func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
            changes += 1
        }
    }

    private func controller(
        _ context: NSManagedObjectContext, sortedBy key: String = "title", _ predicate: String = "count >= 0"
    ) -> NSFetchedResultsController<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: predicate)
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        return NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    }

    private func fill(_ context: NSManagedObjectContext, _ count: Int) throws -> [NSManagedObject] {
        let notes = (0..<count).map { context.insert("Note", ["title": String(format: "%05d", $0), "count": $0]) }
        try context.save()
        return notes
    }

    @Test func `a save that changes ten objects costs the same as without a controller`() throws {
        func statements(following: Bool) throws -> (count: Int, changes: Int, last: String?) {
            let log = StatementLog()
            let context = try log.stack().context()
            let writer = try fill(context, 10_000)
            context.reset()
            let results = controller(context)
            let listener = Listener()
            if following { results.delegate = listener }
            try results.performFetch()
            let notes = try #require(results.fetchedObjects)
            let run = try log.counting {
                for (index, note) in notes.prefix(10).enumerated() {
                    note.setValue(index < 5 ? "z\(index)" : String(format: "%05d", index), forKey: "title")
                }
                context.delete(notes[500])
                _ = context.insert("Note", ["title": "00700a", "count": 1])
                try context.save()
            }
            _ = writer
            return (run.count, listener.changes, results.fetchedObjects?.last?.value(forKey: "title") as? String)
        }
        let alone = try statements(following: false)
        let followed = try statements(following: true)
        #expect(followed.count == alone.count)
        #expect(followed.changes == 1)
        #expect(followed.last == "z4")
    }

    @Test func `a change of an object within a limit executes no statement`() throws {
        let log = StatementLog()
        let context = try log.stack().context()
        let notes = try fill(context, 100)
        let results = controller(context)
        results.fetchRequest.fetchLimit = 50
        let listener = Listener()
        results.delegate = listener
        try results.performFetch()
        let inside = log.counting {
            notes[7].setValue(1000, forKey: "count")
            notes[9].setValue("00020a", forKey: "title")
            _ = context.insert("Note", ["title": "00030a", "count": 1])
            notes[90].setValue("00099a", forKey: "title")
            context.processPendingChanges()
        }
        #expect(inside.isEmpty, "\(inside)")
        #expect(results.fetchedObjects?.last === notes[48])
        #expect(results.fetchedObjects == (try context.fetch(results.fetchRequest)))
        // One object fewer: the next one is in the store.
        let fewer = log.counting {
            context.delete(notes[0])
            context.processPendingChanges()
        }
        #expect(fewer.count { $0.contains("LIMIT") } == 1, "\(fewer)")
        #expect(results.fetchedObjects?.last === notes[49])
        #expect(listener.changes == 2)
    }

    @Test func `a change of an own attribute beside a condition on other objects executes no statement`() throws {
        let log = StatementLog()
        let context = try log.stack().context()
        let folder = context.insert("Folder", ["name": "a"])
        let notes = try fill(context, 20)
        for note in notes { note.setValue(folder, forKey: "folder") }
        try context.save()
        let results = controller(context, "folder.name == 'a' AND count < 10")
        let listener = Listener()
        results.delegate = listener
        try results.performFetch()
        let run = log.counting {
            notes[3].setValue(30, forKey: "count")
            notes[4].setValue("0", forKey: "title")
            context.processPendingChanges()
        }
        #expect(run.isEmpty, "\(run)")
        #expect(results.fetchedObjects?.count == 9 && results.fetchedObjects?.first === notes[4])
    }

    @Test func `saves of other contexts are read with one statement`() throws {
        let log = StatementLog()
        let stack = try log.stack()
        let context = stack.context()
        let other = stack.context()
        let results = controller(context, "count < 50")
        let listener = Listener()
        results.delegate = listener
        try results.performFetch()
        _ = try fill(other, 100)
        let run = try log.counting {
            let ids = try other.all("Note").map(\.objectID)
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSInsertedObjectsKey: ids], into: [context])
        }
        #expect(results.fetchedObjects?.count == 50)
        // One of them is the other context's own fetch.
        #expect(run.count == 2, "\(run)")
    }

    @Test func `an object that begins to match in another context is found`() throws {
        let stack = try TestStack()
        let context = stack.context()
        let other = stack.context()
        let notes = try fill(other, 10)
        let results = controller(context, "count > 100")
        let listener = Listener()
        results.delegate = listener
        try results.performFetch()
        #expect(results.fetchedObjects?.isEmpty == true)
        notes[3].setValue(101, forKey: "count")
        context.automaticallyMergesChangesFromParent = true
        try other.save()
        #expect(results.fetchedObjects?.map(\.objectID) == [notes[3].objectID])
    }

    @Test func `a predicate with a relationship is evaluated by the store again`() throws {
        let stack = try TestStack()
        let context = stack.context()
        let folder = context.insert("Folder", ["name": "a"])
        let notes = try fill(context, 3)
        notes[1].setValue(folder, forKey: "folder")
        try context.save()
        let results = controller(context, "folder.name == 'b'")
        let listener = Listener()
        results.delegate = listener
        try results.performFetch()
        #expect(results.fetchedObjects?.isEmpty == true)
        folder.setValue("b", forKey: "name")
        context.processPendingChanges()
        // The store has the old name until the save, so a fetch finds nothing either.
        #expect(try context.fetch(results.fetchRequest).isEmpty)
        #expect(results.fetchedObjects?.isEmpty == true)
        try context.save()
        #expect(results.fetchedObjects == [notes[1]])
        #expect(listener.changes == 1)
        folder.setValue("c", forKey: "name")
        context.processPendingChanges()
        #expect(results.fetchedObjects?.isEmpty == true)
        try context.save()
        #expect(results.fetchedObjects?.isEmpty == true)
        #expect(listener.changes == 2)
    }

    @Test func `a limit and an offset are kept`() throws {
        let context = try TestStack().context()
        let notes = try fill(context, 10)
        let results = controller(context)
        results.fetchRequest.fetchLimit = 3
        results.fetchRequest.fetchOffset = 1
        let listener = Listener()
        results.delegate = listener
        try results.performFetch()
        #expect(results.fetchedObjects == Array(notes[1...3]))
        context.delete(notes[2])
        context.processPendingChanges()
        #expect(results.fetchedObjects == [notes[1], notes[3], notes[4]])
        _ = context.insert("Note", ["title": "0", "count": 1])
        context.processPendingChanges()
        #expect(results.fetchedObjects == [notes[0], notes[1], notes[3]])
    }

    @Test func `sections that become unordered make the results unavailable until the next fetch`() throws {
        let context = try TestStack().context()
        let notes = try fill(context, 4)
        for (note, rank) in zip(notes, [1.0, 1, 2, 2]) { note.setValue(rank, forKey: "rank") }
        try context.save()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        let results = NSFetchedResultsController(
            fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "rank", cacheName: nil)
        let listener = Listener()
        results.delegate = listener
        try results.performFetch()
        #expect(results.sections?.map(\.name) == ["1", "2"])
        notes[0].setValue(2.0, forKey: "rank")
        context.processPendingChanges()
        #expect(results.sections == nil)
        #expect(results.fetchedObjects == nil)
        notes[0].setValue(1.0, forKey: "rank")
        try results.performFetch()
        #expect(results.sections?.map(\.numberOfObjects) == [2, 2])
    }

    @Test func `a batch size leaves rows in the store until they are accessed`() throws {
        let log = StatementLog()
        let context = try log.stack().context()
        _ = try fill(context, 1000)
        context.reset()
        let results = controller(context)
        results.fetchRequest.fetchBatchSize = 20
        let listener = Listener()
        results.delegate = listener
        let fetched = try log.counting { try results.performFetch() }
        #expect(fetched.count == 1)
        let notes = try #require(results.fetchedObjects)
        notes[500].setValue("00499a", forKey: "title")
        context.processPendingChanges()
        #expect(results.fetchedObjects?[500] === notes[500])
        #expect(listener.changes == 1)
    }

    // MARK: - Cached sections

    @Test func `cached sections are used for the same rows only`() throws {
        let stack = try TestStack()
        let context = stack.context()
        let notes = try fill(context, 6)
        for (index, note) in notes.enumerated() { note.setValue(Double(index / 3), forKey: "rank") }
        try context.save()
        context.reset()
        func names(_ predicate: String) throws -> [String] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(format: predicate)
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let results = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: stack.context(), sectionNameKeyPath: "rank",
                cacheName: "notes")
            try results.performFetch()
            return (results.sections ?? []).map { "\($0.name): \($0.numberOfObjects)" }
        }
        NSFetchedResultsController<NSManagedObject>.deleteCache(withName: nil)
        #expect(try names("TRUEPREDICATE") == ["0: 3", "1: 3"])
        #expect(try names("TRUEPREDICATE") == ["0: 3", "1: 3"])
        // With another predicate the cache does not match.
        #expect(try names("count > 1") == ["0: 1", "1: 3"])
        let first = try #require(try context.all("Note", sortedBy: "title").first)
        first.setValue(-1.0, forKey: "rank")
        try context.save()
        #expect(try names("TRUEPREDICATE") == ["-1: 1", "0: 2", "1: 3"])
        NSFetchedResultsController<NSManagedObject>.deleteCache(withName: "notes")
        #expect(try names("TRUEPREDICATE") == ["-1: 1", "0: 2", "1: 3"])
    }
}
