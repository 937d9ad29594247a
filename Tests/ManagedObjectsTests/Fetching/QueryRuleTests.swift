import Foundation
import Testing

import class FoundationAdditions.NSExpression
import class FoundationAdditions.NSPredicate
import class FoundationAdditions.NSSortDescriptor

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

/// What a fetch finds, or rejects, is the same in every type of store.
@Suite("Every type of store has the same rules for queries", .serialized)
struct QueryRuleTests {
    /// The code of the error that work throws; nil if it throws none.
    private func code(_ work: () throws -> Void) -> Int? {
        do {
            try work()
            return nil
        } catch {
            return (error as NSError).code
        }
    }

    private func request(_ entity: String = "Note", _ format: String? = nil, sort: [String] = [])
        -> NSFetchRequest<NSManagedObject>
    {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0, argumentArray: []) }
        request.sortDescriptors = sort.map { NSSortDescriptor(key: $0, ascending: true) }
        return request
    }

    // MARK: - Properties without one stored value

    @Test(arguments: TestStores.rowTypes)
    func `a transient property is an error, and deletes nothing`(type: String) throws {
        let model = NotesModel.make()
        let note = try #require(model.entitiesByName["Note"])
        let kept = NotesModel.attribute("isKept", .booleanAttributeType)
        kept.isTransient = true
        note.properties += [kept]
        let stack = try TestStack(model: model, type: type)
        let context = stack.context()
        for number in 0..<3 { _ = context.insert("Note", ["count": number, "isKept": true]) }
        try context.save()
        for hasChanges in [false, true] {
            if hasChanges { _ = context.insert("Note", ["isKept": true]) }
            #expect(code { _ = try context.fetch(request("Note", "isKept != YES")) } == 134060)
            #expect(code { _ = try context.fetch(request("Note", "count > 0 AND isKept == YES")) } == 134060)
            #expect(code { _ = try context.count(for: request("Note", "isKept != YES")) } == 134060)
            #expect(code { _ = try context.fetch(request(sort: ["isKept"])) } == 134060)
        }
        context.rollback()
        guard type != NSInMemoryStoreType else { return }
        let deletion = NSFetchRequest<any NSFetchRequestResult>(entityName: "Note")
        deletion.predicate = NSPredicate(format: "isKept != YES")
        #expect(code { _ = try context.execute(NSBatchDeleteRequest(fetchRequest: deletion)) } == 134060)
        #expect(try context.count(for: request()) == 3)
    }

    @Test(arguments: TestStores.rowTypes) func `an order by several values is an error`(type: String) throws {
        let stack = try TestStack(model: QueryModel.make(), type: type)
        let context = stack.context()
        for size in [2, 1] {
            let note = context.insert("Note", ["count": size])
            for _ in 0..<size { context.insert("Item", ["size": size]).setValue(note, forKey: "note") }
        }
        try context.save()
        for key in ["items", "items.size", "children.title"] {
            #expect(code { _ = try context.fetch(request(sort: [key])) } == 134060, "\(key)")
        }
        for key in ["items.@count", "items.@max.size"] {
            let counts = try context.fetch(request(sort: [key])).map { $0.value(forKey: "count") as? Int }
            #expect(counts == [1, 2], "\(key)")
        }
    }

    // MARK: - Constants

    @Test(arguments: TestStores.sqlTypes)
    func `a whole decimal is compared exactly with whole numbers`(type: String) throws {
        let stack = try TestStack(model: QueryModel.make(), type: type)
        let context = stack.context()
        let large: Int64 = 9_007_199_254_740_992
        for number in [large, large + 1, large + 2] { _ = context.insert("Note", ["count": number]) }
        try context.save()
        let constant = NSDecimalNumber(string: "9007199254740993")
        for (format, expected) in [
            ("count == %@", [large + 1]), ("count > %@", [large + 2]), ("count IN {%@}", [large + 1]),
            ("count BETWEEN {%@, %@}", [large + 1]), ("count != %@", [large, large + 2]),
        ] {
            let request = request(sort: ["count"])
            let arguments = Array(repeating: constant, count: format.components(separatedBy: "%@").count - 1)
            request.predicate = NSPredicate(format: format, argumentArray: arguments)
            let found = try context.fetch(request).map { ($0.value(forKey: "count") as? NSNumber)?.int64Value }
            #expect(found == expected, "\(format)")
        }
    }

    @Test(arguments: TestStores.sqlTypes) func `a text in no normalization form equals itself`(type: String) throws {
        let stack = try TestStack(model: QueryModel.make(), type: type)
        let context = stack.context()
        // The signs of kelvin and ångström, a Greek question mark, and a letter with one of two accents composed.
        let texts = ["\u{212A}", "\u{212B}", "\u{37E}", "\u{EA}\u{301}"]
        for text in texts { _ = context.insert("Note", ["title": text]) }
        try context.save()
        for text in texts {
            let request = request()
            request.predicate = NSPredicate(format: "title == %@", text)
            #expect(try context.count(for: request) == 1, "\(text.unicodeScalars.map(\.value))")
        }
    }

    // MARK: - Stores, and reads

    @Test func `a new object that is assigned to another store is not found`() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NotesModel.make())
        let stores = try (0..<2).map { _ in
            try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        }
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        for (number, store) in stores.enumerated() {
            context.assign(context.insert("Note", ["count": number]), to: store)
        }
        _ = context.insert("Note", ["count": 2])
        let request = request(sort: ["count"])
        request.affectedStores = [stores[1]]
        #expect(try context.fetch(request).map { $0.value(forKey: "count") as? Int } == [1])
        // One without an assignment is saved to the first store.
        request.affectedStores = [stores[0]]
        #expect(try context.fetch(request).map { $0.value(forKey: "count") as? Int } == [0, 2])
    }

    @Test func `evaluation in memory reads all destinations at once`() throws {
        guard !TestStores.replacesSQLite else { return }
        let log = StatementLog()
        let stack = try log.stack(model: QueryModel.make())
        let context = stack.context()
        for number in 0..<20 {
            let item = context.insert("Item", ["name": "item \(number)"])
            context.insert("Note", ["count": number]).setValue(item, forKey: "cover")
        }
        try context.save()
        let fresh = stack.context()
        var found = 0
        let statements = try log.counting { found = try fresh.count(for: request("Note", "cover.name.length == 6")) }
        #expect(found == 10)
        #expect(statements.count == 2)
    }

    // MARK: - NUL in texts

    @Test func `functions of SQLite read texts beyond a NUL`() throws {
        // PostgreSQL has no texts with NUL.
        guard !TestStores.replacesSQLite else { return }
        let stack = try TestStack(model: QueryModel.make())
        let context = stack.context()
        _ = context.insert("Note", ["title": "a\0b", "count": 1])
        try context.save()
        for format in [
            "title CONTAINS 'b'", "title CONTAINS[c] 'B'", "title ENDSWITH 'b'", "length:(title) == 3",
            "uppercase:(title) ENDSWITH 'B'",
        ] {
            #expect(try context.count(for: request("Note", format)) == 1, "\(format)")
        }
        #expect(try context.count(for: request("Note", "title ==[c] 'A'")) == 0)
        let update = NSBatchUpdateRequest(entityName: "Note")
        update.propertiesToUpdate = ["title": NSExpression(format: "uppercase:(title)")]
        try context.execute(update)
        let fresh = stack.context()
        #expect(try fresh.all("Note").first?.value(forKey: "title") as? String == "A\0B")
    }
}
