import Foundation
import Testing

import class FoundationAdditions.NSExpression
import class FoundationAdditions.NSPredicate
import class FoundationAdditions.NSSortDescriptor

@testable import EngineTesting

@testable import FoundationAdditions
@testable import ManagedObjects
@testable import SQLStores

/// Queries for dictionaries: columns, groups and aggregates.
@Suite struct RowValuesTests {
    private func bench(_ type: String) throws -> RowBench {
        let bench = try RowBench(type)
        let folders = try bench.insert("Folder", [["name": .string("Work")], ["name": .string("Home")]])
        try bench.insert(
            "Note",
            [
                ["title": .string("a"), "count": .integer(1), "folder": .reference(bench.key("Folder", folders[0]))],
                ["title": .string("a"), "count": .integer(5), "folder": .reference(bench.key("Folder", folders[0]))],
                ["title": .string("b"), "folder": .reference(bench.key("Folder", folders[1]))],
            ])
        return bench
    }

    private func column(_ name: String, _ format: String, _ type: NSAttributeType) -> NSExpressionDescription {
        let column = NSExpressionDescription()
        column.name = name
        column.expression = NSExpression(format: format)
        column.expressionResultType = type
        return column
    }

    private func texts(_ bench: RowBench, _ query: ValueQuery) throws -> [String] {
        try bench.rows.dictionaries(matching: query, generation: nil).map { dictionary in
            query.columns.map { column in dictionary[column.name].map { "\($0)" } ?? "nil" }.joined(separator: " ")
        }
    }

    @Test(arguments: RowStoreTests.types) func plainColumns(type: String) throws {
        let bench = try bench(type)
        let note = bench.entity("Note")
        let columns = ["title", "count"].compactMap { note.propertiesByName[$0] }
        var query = ValueQuery(query: bench.query("Note"), columns: columns)
        #expect(try texts(bench, query) == ["a 1", "a 5", "b nil"])
        query.columns = [columns[0]]
        query.isDistinct = true
        query.query.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
        #expect(try texts(bench, query) == ["b", "a"])
    }

    @Test(arguments: RowStoreTests.types) func aToOneRelationshipIsAnID(type: String) throws {
        let bench = try bench(type)
        let folder = try #require(bench.entity("Note").propertiesByName["folder"])
        let query = ValueQuery(query: bench.query("Note", limit: 1), columns: [folder])
        let dictionaries = try bench.rows.dictionaries(matching: query, generation: nil)
        #expect(
            dictionaries.first?["folder"] as? NSManagedObjectID
                == bench.coordinator.objectID(for: bench.key("Folder", 1)))
    }

    @Test(arguments: RowStoreTests.types) func aggregatesOfAllRows(type: String) throws {
        let bench = try bench(type)
        let query = ValueQuery(
            query: bench.query("Note"),
            columns: [
                column("total", "sum:(count)", .integer64AttributeType),
                column("greatest", "max:(count)", .integer64AttributeType),
                column("mean", "average:(count)", .doubleAttributeType),
                column("number", "count:(title)", .integer64AttributeType),
            ])
        #expect(try texts(bench, query) == ["6 5 3.0 3"])
    }

    @Test(arguments: RowStoreTests.types) func aggregatesOfGroups(type: String) throws {
        let bench = try bench(type)
        let title = try #require(bench.entity("Note").propertiesByName["title"])
        var query = ValueQuery(
            query: bench.query("Note"), columns: [title, column("number", "count:(title)", .integer64AttributeType)],
            groupBy: [title])
        #expect(try texts(bench, query) == ["a 2", "b 1"])
        query.having = NSPredicate(format: "count:(title) > 1")
        #expect(try texts(bench, query) == ["a 2"])
    }

    /// The declared type of a sum may be that of the values, which is too small for it.
    @Test(arguments: RowStoreTests.types, [NSAttributeType.integer16AttributeType, .integer32AttributeType])
    func aSumExceedsItsDeclaredType(type: String, declared: NSAttributeType) throws {
        let bench = try RowBench(type)
        try bench.insert("Note", [["count": .integer(2_147_483_647)], ["count": .integer(2)]])
        let query = ValueQuery(
            query: bench.query("Note"),
            columns: [column("total", "sum:(count)", declared), column("least", "min:(count)", declared)])
        #expect(try texts(bench, query) == ["2147483649 2"])
    }
}
