import Foundation
import SQLStatements
import Testing
@testable import EngineTesting
@testable import SQLiteConnections

import class FoundationAdditions.NSCompoundPredicate
import class FoundationAdditions.NSExpression
import class FoundationAdditions.NSPredicate
import class FoundationAdditions.NSSortDescriptor

@testable import FoundationAdditions
@testable import ManagedObjects
@testable import SQLStores

/// The SQL of a predicate: the text after WHERE, on one line.
@Suite("A predicate becomes SQL")
struct QueryStatementTests {
    let compiler: SQLQueryCompiler
    let model: NSManagedObjectModel

    init() {
        model = QueryModel.make()
        model.freeze()
        compiler = SQLQueryCompiler(schema: SQLSchemaBuilder.schema(of: model), dialect: SQLiteDialect())
    }

    static let conditions: [(predicate: String, sql: String)] = [
        // Attributes and nil.
        ("title == 'a'", "t0.ZTITLE = ?"),
        ("title != 'a'", "t0.ZTITLE IS NOT ?"),
        ("title == nil", "t0.ZTITLE IS NULL"),
        ("title != nil", "t0.ZTITLE IS NOT NULL"),
        ("NOT title == 'a'", "(t0.ZTITLE = ?) IS NOT TRUE"),
        ("NOT title == nil", "NOT (t0.ZTITLE IS NULL)"),
        ("5 < count", "t0.ZCOUNT > ?"),
        ("count >= small", "t0.ZCOUNT >= t0.ZSMALL"),
        ("count == small", "t0.ZCOUNT IS t0.ZSMALL"),
        ("isPinned == YES", "t0.ZISPINNED = ?"),
        ("price > 1.5 AND rank < 2", "(t0.ZPRICE > ? AND t0.ZRANK < ?)"),
        ("count == 1 OR count == 2 OR title == nil", "(t0.ZCOUNT = ? OR t0.ZCOUNT = ? OR t0.ZTITLE IS NULL)"),
        ("count == 'one'", "0"),
        ("TRUEPREDICATE", "1"),
        // Lists.
        ("count IN {1, 2, 3}", "t0.ZCOUNT IN (?, ?, ?)"),
        ("count IN {1, nil}", "(t0.ZCOUNT IN (?) OR t0.ZCOUNT IS NULL)"),
        ("count IN {}", "0"),
        ("count BETWEEN {1, 5}", "t0.ZCOUNT BETWEEN ? AND ?"),
        // Texts.
        ("title BEGINSWITH 'ab'", "(t0.ZTITLE >= ? AND t0.ZTITLE < ? AND PredicateMatches(t0.ZTITLE, ?, ?))"),
        ("title BEGINSWITH[cd] 'ab'", "PredicateMatches(t0.ZTITLE, ?, ?)"),
        ("title CONTAINS 'ab'", "(instr(t0.ZTITLE, ?) > 0 AND PredicateMatches(t0.ZTITLE, ?, ?))"),
        ("title ENDSWITH 'ab'", "PredicateMatches(t0.ZTITLE, ?, ?)"),
        ("title LIKE 'ab*c?'", "(t0.ZTITLE >= ? AND t0.ZTITLE < ? AND PredicateMatches(t0.ZTITLE, ?, ?))"),
        ("title MATCHES '[a-c]+'", "PredicateMatches(t0.ZTITLE, ?, ?)"),
        ("title ==[c] 'ab'", "PredicateMatches(t0.ZTITLE, ?, ?)"),
        ("title <[c] 'ab'", "PredicateFold(t0.ZTITLE, ?) < PredicateFold(?, ?)"),
        ("title == 'é'", "t0.ZTITLE IN (?, ?, ?)"),
        ("title CONTAINS body", "PredicateMatches(t0.ZTITLE, t0.ZBODY, ?)"),
        ("uppercase(title) == 'A'", "PredicateUppercase(t0.ZTITLE) = ?"),
        // Composites.
        ("place.city == 'Bern'", "t0.ZCITY = ?"),
        // To-one relationships.
        ("parent == nil", "t0.ZPARENT IS NULL"),
        ("parent.title == 'a'", "t1.ZTITLE = ?"),
        ("parent.parent.count > 3", "t2.ZCOUNT > ?"),
        ("cover.size == 3", "t1.ZSIZE = ?"),
        // To-many relationships.
        ("ANY items.size > 3", "EXISTS (SELECT 1 FROM ZITEM AS t1 WHERE t1.ZNOTE = t0.Z_PK AND t1.ZSIZE > ?)"),
        ("NONE items.size > 3", "NOT (EXISTS (SELECT 1 FROM ZITEM AS t1 WHERE t1.ZNOTE = t0.Z_PK AND t1.ZSIZE > ?))"),
        (
            "ALL items.size > 3",
            "NOT EXISTS (SELECT 1 FROM ZITEM AS t1 WHERE t1.ZNOTE = t0.Z_PK AND (t1.ZSIZE > ?) IS NOT TRUE)"
        ),
        (
            "ANY items.tags.name == 'x'",
            "EXISTS (SELECT 1 FROM ZITEM AS t1 JOIN Z_1TAGS AS t2 ON t2.Z_1ITEMS = t1.Z_PK JOIN ZTAG AS t3 ON "
                + "t3.Z_PK = t2.Z_4TAGS WHERE t1.ZNOTE = t0.Z_PK AND t3.ZNAME = ?)"
        ),
        ("items.@count > 2", "(SELECT COUNT(*) FROM ZITEM AS t1 WHERE t1.ZNOTE = t0.Z_PK) > ?"),
        ("items.@count > 0", "EXISTS (SELECT 1 FROM ZITEM AS t1 WHERE t1.ZNOTE = t0.Z_PK)"),
        ("items.@count == 0", "NOT EXISTS (SELECT 1 FROM ZITEM AS t1 WHERE t1.ZNOTE = t0.Z_PK)"),
        ("items.@sum.size > 5", "(SELECT COALESCE(SUM(t1.ZSIZE), 0) FROM ZITEM AS t1 WHERE t1.ZNOTE = t0.Z_PK) > ?"),
        ("items.@max.size == 5", "(SELECT MAX(t1.ZSIZE) FROM ZITEM AS t1 WHERE t1.ZNOTE = t0.Z_PK) = ?"),
        (
            "SUBQUERY(items, $i, $i.size > 2 AND $i.name == title).@count > 1",
            "(SELECT COUNT(*) FROM ZITEM AS t1 WHERE t1.ZNOTE = t0.Z_PK AND (t1.ZSIZE > ? AND (t1.ZNAME IS t0.ZTITLE OR PredicateMatches(t1.ZNAME, t0.ZTITLE, ?)))) > ?"
        ),
        (
            "SUBQUERY(items, $i, $i.tags.@count == 0).@count > 0",
            "EXISTS (SELECT 1 FROM ZITEM AS t1 WHERE t1.ZNOTE = t0.Z_PK AND NOT EXISTS (SELECT 1 FROM ZTAG AS t2 JOIN "
                + "Z_1TAGS AS t3 ON t3.Z_4TAGS = t2.Z_PK WHERE t3.Z_1ITEMS = t1.Z_PK))"
        ),
        ("'x' IN items.name", Self.listOfFewer),
        ("SUBQUERY(items, $i, $i.name == 'x').@count > 0", Self.listOfFewer),
        ("SUBQUERY(items, $i, $i.name == 'x').@count == 0", "NOT (\(Self.listOfFewer))"),
        (
            "SUBQUERY(items, $i, $i.name == $i.name).@count > 0",
            "EXISTS (SELECT 1 FROM ZITEM AS t1 WHERE t1.ZNOTE = t0.Z_PK AND (t1.ZNAME IS t1.ZNAME OR PredicateMatches(t1.ZNAME, t1.ZNAME, ?)))"
        ),
        (
            "ANY items.name == 'x' AND count == 1",
            "(EXISTS (SELECT 1 FROM ZITEM AS t1 WHERE t1.ZNOTE = t0.Z_PK AND t1.ZNAME = ?) AND t0.ZCOUNT = ?)"
        ),
        // Arithmetic and dates.
        ("count + small * 2 > 10", "(t0.ZCOUNT + (t0.ZSMALL * ?)) > ?"),
        ("count / 2 == 3", "(t0.ZCOUNT / ?) = ?"),
        ("createdAt < now()", "t0.ZCREATEDAT < ?"),
        ("createdAt > CAST(1000, 'NSDate')", "t0.ZCREATEDAT > ?"),
        // Entities.
        ("entity.name == 'Note'", "t0.Z_ENT = ?"),
    ]

