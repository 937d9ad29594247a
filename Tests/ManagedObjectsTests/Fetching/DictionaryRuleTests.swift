import Foundation
import Testing

import class FoundationAdditions.NSExpression
import class FoundationAdditions.NSSortDescriptor

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects

@Suite("Dictionaries follow one rule in every type of store", .serialized)
struct DictionaryRuleTests {
    private func column(_ name: String, _ expression: String) -> NSExpressionDescription {
        let column = NSExpressionDescription()
        column.name = name
        column.expression = NSExpression(format: expression)
        return column
    }

    /// Four notes: two of each title, one with a cover, and one with a cover of a subentity.
    private func context(_ type: String) throws -> (TestStack, NSManagedObjectContext) {
        let stack = try TestStack(model: QueryModel.make(), type: type)
        let context = stack.context()
        let covers = [context.insert("Item"), context.insert("SpecialItem")]
        for (number, title) in ["a", "b", "a", "b"].enumerated() {
            let note = context.insert("Note", ["title": title, "count": number, "small": number / 2])
            if number < 2 { note.setValue(covers[number], forKey: "cover") }
        }
        try context.save()
        return (stack, context)
    }

    private func request(
        _ columns: [Any], groupBy: [Any]? = nil, sort: [NSSortDescriptor] = [], distinct: Bool = false
    ) -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: "Note")
        request.resultType = .dictionaryResultType
        (request.propertiesToFetch, request.propertiesToGroupBy) = (columns, groupBy)
        (request.sortDescriptors, request.returnsDistinctResults) = (sort, distinct)
        return request
    }

    private func order(_ key: String, ascending: Bool = true) -> [NSSortDescriptor] {
        [NSSortDescriptor(key: key, ascending: ascending)]
    }

    @Test(arguments: TestStores.rowTypes)
    func `a value of a group must be the same for all its rows`(type: String) throws {
        let (stack, context) = try context(type)
        let sum = column("sum", "sum:(count)")
        for request in [
            request(["title", sum]), request(["title", "count"], groupBy: ["title"]),
            request([column("mixed", "sum:(count) + small")]),
            request(["title", sum], groupBy: ["title"], sort: order("count")),
            request([column("count", "small + 1")], sort: order("count")),
        ] {
            #expect {
                try context.fetch(request)
            } throws: { ($0 as NSError).code == 134060 }
        }
        let shared = try context.fetch(request([column("upper", "uppercase:(title)"), sum], groupBy: ["title"]))
        #expect(shared.map { $0["upper"] as? String } == ["A", "B"])
        #expect(shared.map { $0["sum"] as? Int } == [2, 4])
        withExtendedLifetime(stack) {}
    }

    @Test(arguments: TestStores.rowTypes) func `one row has no order`(type: String) throws {
        let (stack, context) = try context(type)
        let rows = try context.fetch(request([column("sum", "sum:(count)")], sort: order("title")))
        #expect(rows.map { $0["sum"] as? Int } == [6])
        withExtendedLifetime(stack) {}
    }

    @Test(arguments: TestStores.rowTypes) func `equal dictionaries have the place of the first`(type: String) throws {
        let (stack, context) = try context(type)
        for (isAscending, expected) in [(true, ["a", "b"]), (false, ["b", "a"])] {
            let request = request(["title"], sort: order("count", ascending: isAscending), distinct: true)
            #expect(try context.fetch(request).map { $0["title"] as? String } == expected)
        }
        withExtendedLifetime(stack) {}
    }

    @Test(arguments: TestStores.rowTypes)
    func `groups by references and by expressions with constants`(type: String) throws {
        let (stack, context) = try context(type)
        let number = column("number", "count:(title)")
        let covers = try context.fetch(request(["cover", number], groupBy: ["cover"]))
        #expect(
            Set(covers.map { "\(($0["cover"] as? NSManagedObjectID)?.entity.name ?? "nil") \($0["number"] ?? "nil")" })
                == ["Item 1", "SpecialItem 1", "nil 2"])
        let double = column("double", "small * 2")
        let groups = try context.fetch(request([double, number], groupBy: [double]))
        #expect(groups.map { $0["double"] as? Int } == [0, 2])
        #expect(groups.map { $0["number"] as? Int } == [2, 2])
        withExtendedLifetime(stack) {}
    }
}
