import Foundation
import Testing

@testable import EngineTesting

@testable import ManagedObjects
@testable import SQLStores

@Suite("The staleness interval of the rows of faults")
struct StalenessTests {
    private let log = StatementLog()

    /// Four notes, read by one context as faults, and then changed by another.
    private func changedBehind(_ interval: TimeInterval) throws -> (
        context: NSManagedObjectContext, notes: [NSManagedObject]
    ) {
        let stack = try log.stack()
        let writer = stack.context()
        for number in 0..<4 {
            let note = writer.insert("Note", ["title": "before", "count": number])
            writer.insert("Item", ["name": "before"]).setValue(note, forKey: "note")
        }
        try writer.save()
        let context = stack.context()
        context.stalenessInterval = interval
        let notes = try context.all("Note", sortedBy: "count")
        let file = try #require(stack.coordinator.persistentStores.first as? SQLiteStore).content().connection
        try file.write { try $0.execute(sql: "UPDATE ZNOTE SET ZTITLE = 'after'; UPDATE ZITEM SET ZNAME = 'after'") }
        return (context, notes)
    }

    private func titles(_ notes: [NSManagedObject]) -> [String?] { notes.map { $0.value(forKey: "title") as? String } }

    @Test func `the age of rows does not matter by default`() throws {
        let (context, notes) = try changedBehind(-1)
        let statements = log.counting { #expect(titles(notes) == Array(repeating: "before", count: 4)) }
        #expect(statements.isEmpty)
        #expect(context.stalenessInterval == -1)
    }

    @Test func `rows within the staleness interval are used`() throws {
        let (context, notes) = try changedBehind(300)
        #expect(titles(notes) == Array(repeating: "before", count: 4))
        #expect(context.registeredObjects.count == 4)
    }

    @Test func `older rows are read again, together`() throws {
        let (context, notes) = try changedBehind(300)
        #expect(titles([notes[0]]) == ["before"])
        // Long enough that the rows that are read again do not exceed the interval themselves, also on a slow machine.
        context.stalenessInterval = 2
        usleep(2_100_000)
        let statements = log.counting { #expect(titles(notes) == ["before", "after", "after", "after"]) }
        #expect(statements.count == 1)
        #expect(context.registeredObjects.count == 4)
    }

    @Test func `with no staleness every fault reads the store, and an object in use stays as it is`() throws {
        let (context, notes) = try changedBehind(0)
        let statements = log.counting { #expect(titles(notes) == Array(repeating: "after", count: 4)) }
        #expect(statements.count == 4)
        let again = log.counting { _ = titles(notes) }
        #expect(again.isEmpty)
        context.refresh(notes[0], mergeChanges: false)
        #expect(log.counting { _ = titles(notes) }.count == 1)
    }

    @Test func `rows that a fetch realises are as new as the fetch`() throws {
        let (context, notes) = try changedBehind(0)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.returnsObjectsAsFaults = false
        let statements = try log.counting { _ = titles(try context.fetch(request)) }
        #expect(statements.count == 1)
        #expect(titles(notes) == Array(repeating: "after", count: 4))
    }
}
