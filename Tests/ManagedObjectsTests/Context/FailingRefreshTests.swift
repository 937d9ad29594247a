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

    /// A merge reads the newest state. If it fails before it has changed an object, the context reads its own state still.
    @Test func `a failed merge leaves a pinned context at its state`() throws {
        try TestStores.withFile { url in
            let stack = try TestStack(url: url)
            let store = try FailingStore.replacing(of: stack.coordinator)
            let (context, other) = (stack.context(), stack.context())
            let note = other.insert("Note", ["title": "a"])
            try other.save()
            try context.setQueryGenerationFrom(.current)
            let read = try #require(try context.all("Note").first)
            #expect(read.value(forKey: "title") as? String == "a")
            other.delete(note)
            try other.save()
            let changes = [NSDeletedObjectsKey: [read.objectID]]
            for number in 1...20 {
                store.failing(at: number) {
                    NSManagedObjectContext.mergeChanges(fromRemoteContextSave: changes, into: [context])
                }
                let isMerged = store.callCount < number
                #expect(try titles(context) == (isMerged ? [] : ["a"]), "call \(number)")
                if isMerged { return }
            }
            Issue.record("The merge has not succeeded.")
        }
    }
}
