import Foundation
import Testing

import class FoundationAdditions.NSPredicate
import class FoundationAdditions.NSSortDescriptor

@testable import EngineTesting
@testable import ManagedObjects

@Suite("Objects of a fetch that are created batch by batch")
struct FetchedBatchesTests {
    private let log = StatementLog()

    private func stackOfNotes(_ count: Int) throws -> TestStack {
        let stack = try log.stack()
        let context = stack.context()
        // The order of primary keys is the reverse of the order of the results.
        for number in 0..<count { _ = context.insert("Note", ["title": "note \(number)", "count": count - number]) }
        try context.save()
        return stack
    }

    private func request(_ entity: String = "Note") -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.sortDescriptors = [NSSortDescriptor(key: "count", ascending: true)]
        return request
    }

    private func count(of note: NSManagedObject) -> Int { note.value(forKey: "count") as? Int ?? -1 }

    @Test func `the fetch creates no object, and each batch is a statement`() throws {
        let context = try stackOfNotes(100).context()
        var notes: FetchedBatches<NSManagedObject>?
        let fetching = try log.counting { notes = try context.fetch(request(), batchSize: 20) }
        let found = try #require(notes)
        #expect(fetching.count == 1)
        #expect(found.count == 100)
        #expect(context.registeredObjects.isEmpty)
        let looking = log.counting { #expect([45, 59, 40].map { count(of: found[$0]) } == [46, 60, 41]) }
        #expect(looking.count == 1)
        #expect(context.registeredObjects.count == 20)
        let walking = log.counting { #expect(found.map(count) == Array(1...100)) }
        #expect(walking.count == 4)
    }

    @Test func `objects of former batches are released, unless they are kept or changed`() throws {
        let stack = try stackOfNotes(1000)
        let context = stack.forgetfulContext()
        let notes = try context.fetch(request(), batchSize: 10)
        let kept = notes[3]
        notes[5].setValue("changed", forKey: "title")
        for note in notes { _ = count(of: note) }
        let registered = context.registeredObjects
        // Those of four batches, the kept and the changed one, and at most as many again that wait for the next sweep.
        #expect((42...84).contains(registered.count))
        #expect(registered.contains(kept))
        #expect(context.updatedObjects.map { $0.value(forKey: "title") as? String } == ["changed"])
        #expect(notes[5].value(forKey: "title") as? String == "changed")
        #expect(notes[3] === kept)
    }

    @Test func `unsaved changes count as in other fetches`() throws {
        let stack = try stackOfNotes(50)
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<40 {
            let context = stack.context()
            let all = try context.all("Note", sortedBy: "count")
            for _ in 0..<Int.random(in: 0..<4, using: &generator) {
                let note = all[Int.random(in: 0..<50, using: &generator)]
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: note.setValue(Int.random(in: 0..<60, using: &generator), forKey: "count")
                case 1: context.delete(note)
                default: _ = context.insert("Note", ["count": Int.random(in: 0..<60, using: &generator)])
                }
            }
            let request = request()
            request.sortDescriptors?.append(NSSortDescriptor(key: "title", ascending: true))
            if Bool.random(using: &generator) { request.predicate = NSPredicate(format: "count > 20") }
            if Bool.random(using: &generator) { request.fetchLimit = Int.random(in: 1..<40, using: &generator) }
            if Bool.random(using: &generator) { request.fetchOffset = Int.random(in: 0..<10, using: &generator) }
            let size = Int.random(in: 1..<30, using: &generator)
            #expect(try Array(context.fetch(request, batchSize: size)) == context.fetch(request))
            let child = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            child.parent = context
            #expect(try child.fetch(request, batchSize: size).map(count) == context.fetch(request).map(count))
        }
    }

    @Test func `an unsaved result is the same object after a save, and after a rollback`() throws {
        let context = try stackOfNotes(3).context()
        let new = context.insert("Note", ["count": 0])
        let notes = try context.fetch(request(), batchSize: 2)
        context.rollback()
        #expect(notes.count == 4)
        #expect(notes[0] === new)
        #expect(notes.dropFirst().map(count) == [1, 2, 3])
        let other = context.insert("Note", ["count": 9])
        let saved = try context.fetch(request(), batchSize: 2)
        try context.save()
        #expect(saved[3] === other)
        #expect(saved.map(count) == [1, 2, 3, 9])
    }

    @Test func `a result whose row was deleted since is a fault without a row, as in an array`() throws {
        let stack = try stackOfNotes(6)
        let context = stack.context()
        let notes = try context.fetch(request(), batchSize: 2)
        let other = stack.context()
        for note in try other.all("Note", sortedBy: "count").suffix(3) { other.delete(note) }
        try other.save()
        #expect(notes.count == 6)
        #expect(notes.prefix(3).map(count) == [1, 2, 3])
        #expect(throws: CocoaError.self) { try context.existingObject(with: notes[4].objectID) }
    }

    @Test(arguments: TestStores.rowTypes) func `every store has them`(type: String) throws {
        let context = try TestStack(type: type).context()
        for number in 0..<30 { _ = context.insert("Note", ["count": number]) }
        try context.save()
        context.reset()
        let notes = try context.fetch(request(), batchSize: 7)
        #expect(notes.map(count) == Array(0..<30))
        #expect(notes.reversed().map(count) == Array((0..<30).reversed()))
    }

    @Test func `results of another kind or class are an error`() throws {
        final class Other: NSManagedObject {}
        let context = try stackOfNotes(1).context()
        let other = NSFetchRequest<Other>(entityName: "Note")
        #expect(throws: CocoaError.self) { try context.fetch(other, batchSize: 10) }
        let identifiers = request()
        identifiers.resultType = .managedObjectIDResultType
        #expect(throws: CocoaError.self) { try context.fetch(identifiers, batchSize: 10) }
        #expect(throws: CocoaError.self) { try context.fetch(request("Nothing"), batchSize: 10) }
    }
}