    /// The owners of the members that fulfil a condition without an index: a list if there are fewer members than owners.
    private static let listOfFewer =
        "t0.Z_PK IN (SELECT t1.ZNOTE FROM (SELECT 1 WHERE (SELECT MAX(Z_PK) FROM ZITEM) <= (SELECT MAX(Z_PK) FROM ZNOTE)) AS t2 "
        + "CROSS JOIN ZITEM AS t1 WHERE t1.ZNAME = ? AND +t1.ZNOTE IS NOT NULL UNION ALL SELECT t3.Z_PK FROM (SELECT 1 WHERE NOT "
        + "((SELECT MAX(Z_PK) FROM ZITEM) <= (SELECT MAX(Z_PK) FROM ZNOTE))) AS t2 CROSS JOIN ZNOTE AS t3 "
        + "WHERE EXISTS (SELECT 1 FROM ZITEM AS t1 WHERE t1.ZNOTE = t3.Z_PK AND t1.ZNAME = ?))"

    @Test(arguments: Self.conditions.indices)
    func `conditions of notes`(index: Int) throws {
        let (format, expected) = Self.conditions[index]
        let found = try condition(format)
        #expect(found == expected, "\(format)")
    }

    private func condition(_ format: String, entity: String = "Note") throws -> String {
        let sql = try statement(format, entity: entity)
        guard let start = sql.range(of: "\nWHERE ") else { return "" }
        return sql[start.upperBound...].split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private func statement(_ format: String, entity: String = "Note") throws -> String {
        let entity = try #require(model.entitiesByName[entity])
        let query = RowQuery(entity: entity, predicate: NSPredicate(format: format))
        return try compiler.rows(query, selecting: .keys, store: 1).sql
    }

    @Test func `entities are compared only where the table contains others`() throws {
        let special = try #require(model.entitiesByName["SpecialItem"].flatMap(compiler.schema.entity))
        #expect(
            try condition("size == 2", entity: "SpecialItem") == "t0.Z_ENT = \(special.number) AND t0.ZSIZE = ?")
        #expect(try condition("size == 2", entity: "Item") == "t0.ZSIZE = ?")
        #expect(try condition("name == 'a'", entity: "Tag") == "t0.ZNAME = ?")
        var query = RowQuery(entity: try #require(model.entitiesByName["Item"]))
        query.includesSubentities = false
        #expect(
            try compiler.rows(query, selecting: .keys, store: 1).sql
                == "SELECT t0.Z_PK\nFROM ZITEM AS t0\nWHERE t0.Z_ENT = \(try #require(compiler.schema.entity(query.entity)).number)"
        )
    }

