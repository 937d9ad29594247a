import Foundation
import SQLiteConnections
import Testing

import class FoundationAdditions.NSExpression
import class FoundationAdditions.NSPredicate
import class FoundationAdditions.NSSortDescriptor

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects
@testable import SQLStores

/// Dictionaries from SQL and from memory are equal.
@Suite("Dictionaries are the same from every store", .serialized)
struct DictionaryFetchTests {
    private func column(_ name: String, _ expression: String, _ type: NSAttributeType = .undefinedAttributeType)
        -> NSExpressionDescription
    {
        let column = NSExpressionDescription()
        column.name = name
        column.expression = NSExpression(format: expression)
        column.expressionResultType = type
        return column
    }

    private func context(_ type: String) throws -> (TestStack, NSManagedObjectContext) {
        let stack = try TestStack(model: QueryModel.make(), type: type)
        let context = stack.context()
        for number in 0..<24 {
            let note = context.insert("Note")
            if number % 5 != 0 { note.setValue("title \(number % 4)", forKey: "title") }
            if number % 7 != 0 { note.setValue(number, forKey: "count") }
            note.setValue(number % 3 == 0, forKey: "isPinned")
            note.setValue(Double(number) / 4, forKey: "rank")
            note.setValue(NSDecimalNumber(value: number), forKey: "price")
            note.setValue(Date(timeIntervalSinceReferenceDate: Double(number * 100)), forKey: "createdAt")
            note.setValue(PredicateGenerator.uuid(number), forKey: "identifier")
            note.setValue(PredicateGenerator.link(number), forKey: "link")
            note.setValue("city \(number % 2)", forKey: "place.city")
            for size in 0..<(number % 4) {
                let item = context.insert("Item", ["size": size, "name": "item \(size)"])
                item.setValue(note, forKey: "note")
            }
        }
        try context.save()
        return (stack, context)
    }

    private func requests() -> [(name: String, request: NSFetchRequest<NSDictionary>)] {
        func request(
            of entity: String = "Note", _ columns: [Any], groupBy: [Any]? = nil, having: String? = nil,
            sort: [String] = [], where predicate: String? = nil, distinct: Bool = false, limit: Int = 0
        ) -> NSFetchRequest<NSDictionary> {
            let request = NSFetchRequest<NSDictionary>(entityName: entity)
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = columns
            request.propertiesToGroupBy = groupBy
            request.havingPredicate = having.map { NSPredicate(format: $0, argumentArray: []) }
            request.predicate = predicate.map { NSPredicate(format: $0, argumentArray: []) }
            request.sortDescriptors = sort.map { NSSortDescriptor(key: $0, ascending: true) }
            request.returnsDistinctResults = distinct
            request.fetchLimit = limit
            return request
        }
        return [
            (
                "attributes",
                request(
                    ["title", "count", "isPinned", "rank", "price", "createdAt", "identifier", "link"], sort: ["rank"])
            ),
            (
                "groups",
                request(["title", column("n", "count:(count)"), column("s", "sum:(count)")], groupBy: ["title"])
            ),
            (
                "groups by operators",
                request(
                    [
                        "title", column("n", "@count"), column("s", "@sum.count"), column("a", "@avg.rank"),
                        column("least", "@min.createdAt"), column("most", "@max.price"),
                    ], groupBy: ["title"], having: "$s > 5", sort: ["title"])
            ),
            ("sum of none", request([column("n", "@count"), column("s", "@sum.count")], where: "count > 1000")),
            (
                "having",
                request(
                    ["title", column("average", "average:(rank)"), column("last", "max:(createdAt)")],
                    groupBy: ["title"],
                    having: "$average > 2.8", sort: ["average"])
            ),
            (
                "whole table",
                request([column("n", "count:(title)"), column("least", "min:(price)"), column("most", "max:(title)")])
            ),
            ("of none", request([column("n", "count:(count)"), column("s", "sum:(count)")], where: "count > 1000")),
            ("distinct", request(["title", "isPinned"], sort: ["title", "isPinned"], distinct: true)),
            ("arithmetic", request([column("double", "count * 2 + rank")], sort: ["rank"])),
            (
                "members",
                request([column("items", "items.@count"), column("sizes", "items.@sum.size")], sort: ["rank"])
            ),
            ("paths", request(of: "Item", ["note.title", "note.count", "size"], sort: ["note.rank", "size"])),
            ("composite", request([column("city", "place.city"), "rank"], sort: ["rank"])),
            (
                "groups by path",
                request(of: "Item", ["note.title", column("n", "count:(size)")], groupBy: ["note.title"])
            ),
            (
                "typed",
                request([
                    column("whole", "sum:(rank)", .integer64AttributeType),
                    column("day", "max:(createdAt)", .dateAttributeType),
                ])
            ),
            ("text", request([column("upper", "uppercase:(title)")], sort: ["rank"], limit: 6)),
            ("memory only", request([column("length", "title.length")], sort: ["rank"], limit: 6)),
        ]
    }

    @Test func `memory and SQL give the same dictionaries`() throws {
        let (sqliteStack, sqlite) = try context(NSSQLiteStoreType)
        let (memoryStack, memory) = try context(NSInMemoryStoreType)
        for (name, request) in requests() {
            let fromSQL = try sqlite.fetch(request).map(text)
            let fromMemory = try memory.fetch(request).map(text)
            #expect(fromSQL == fromMemory, "\(name)")
            #expect(!fromSQL.isEmpty, "\(name)")
        }
        withExtendedLifetime((sqliteStack, memoryStack)) {}
    }

    @Test func `groups with operators are one statement`() throws {
        let model = QueryModel.make()
        model.freeze()
        let compiler = SQLQueryCompiler(schema: SQLSchemaBuilder.schema(of: model), dialect: SQLiteDialect())
        let entity = try #require(model.entitiesByName["Note"])
        let title = try #require(entity.attributesByName["title"])
        let query = ValueQuery(
            query: RowQuery(entity: entity), columns: [title, column("total", "@sum.count")], groupBy: [title])
        #expect(
            try compiler.values(query, store: 1).query.sql == """
                SELECT t0.ZTITLE, COALESCE(SUM(t0.ZCOUNT), 0)
                FROM ZNOTE AS t0
                GROUP BY t0.ZTITLE
                ORDER BY t0.ZTITLE
                """)
    }

    private func text(_ dictionary: NSDictionary) -> String {
        var parts: [String] = []
        for (key, value) in dictionary { parts.append("\(key)=\(value)") }
        return parts.sorted().joined(separator: " ")
    }
}
