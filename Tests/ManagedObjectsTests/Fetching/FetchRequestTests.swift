import Foundation
import Testing

import class FoundationAdditions.NSExpression
import class FoundationAdditions.NSPredicate
import class FoundationAdditions.NSSortDescriptor

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

@Suite("Fetch requests", .serialized)
struct FetchRequestTests {
    private func filledContext() throws -> NSManagedObjectContext {
        let stack = try TestStack(model: QueryModel.make())
        let context = stack.context()
        for number in 0..<12 {
            let note = context.insert(
                "Note", ["title": "note \(number % 3)", "count": number, "isPinned": number % 2 == 0])
            let item = context.insert("SpecialItem", ["size": number])
            item.setValue(note, forKey: "note")
        }
        try context.save()
        return stack.context()
    }

    private func aggregate(_ name: String, _ function: String, _ path: String) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression(forFunction: function, arguments: [NSExpression(forKeyPath: path)])
        return description
    }

    @Test func `every result type`() throws {
        let context = try filledContext()
        let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Note")
        ids.resultType = .managedObjectIDResultType
        ids.predicate = NSPredicate(format: "count < 3")
        #expect(try context.fetch(ids).count == 3)
        let counts = NSFetchRequest<NSNumber>(entityName: "Note")
        counts.resultType = .countResultType
        #expect(try context.fetch(counts) == [12])
        let objects = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
        objects.fetchLimit = 5
        objects.fetchOffset = 10
        #expect(try context.fetch(objects).count == 2)
        objects.includesSubentities = false
        #expect(try context.fetch(objects).isEmpty)
    }

    /// A request whose predicate and order are those of its class.
    private final class FirstNotes: NSFetchRequest<NSManagedObject> {
        override var predicate: NSPredicate? {
            get { NSPredicate(format: "count < 4") }
            set {}
        }
        override var sortDescriptors: [NSSortDescriptor]? {
            get { [NSSortDescriptor(key: "count", ascending: false)] }
            set {}
        }
    }

    private final class OtherContext: NSManagedObjectContext, @unchecked Sendable {}  // because one thread uses it

    @Test func `properties that a subclass overrides determine the results, in every context`() throws {
        let context = try filledContext()
        let other = OtherContext(concurrencyType: .privateQueueConcurrencyType)
        other.persistentStoreCoordinator = context.persistentStoreCoordinator
        for context in [context, other] {
            let request = FirstNotes(entityName: "Note")
            try context.performAndWait { () throws in
                let found = try context.fetch(request)
                #expect(found.map { $0.value(forKey: "count") as? Int } == [3, 2, 1, 0])
                #expect(try context.count(for: request) == 4)
            }
        }
    }

    @Test func `dictionaries, grouped and filtered`() throws {
        let context = try filledContext()
        let request = NSFetchRequest<NSDictionary>(entityName: "Note")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [
            "title", aggregate("total", "sum:", "count"), aggregate("number", "count:", "count"),
            aggregate("largest", "max:", "count"),
        ]
        request.propertiesToGroupBy = ["title"]
        request.havingPredicate = NSPredicate(format: "$total > 18")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
        let rows = try context.fetch(request)
        #expect(rows.compactMap { $0["title"] as? String } == ["note 2", "note 1"])
        #expect(rows.compactMap { ($0["total"] as? NSNumber)?.intValue } == [26, 22])
        #expect(rows.compactMap { ($0["number"] as? NSNumber)?.intValue } == [4, 4])
        #expect(rows.compactMap { ($0["largest"] as? NSNumber)?.intValue } == [11, 10])
    }

    @Test func `dictionaries of distinct values, of key paths, of references`() throws {
        let context = try filledContext()
        let titles = NSFetchRequest<NSDictionary>(entityName: "Note")
        titles.resultType = .dictionaryResultType
        titles.propertiesToFetch = ["title"]
        titles.returnsDistinctResults = true
        titles.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        #expect(try context.fetch(titles).compactMap { $0["title"] as? String } == ["note 0", "note 1", "note 2"])
        let items = NSFetchRequest<NSDictionary>(entityName: "Item")
        items.resultType = .dictionaryResultType
        items.propertiesToFetch = ["note.title", "note", "size"]
        items.sortDescriptors = [NSSortDescriptor(key: "size", ascending: true)]
        items.fetchLimit = 2
        let rows = try context.fetch(items)
        #expect(rows.compactMap { $0["note.title"] as? String } == ["note 0", "note 1"])
        #expect(rows.compactMap { ($0["note"] as? NSManagedObjectID)?.entity.name } == ["Note", "Note"])
    }

    @Test func `all properties of a request are copied, also to another result type`() throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: "count > 3")
        request.fetchLimit = 7
        let copy = try #require(request.copy() as? NSFetchRequest<NSManagedObject>)
        copy.fetchLimit = 8
        #expect(request.fetchLimit == 7)
        #expect(copy.predicate == request.predicate)
        #expect(NSFetchRequest<any NSFetchRequestResult>(request).fetchLimit == 7)
        #expect(copy.entityName == "Note")
        #expect(copy.entity == nil)
    }

    @Test func `a request without an entity, or for an unknown one, is an error`() throws {
        let context = try filledContext()
        #expect(throws: CocoaError.self) { try context.fetch(NSFetchRequest<NSManagedObject>()) }
        #expect(throws: CocoaError.self) { try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Nowhere")) }
    }

    @Test func `a request executes itself within its context's queue only`() throws {
        let context = try filledContext()
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        #expect(throws: CocoaError.self) { try request.execute() }
        let count = try context.performAndWait { try request.execute().count }
        #expect(count == 12)
    }

    @Test func `an asynchronous fetch calls its block and reports progress`() async throws {
        let stack = try TestStack(model: QueryModel.make())
        let context = stack.context(.privateQueueConcurrencyType)
        try await context.perform {
            for number in 0..<5 { _ = context.insert("Note", ["count": number]) }
            try context.save()
        }
        let count: Int? = await withCheckedContinuation { continuation in
            let request = NSAsynchronousFetchRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Note"))
            {
                continuation.resume(returning: $0.finalResult?.count)
            }
            do {
                try context.execute(request)
            } catch {
                continuation.resume(returning: nil)
            }
        }
        #expect(count == 5)
    }
}