    @Test func `the owners of members with an indexed value are listed, unless a limit ends the search`() throws {
        let model = QueryModel.make()
        let name = try #require(model.entitiesByName["Tag"]?.attributesByName["name"])
        model.entitiesByName["Tag"]?.indexes = [
            NSFetchIndexDescription(
                name: "byName", elements: [NSFetchIndexElementDescription(property: name, collationType: .binary)])
        ]
        model.freeze()
        let compiler = SQLQueryCompiler(schema: SQLSchemaBuilder.schema(of: model), dialect: SQLiteDialect())
        let note = try #require(model.entitiesByName["Item"])
        func condition(_ format: String, limit: Int = 0) throws -> Substring? {
            var query = RowQuery(entity: note, predicate: NSPredicate(format: format))
            query.limit = limit
            let sql = try compiler.rows(query, selecting: .keys, store: 1).sql
            return sql.split(separator: "WHERE ", maxSplits: 1).last?.prefix { $0 != "\n" }
        }
        let listed = "t0.Z_PK IN (SELECT t2.Z_1ITEMS FROM ZTAG AS t1"
        #expect(try condition("ANY tags.name == 'x'") == Substring(listed))
        #expect(try condition("ANY tags.name IN {'x', 'y'}") == Substring(listed))
        for format in ["ANY tags.name ==[c] 'x'", "ANY tags.name > 'x'", "ANY tags.name == nil"] {
            #expect(try condition(format)?.hasPrefix("EXISTS (") == true, "\(format)")
        }
        #expect(try condition("ANY tags.name == 'x'", limit: 10)?.hasPrefix("EXISTS (") == true)
    }

