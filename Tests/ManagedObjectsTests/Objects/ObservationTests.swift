import Foundation
import Observation
import Synchronization
import Testing

@testable import EngineTesting

@testable import FollowedResults
@testable import FoundationAdditions
@testable import ManagedObjects
@testable import SQLStores

/// A class as it is generated, with one property.
private final class ObservedNote: NSManagedObject {
    private static let titleProperty = ManagedProperty<String?>("title")
    var title: String? {
        get { Self.titleProperty[self] }
        set { Self.titleProperty[self] = newValue }
    }
}

@Suite("Properties are observed")
struct ObservationTests {
    private func note() throws -> (NSManagedObjectContext, ObservedNote) {
        KeyPathRegistry.register(\ObservedNote.title, as: "title")
        let model = NotesModel.make()
        model.entitiesByName["Note"]?.managedObjectClassName = String(reflecting: ObservedNote.self)
        let context = try TestStack(model: model).context()
        ManagedObjectClasses.shared.register(ObservedNote.self)
        return (context, try #require(context.insert("Note", ["title": "one"]) as? ObservedNote))
    }

    @Test func `by key path, with old and new values`() throws {
        let (context, note) = try note()
        var observed: [String] = []
        var observation: NSKeyValueObservation? = note.observe(\.title, options: [.old, .new]) { object, change in
            #expect(object === note)
            observed.append("\((change.oldValue ?? nil) ?? "nil") → \((change.newValue ?? nil) ?? "nil")")
        }
        note.title = "two"
        note.setValue("three", forKey: "title")
        note.setValue(7, forKey: "count")
        try context.save()
        note.title = nil
        #expect(observed == ["one → two", "two → three", "three → nil"])
        observation?.invalidate()
        note.title = "four"
        observation = nil
        note.title = "five"
        #expect(observed.count == 3)
    }

    @Test func `from the other side of a relationship, and by undo`() throws {
        let (context, note) = try note()
        var count = 0
        let items = note.observe(key: "items") { _, _ in count += 1 }
        let item = context.insert("Item")
        item.setValue(note, forKey: "note")
        #expect(count == 1)
        context.undoManager = UndoManager()
        var titles: [String?] = []
        let title = note.observe(\.title, options: [.new, .initial]) { _, change in
            titles.append(change.newValue ?? nil)
        }
        note.title = "two"
        context.processPendingChanges()
        context.undo()
        #expect(titles == ["one", "two", "one"])
        withExtendedLifetime((items, title)) {}
    }

    @Test func `after the object has left its context and has come back by undo`() throws {
        let (context, _) = try note()
        try context.save()
        let manager = UndoManager()
        manager.groupsByEvent = false
        context.undoManager = manager
        func step<Result>(_ work: () throws -> Result) rethrows -> Result {
            manager.beginUndoGrouping()
            defer { manager.endUndoGrouping() }
            let result = try work()
            context.processPendingChanges()
            return result
        }
        let note = try step { try #require(context.insert("Note", ["title": "a"]) as? ObservedNote) }
        var titles: [String?] = []
        let observation = note.observe(\.title, options: .new) { _, change in titles.append(change.newValue ?? nil) }
        context.undo()
        #expect(note.managedObjectContext == nil)
        context.redo()
        #expect(note.managedObjectContext === context)
        titles = []
        note.title = "b"
        #expect(titles == ["b"])
        try context.save()
        manager.removeAllActions()
        step { context.delete(note) }
        try context.save()
        #expect(note.managedObjectContext == nil)
        context.undo()
        #expect(note.managedObjectContext === context)
        titles = []
        note.title = "c"
        #expect(titles == ["c"])
        withExtendedLifetime(observation) {}
    }

    /// Nothing announces changes of Foundation's progress: the values are compared at intervals, so the test waits for calls.
    @Test func `of Foundation's progress`() async throws {
        let progress = Progress(totalUnitCount: 4)
        let (changes, continuation) = AsyncStream<[Double?]>.makeStream()
        let observation = progress.observe(\.fractionCompleted, options: [.initial, .old, .new]) { _, change in
            continuation.yield([change.oldValue, change.newValue])
        }
        var iterator = changes.makeAsyncIterator()
        #expect(await iterator.next() == [nil, 0])
        progress.completedUnitCount = 1
        #expect(await iterator.next() == [0, 0.25])
        progress.completedUnitCount = 4
        observation.invalidate()
        #expect(await iterator.next() == [0.25, 1])
        progress.completedUnitCount = 3
        observation.invalidate()
        continuation.finish()
        #expect(await iterator.next() == nil)
    }

    @Test func `as a sequence of values`() async throws {
        let (context, note) = try note()
        var values = note.values(of: \.title).makeAsyncIterator()
        note.title = "two"
        note.title = "three"
        #expect(await values.next() == "one")
        #expect(await values.next() == "two")
        #expect(await values.next() == "three")
        withExtendedLifetime(context) {}
    }
}

@Suite("Swift's Observation")
struct SwiftObservationTests {
    /// Counts changes, observing again after each as a view does.
    private final class Counter: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }

    private func changes(_ read: () -> Void, _ change: () throws -> Void) rethrows -> Int {
        let counter = Counter()
        withObservationTracking(read) { counter.add() }
        try change()
        return counter.value
    }

    private func stack() throws -> (NSManagedObjectContext, ObservedNote) {
        let model = NotesModel.make()
        model.entitiesByName["Note"]?.managedObjectClassName = String(reflecting: ObservedNote.self)
        let context = try TestStack(model: model).context()
        ManagedObjectClasses.shared.register(ObservedNote.self)
        return (context, try #require(context.insert("Note", ["title": "one"]) as? ObservedNote))
    }

    @Test func `observers of a property are notified of every kind of change`() throws {
        let (context, note) = try stack()
        context.isObservable = true
        context.undoManager = UndoManager()
        try context.save()
        #expect(changes({ _ = note.title }, { note.title = "two" }) == 1)
        #expect(changes({ _ = note.title }, { note.setValue("three", forKey: "title") }) == 1)
        #expect(changes({ _ = note.value(forKey: "title") }, { note.title = "four" }) == 1)
        context.processPendingChanges()
        #expect(changes({ _ = note.title }, { context.undo() }) == 1)
        #expect(changes({ _ = note.title }, { context.refresh(note, mergeChanges: false) }) == 1)
        #expect(
            changes({ _ = note.value(forKey: "items") }, { context.insert("Item").setValue(note, forKey: "note") }) == 1
        )
        let other = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        context.rollback()
        let merged = try changes({ _ = note.title }) {
            try other.existingObject(with: note.objectID).setValue("five", forKey: "title")
            try other.save()
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectsKey: [note.objectID]], into: [context])
        }
        #expect(merged == 1)
        #expect(note.title == "five")
    }

    @Test func `properties that were not read, or are not observable, do not notify`() throws {
        let (context, note) = try stack()
        #expect(changes({ _ = note.title }, { note.title = "two" }) == 0)
        context.isObservable = true
        // Two properties have the same hash with a probability of 1 in 4096.
        let notes = (0..<50).map { _ in context.insert("Note") }
        let needless = notes.map { note in
            changes({ _ = note.value(forKey: "title") }, { note.setValue(3, forKey: "count") })
        }
        #expect(needless.reduce(0, +) < 3)
        #expect(changes({}, { note.title = "three" }) == 0)
    }
}
