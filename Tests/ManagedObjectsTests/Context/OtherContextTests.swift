import Foundation
import Testing

import class FoundationAdditions.NSSortDescriptor

@testable import EngineTesting

@testable import ManagedObjects

/// What a program cannot mean stops it, where Apple's framework raises an exception: "An NSManagedObjectContext cannot delete objects in
/// other contexts" (RestKit, issue 2295; MagicalRecord, issue 419).
@Suite("An object of another context cannot be deleted or refreshed") struct OtherContextTests {
    /// A saved note in a context, and another context.
    private static func scene() throws -> (stack: TestStack, note: NSManagedObject, other: NSManagedObjectContext) {
        let stack = try TestStack()
        let context = stack.context()
        let note = context.insert("Note", ["title": "one"])
        try context.save()
        // The note does not keep its context.
        kept = context
        return (stack, note, stack.context())
    }

    private nonisolated(unsafe) static var kept: NSManagedObjectContext?

    @Test func `deleting it stops the program`() async throws {
        await #expect(processExitsWith: .failure) {
            let scene = try OtherContextTests.scene()
            scene.other.delete(scene.note)
        }
    }

    @Test func `refreshing it stops the program`() async throws {
        await #expect(processExitsWith: .failure) {
            let scene = try OtherContextTests.scene()
            scene.other.refresh(scene.note, mergeChanges: true)
        }
    }

    @Test func `sorting by a key that objects lack stops the program`() async throws {
        await #expect(processExitsWith: .failure) {
            let scene = try OtherContextTests.scene()
            let descriptor = NSSortDescriptor(key: "missing", ascending: true)
            _ = descriptor.compare(scene.note, to: scene.note)
        }
    }

    @Test func `an object without a context, and one of the parent, are left alone`() throws {
        let stack = try TestStack()
        let parent = stack.context(.privateQueueConcurrencyType)
        let note = parent.performAndWait { parent.insert("Note", ["title": "one"]) }
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = parent
        child.performAndWait {
            child.delete(note)
            child.refresh(note, mergeChanges: true)
        }
        parent.performAndWait {
            #expect(note.isInserted && !note.isDeleted)
            parent.reset()
            parent.delete(note)
            parent.refresh(note, mergeChanges: false)
            #expect(note.managedObjectContext == nil && !parent.hasChanges)
        }
    }

    @Test func `objects are sorted by the number of their members`() throws {
        let context = try TestStack().context()
        let notes = (0..<3).map { number in
            let note = context.insert("Note", ["count": number, "title": String(repeating: "x", count: number)])
            let items = (0..<(number + 1) % 3).map { context.insert("Item", ["index": $0]) }
            note.setValue(NSOrderedSet(array: items), forKey: "items")
            return note
        }
        func counts(_ key: String) -> [Int?] {
            let descriptor = NSSortDescriptor(key: key, ascending: true)
            let sorted = notes.sorted { descriptor.compare($0, to: $1) == .orderedAscending }
            #expect(NSArray(array: notes).sortedArray(using: [descriptor]) as? [NSManagedObject] == sorted)
            return sorted.map { $0.value(forKey: "count") as? Int }
        }
        #expect(counts("items.@count") == [2, 0, 1])
        #expect(counts("title.length") == [0, 1, 2])
    }
}