    @Test func `a to-one path is joined once`() throws {
        let sql = try statement("parent.title == 'a' AND parent.count > 1 AND parent.parent == nil")
        #expect(
            sql == """
                SELECT t0.Z_PK
                FROM ZNOTE AS t0
                    LEFT JOIN ZNOTE AS t1 ON t1.Z_PK = t0.ZPARENT
                WHERE (t1.ZTITLE = ? AND t1.ZCOUNT > ? AND t1.ZPARENT IS NULL)
                """)
    }

    @Test func `order, limit and offset`() throws {
        var query = RowQuery(entity: try #require(model.entitiesByName["Note"]))
        query.sortDescriptors = [
            NSSortDescriptor(key: "parent.title", ascending: true, selector: "localizedStandardCompare:"),
            NSSortDescriptor(key: "count", ascending: false),
        ]
        query.limit = 20
        query.offset = 5
        let statement = try compiler.rows(query, selecting: .keys, store: 1)
        #expect(
            statement.sql == """
                SELECT t0.Z_PK
                FROM ZNOTE AS t0
                    LEFT JOIN ZNOTE AS t1 ON t1.Z_PK = t0.ZPARENT
                ORDER BY t1.ZTITLE COLLATE LocalizedStandardCompare, t0.ZCOUNT DESC, t0.Z_PK
                LIMIT ? OFFSET ?
                """)
        #expect(statement.arguments.map(\.description) == ["20", "5"])
        #expect(
            try compiler.compileCount(query, store: 1).statement.sql
                == "SELECT COUNT(*) FROM (SELECT 1\nFROM ZNOTE AS t0\nLIMIT ? OFFSET ?) AS found")
    }

    @Test func `queries that differ in constants are one statement with other parameters`() throws {
        let note = try #require(model.entitiesByName["Note"])
        func statement(_ format: String, _ arguments: Any?...) throws -> SQLQuery {
            let predicate = NSPredicate(format: format, argumentArray: arguments.map { $0 as Any })
            return try compiler.rows(RowQuery(entity: note, predicate: predicate), selecting: .keys, store: 1)
        }
        let date = Date(timeIntervalSinceReferenceDate: 100.5)
        let first = try statement("createdAt >= %@ AND title BEGINSWITH %@", date, "ab")
        let second = try statement("createdAt >= %@ AND title BEGINSWITH %@", date + 1, "xyz")
        #expect(first.sql == second.sql)
        #expect(first.arguments.prefix(4).map(\.description) == ["100.5", "\"ab\"", "\"ac\"", "\"ab\""])
        #expect(second.arguments.prefix(4).map(\.description) == ["101.5", "\"xyz\"", "\"xy{\"", "\"xyz\""])
        // Nil gives another statement.
        #expect(try statement("title == %@", "a").sql != statement("title == %@", nil).sql)
    }

    static let refused: [(predicate: String, code: String)] = [
        ("count / small == 2", "function"), ("items == nil", "toMany"), ("title < 5", "mixedKinds"),
        ("title.length > 3", "function"), ("items[FIRST].size == 1", "function"),
        ("FUNCTION(title, 'a') == 1", "function"),
    ]

    @Test(arguments: Self.refused.indices)
    func `predicates that SQL cannot express are rejected with a code`(index: Int) throws {
        let (format, code) = Self.refused[index]
        do {
            _ = try statement(format)
            Issue.record("\(format) was not refused")
        } catch let refusal as PredicateRefusal {
            #expect(refusal.code.rawValue == code, "\(format)")
            #expect(!refusal.description.contains("\u{1}"))
        }
    }

    @Test func `a conjunction is divided between store and memory`() throws {
        let note = try #require(model.entitiesByName["Note"])
        var query = RowQuery(entity: note, predicate: NSPredicate(format: "count > 3 AND title.length > 2"))
        query.sortDescriptors = [NSSortDescriptor(key: "count", ascending: true)]
        query.limit = 3
        let division = try compiler.divide(query, store: 1)
        #expect(division.stored.predicate?.predicateFormat == "count > 3")
        #expect(division.stored.limit == 0)
        #expect(division.stored.sortDescriptors.count == 1)
        #expect(division.remainder?.predicate?.predicateFormat == "title.length > 2")
        #expect(division.remainder?.limit == 3)
        #expect(try compiler.explain(query, store: 1).contains("in memory: “title.length”"))
    }

    /// The part of a query that is evaluated in memory, and whether the division was kept from an earlier query.
    private func remainder(_ format: String, _ arguments: Any...) throws -> (format: String?, isKnown: Bool) {
        let note = try #require(model.entitiesByName["Note"])
        let query = RowQuery(entity: note, predicate: NSPredicate(format: format, argumentArray: arguments))
        switch try compiler.compileRows(query, selecting: .keys, store: 1) {
        case .statement: return (nil, true)
        case .divided(let division):
            return (division.remainder?.predicate?.predicateFormat, division.refusals.isEmpty)
        }
    }

    @Test func `queries that differ only in constants are divided once`() throws {
        let format = "count > %@ AND title.length > %@"
        #expect(try remainder(format, 3, 2) == ("title.length > 2", false))
        #expect(try remainder(format, 4, 5) == ("title.length > 5", true))
        // A constant of another kind is another statement.
        #expect(try remainder(format, "three", 5) == ("count > \"three\" AND title.length > 5", false))
        // Whether the pattern is valid depends on the constant alone.
        let pattern = "title MATCHES %@ AND title.length > 2"
        #expect(try remainder(pattern, "a+") == ("title.length > 2", false))
        #expect(try remainder(pattern, "a(") == ("title MATCHES \"a(\" AND title.length > 2", false))
        // A block predicate, which no database evaluates, has a key too.
        let block = NSPredicate { _, _ in true }
        for isKnown in [false, true] {
            let note = try #require(model.entitiesByName["Note"])
            let both = NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(format: "count > 1"), block])
            let query = RowQuery(entity: note, predicate: both)
            guard case .divided(let division) = try compiler.compileRows(query, selecting: .keys, store: 1) else {
                Issue.record("The block was not refused.")
                return
            }
            #expect(division.stored.predicate?.predicateFormat == "count > 1")
            #expect(division.refusals.isEmpty == isKnown)
        }
    }

    @Test func `a name with the characters of another key is an unknown key`() throws {
        // Its key would be that of the first predicate if names were not delimited by their lengths.
        _ = try statement("title == 'a' AND title == 'b' AND title == 'c'")
        #expect(throws: CocoaError.self) { try statement("#'title;s)(==@.title' == 'b' AND title == 'c'") }
    }

    @Test func `an unknown key is an error that names it`() throws {
        #expect(throws: CocoaError.self) { try statement("titel == 'a'") }
        #expect(throws: CocoaError.self) { try statement("parent.titel == 'a'") }
    }

    @Test func `dictionaries are grouped and filtered by the store`() throws {
        let note = try #require(model.entitiesByName["Note"])
        let total = NSExpressionDescription()
        total.name = "total"
        total.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "count")])
        total.expressionResultType = .integer64AttributeType
        var query = ValueQuery(
            query: RowQuery(entity: note, predicate: NSPredicate(format: "small > 1")),
            columns: [try #require(note.propertiesByName["isPinned"]), total])
        query.groupBy = [try #require(note.propertiesByName["isPinned"])]
        query.having = NSPredicate(format: "$total > 3")
        query.query.sortDescriptors = [NSSortDescriptor(key: "total", ascending: false)]
        #expect(
            try compiler.values(query, store: 1).query.sql == """
                SELECT t0.ZISPINNED, SUM(t0.ZCOUNT)
                FROM ZNOTE AS t0
                WHERE t0.ZSMALL > ?
                GROUP BY t0.ZISPINNED
                HAVING SUM(t0.ZCOUNT) > ?
                ORDER BY SUM(t0.ZCOUNT) DESC, t0.ZISPINNED
                """)
    }
}
