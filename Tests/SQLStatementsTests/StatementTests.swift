import Foundation
import PredicateLanguage
import SQLStatements
import Testing

/// Statements are values that a dialect writes, without a database.
@Suite struct StatementTests {
    /// Standard SQL, with a number for each parameter.
    private struct NumberingDialect: SQLDialect {
        func parameterized(_ text: String) -> String { numbered(text) { "$\($0)" } }
        func isListed(_ expression: String, _ list: SQLList) -> String { "\(expression) = ANY(?)" }
        var keyCounts: [Int] { [] }
        func value(of keys: some Sequence<Int64>) -> String { "{\(keys.map(String.init).joined(separator: ","))}" }
        func value(of texts: [String]) -> String { "{\(texts.joined(separator: ","))}" }
        func greater(_ first: String, _ second: String) -> String { "GREATEST(\(first), \(second))" }
        func byteCount(of expression: String) -> String { "octet_length(\(expression))" }
        func constant(_ condition: Bool) -> String { condition ? "TRUE" : "FALSE" }
        var sameOperator: String { "IS NOT DISTINCT FROM" }
        var differentOperator: String { "IS DISTINCT FROM" }
        func position(of part: SQLFragment, in text: SQLFragment) -> SQLFragment { "position(\(part) IN \(text))" }
        func name(of function: PredicateFunctions.Name) -> String? { nil }
        func name(of type: SQLColumn.Declaration) -> String { type == .integer ? "bigint" : "text" }
        func indexTerm(_ column: String, ascending: Bool) -> String { "\(column) \(ascending ? "ASC" : "DESC")" }
        var hasSpatialIndexes: Bool { false }
        var joinsBySize: Bool { false }
        func orderTerm(_ expression: SQLFragment, ascending: Bool, collation: String?) -> SQLFragment? { expression }
        func limits(limit: SQLArgument?, offset: SQLArgument?) -> SQLFragment { "" }
    }

    private func text(_ command: some SQLCommand) -> String { NumberingDialect().text(of: command) }

    @Test func `parameters are numbered in the order of their question marks, and those in quotes are text`() {
        let update = SQLUpdate(
            "ZNOTE", set: [.parameter("ZTITLE"), .expression("'why?'", of: "ZBODY"), .versionIncrement()],
            where: .all([.key, .version]))
        #expect(
            text(update)
                == "UPDATE ZNOTE SET ZTITLE = $1, ZBODY = 'why?', Z_OPT = COALESCE(Z_OPT, 0) + 1 WHERE Z_PK = $2 AND COALESCE(Z_OPT, 0) = $3"
        )
    }

    @Test func `a numbered parameter is used again, and the next one follows the highest`() {
        let pairs = SQLPairs(
            table: "Z_1TAGS", source: "Z_1NOTES", destination: "Z_2TAGS", position: "Z_FOK_2TAGS", inversePosition: nil,
            isReflexive: false)
        let insertion = text(pairs.orderedInsertion ?? pairs.insertion)
        #expect(
            insertion.hasPrefix("INSERT INTO Z_1TAGS (Z_1NOTES, Z_2TAGS, Z_FOK_2TAGS) VALUES ($1, $2, COALESCE($3, "))
        #expect(insertion.contains("WHERE Z_1NOTES = $1), 1024) + 1024)"))
        #expect(
            text(SQLDelete(from: "T", where: .all([.among("a", parameters: 2, areFirst: true), .equals("b")])))
                == "DELETE FROM T WHERE a IN ($1, $2) AND b = $3")
    }

    @Test func `conditions without a part restrict nothing`() {
        #expect(text(SQLSelect(["a"], from: "T", where: .all([.none, .none]))) == "SELECT a FROM T")
        #expect(
            text(SQLSelect(["a"], from: "T", where: .any([.isNotNull("a"), .notTrue(.text("b"))]), orderBy: ["a"]))
                == "SELECT a FROM T WHERE (a IS NOT NULL OR (b) IS NOT TRUE) ORDER BY a")
    }

    @Test func `a literal separates names from values`() {
        let name = "ZTITLE"
        let condition: SQLFragment = "\(name) = \(SQLArgument.text("it's")) AND n < \(SQLArgument.integer(3))"
        #expect(condition.text == "ZTITLE = ? AND n < ?")
        let values = condition.arguments.compactMap { if case .fixed(let value) = $0 { value } else { nil } }
        #expect(values == [.text("it's"), .integer(3)])
    }

    @Test func `an unknown condition encloses nothing, and its negation neither`() {
        let known = EnclosingConditions(necessary: "a", sufficient: "a")
        let both = EnclosingConditions.all([known, .unknown])
        #expect(both.necessary?.text == "(a)" && both.sufficient == nil)
        let either = EnclosingConditions.any([known, .unknown])
        #expect(either.necessary == nil && either.sufficient?.text == "(a)")
        #expect(either.negated.necessary?.text == "((a)) IS NOT TRUE" && either.negated.sufficient == nil)
    }

    @Test func `a name that is too long keeps its beginning, and differs from another with the same one`() {
        let (one, other) = (String(repeating: "Ä", count: 40) + "1", String(repeating: "Ä", count: 40) + "2")
        let names = [one, other].map { SQLNaming.postgreSQL.fitting($0) }
        #expect(names.allSatisfy { $0.utf8.count <= 63 && $0.hasPrefix("ÄÄÄ") } && names[0] != names[1])
        #expect(SQLNaming.sqlite.fitting(one) == one)
    }
}
