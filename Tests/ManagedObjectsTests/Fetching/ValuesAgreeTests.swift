import Foundation
import Testing

import class FoundationAdditions.NSExpression
import class FoundationAdditions.NSPredicate
import class FoundationAdditions.NSSortDescriptor

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

/// Numbers that are stored in another form than in memory, and texts that Swift treats as equal.
@Suite("SQL and memory compute the same values", .serialized)
struct ValuesAgreeTests {
    /// The composed and the decomposed form of one text. The decomposed one begins with the byte of the letter.
    private let composed = "\u{E9}"
    private let decomposed = "e\u{301}"

    private func notes(_ type: String, _ titles: [String]) throws -> (TestStack, NSManagedObjectContext) {
        let stack = try TestStack(model: QueryModel.make(), type: type)
        let context = stack.context()
        for title in titles { _ = context.insert("Note", ["title": title]) }
        try context.save()
        return (stack, context)
    }

    private func column(_ name: String, _ expression: String) -> NSExpressionDescription {
        let column = NSExpressionDescription()
        column.name = name
        column.expression = NSExpression(format: expression)
        return column
    }

    private func dictionaries(
        _ context: NSManagedObjectContext, _ columns: [Any], groupBy: [Any]? = nil, isDistinct: Bool = false
    ) throws -> [NSDictionary] {
        let request = NSFetchRequest<NSDictionary>(entityName: "Note")
        request.resultType = .dictionaryResultType
        (request.propertiesToFetch, request.propertiesToGroupBy) = (columns, groupBy)
        request.returnsDistinctResults = isDistinct
        return try context.fetch(request)
    }

    /// Texts as their bytes, because canonically equivalent ones are equal.
    private func bytes(_ texts: [Any?]) -> [[UInt8]] { texts.map { Array((($0 as? String) ?? "").utf8) } }

    // MARK: - Numbers

    @Test(arguments: TestStores.rowTypes) func `quotients of whole decimals and dates have fractions`(
        type: String
    ) throws {
        let (stack, context) = try notes(type, ["note"])
        let note = try #require(try context.all("Note").first)
        note.setValue(NSDecimalNumber(value: 3), forKey: "price")
        note.setValue(Date(timeIntervalSinceReferenceDate: 5400), forKey: "createdAt")
        for price in [1, 2] {
            context.insert("Item", ["price": NSDecimalNumber(value: price)]).setValue(note, forKey: "note")
        }
        try context.save()
        for format in [
            "price / 2 == 1.5", "price / 2 > 1.25", "(price + 0) / 2 == 1.5", "abs(price) / 2 == 1.5",
            "(createdAt - CAST(0, 'NSDate')) / 3600 == 1.5", "CAST(createdAt, 'NSNumber') / 3600 == 1.5",
            "items.@sum.price / 2 == 1.5",
        ] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(format: format)
            #expect(try context.count(for: request) == 1, "\(format)")
        }
        let halves = try dictionaries(context, [column("half", "price / 2")])
        #expect(halves.map { ($0["half"] as? NSNumber)?.doubleValue } == [1.5])
        let sums = try dictionaries(context, [column("half", "sum:(price) / 2")])
        #expect(sums.map { ($0["half"] as? NSNumber)?.doubleValue } == [1.5])
        withExtendedLifetime(stack) {}
    }

    // MARK: - Groups

    @Test(arguments: TestStores.rowTypes) func `distinct results of groups by a column that is not fetched`(
        type: String
    ) throws {
        let (stack, context) = try notes(type, ["a", "b", "a", "b", "c"])
        let number = column("number", "count:(title)")
        let distinct = try dictionaries(context, [number], groupBy: ["title"], isDistinct: true)
        #expect(distinct.map { $0["number"] as? Int } == [2, 1])
        let named = try dictionaries(context, ["title", number], groupBy: ["title"], isDistinct: true)
        #expect(named.map { $0["number"] as? Int } == [2, 2, 1])
        withExtendedLifetime(stack) {}
    }

    @Test(arguments: TestStores.rowTypes) func `texts of different bytes are different groups`(type: String) throws {
        let (stack, context) = try notes(type, [composed, decomposed, composed])
        let groups = try dictionaries(context, ["title", column("number", "count:(title)")], groupBy: ["title"])
        #expect(bytes(groups.map { $0["title"] }) == bytes([decomposed, composed]))
        #expect(groups.map { $0["number"] as? Int } == [1, 2])
        let distinct = try dictionaries(context, ["title"], isDistinct: true)
        #expect(Set(bytes(distinct.map { $0["title"] })) == Set(bytes([composed, decomposed])))
        #expect(distinct.count == 2)
        withExtendedLifetime(stack) {}
    }

    // MARK: - The order of texts

    @Test(arguments: TestStores.rowTypes) func `texts have the order of their bytes`(type: String) throws {
        let (stack, context) = try notes(type, [decomposed, "f"])
        // The unsaved object is merged into the rows, which the store has sorted.
        for isSaved in [false, true] {
            if isSaved { try context.save() } else { _ = context.insert("Note", ["title": composed]) }
            for (isAscending, expected) in [
                (true, [decomposed, "f", composed]), (false, [composed, "f", decomposed]),
            ] {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: isAscending)]
                let titles = try context.fetch(request).map { $0.value(forKey: "title") }
                #expect(bytes(titles) == bytes(expected), "saved: \(isSaved), ascending: \(isAscending)")
            }
            for (operation, count) in [("<", 1), ("<=", 2), (">", 1), (">=", 2)] {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                request.predicate = NSPredicate(format: "title \(operation) 'f'")
                #expect(try context.count(for: request) == count, "\(operation), saved: \(isSaved)")
            }
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSPredicate(format: "title BETWEEN {%@, %@}", composed, composed)
            #expect(try context.count(for: request) == 1, "saved: \(isSaved)")
        }
        withExtendedLifetime(stack) {}
    }

    @Test(arguments: TestStores.rowTypes) func `the least and greatest text are those by bytes`(type: String) throws {
        let (stack, context) = try notes(type, [decomposed, "f"])
        let extremes = try dictionaries(context, [column("least", "min:(title)"), column("greatest", "max:(title)")])
        #expect(bytes(extremes.map { $0["least"] }) == bytes([decomposed]))
        #expect(bytes(extremes.map { $0["greatest"] }) == bytes(["f"]))
        withExtendedLifetime(stack) {}
    }
}
