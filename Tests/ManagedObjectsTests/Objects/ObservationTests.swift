import Foundation
import Testing

@testable import ManagedObjects

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
        var told: [String] = []
        var observation: NSKeyValueObservation? = note.observe(\.title, options: [.old, .new]) { object, change in
            #expect(object === note)
            told.append("\((change.oldValue ?? nil) ?? "nil") → \((change.newValue ?? nil) ?? "nil")")
        }
        note.title = "two"
        note.setValue("three", forKey: "title")
        note.setValue(7, forKey: "count")
        try context.save()
        note.title = nil
        #expect(told == ["one → two", "two → three", "three → nil"])
        observation?.invalidate()
        note.title = "four"
        observation = nil
        note.title = "five"
        #expect(told.count == 3)
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
