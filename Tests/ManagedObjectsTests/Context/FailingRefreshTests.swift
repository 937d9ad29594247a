import Foundation
import Testing

@testable import EngineTesting

@testable import ManagedObjects

/// What an error of a refresh or a merge leaves, beyond the objects themselves.
@Suite struct FailingRefreshTests {
    private func titles(_ context: NSManagedObjectContext) throws -> [String?] {
        try context.all("Note", sortedBy: "title").map { $0.value(forKey: "title") as? String }
    }

    /// An object that has left the list of changed objects is listed again by its next change, although work in between has failed.
    @Test func `a change after a failed refresh of another object is saved`() throws {
        let stack = try TestStack()
        let store = try FailingStore.replacing(of: stack.coordinator)
        let context = stack.context()
        let (first, second) = (context.insert("Note", ["title": "a"]), context.insert("Note", ["title": "b"]))
        try context.save()
        first.setValue("1", forKey: "title")
        context.refresh(first, mergeChanges: false)
        second.setValue("2", forKey: "title")
        store.failing(at: 1) { context.refresh(second, mergeChanges: true) }
        #expect(second.value(forKey: "title") as? String == "2")
        #expect(context.brokenInvariants() == [])
        first.setValue("3", forKey: "title")
        #expect(context.brokenInvariants() == [])
        try context.save()
        #expect(try titles(stack.context()) == ["2", "3"])
    }

    @Test func `a change after a failed refresh of the object itself is saved`() throws {
        let stack = try TestStack()
        let store = try FailingStore.replacing(of: stack.coordinator)
        let context = stack.context()
        let note = context.insert("Note", ["title": "a"])
        try context.save()
        note.setValue("1", forKey: "title")
        context.refresh(note, mergeChanges: false)
        #expect(note.value(forKey: "title") as? String == "a")
        store.failing(at: 1) { context.refresh(note, mergeChanges: true) }
        #expect(context.brokenInvariants() == [])
        note.setValue("2", forKey: "title")
        #expect(context.brokenInvariants() == [])
        try context.save()
        #expect(try titles(stack.context()) == ["2"])
    }
}
