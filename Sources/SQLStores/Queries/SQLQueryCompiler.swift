import Foundation
import ManagedObjects
import PredicateLanguage
import SQLStatements
import Synchronization

/// Translates the requests of a context to SQL.
///
/// The text is generated once for all queries that differ only in constants, with a question mark for every value, so that a
/// repeated fetch only walks its predicate. Rows come from the table `t0`.
package final class SQLQueryCompiler: Sendable {
    let schema: SQLSchema
    let dialect: any SQLDialect
    /// The results for queries that were compiled before, by their keys.
    private let known = Mutex<[String: Known]>([:])
    private static let knownLimit = 1000

    private enum Known: Sendable {
        case text(Text)
        case division(QueryDivision.Pattern)
    }

    /// The text of a statement without the values of its parameters.
    private struct Text: Sendable {
        let sql: String
        let arguments: [SQLArgument]
    }

    init(schema: SQLSchema, dialect: any SQLDialect) {
        self.schema = schema
        self.dialect = dialect
    }

    /// A writer for one statement over the rows of an entity, which its index names.
    func writer(for entity: Int, store: UInt16, constants: [PredicateValue] = []) throws -> SQLWriter {
        try SQLWriter(entity, schema: schema, dialect: dialect, store: store, constants: constants)
    }

    // MARK: - Compiling

    /// The part of a query that the store executes.
    package enum Compiled {
        /// The whole query.
        case statement(SQLQuery)
        /// A part of the query must be evaluated in memory.
        case divided(QueryDivision)
    }

    /// Compiles the statement for the rows of a query. A query with a key that was compiled before costs a walk of its
    /// predicate and a lookup, whether or not it is divided.
    ///
    /// - Parameters:
    ///   - columns: The selected columns.
    ///   - store: The store's number in its coordinator.
    /// - Throws: `CocoaError.coreData` for a key that the entity does not have.
    package func compileRows(_ query: RowQuery, selecting columns: SelectedColumns, store: UInt16) throws -> Compiled {
        try compile(query, store: store, form: columns.form) { writer, condition, order in
            guard writer.subject.scope.joinCount + columns.joinCount <= SQLScope.joinLimit else {
                throw PredicateRefusal(.tooLarge, place: "the columns of a query")
            }
            var sql: SQLFragment = "SELECT \(columns.list)\nFROM \(writer.subject.scope.from)\(columns.joins)"
            if let restriction = restriction(of: query, to: condition) { sql.append("\nWHERE \(restriction)") }
            let order = order.isEmpty && !columns.areInOrder ? [] : order + ["t0.Z_PK"]
            if !order.isEmpty { sql.append("\nORDER BY \(order.joined(separator: ", "))") }
            sql.append(limits(of: query))
            return sql
        }
    }

    /// Compiles the statement for the number of rows of a query, with offset and limit applied.
    func compileCount(_ query: RowQuery, store: UInt16) throws -> Compiled {
        var query = query
        query.sortDescriptors = []
        return try compile(query, store: store, form: "C") { writer, condition, _ in
            func selecting(_ columns: String, _ restriction: SQLFragment?) -> SQLFragment {
                var sql: SQLFragment = "SELECT \(columns)\nFROM \(writer.subject.scope.from)"
                if let restriction { sql.append("\nWHERE \(restriction)") }
                return sql
            }
            if query.limit > 0 || query.offset > 0 {
                var sql = selecting("1", restriction(of: query, to: condition))
                sql.append(limits(of: query))
                return "SELECT COUNT(*) FROM (\(sql)) AS found"
            }
            var whole = query
            whole.excluded = []
            let restriction = restriction(of: whole, to: condition)
            let number = selecting("COUNT(*)", restriction)
            guard !query.excluded.isEmpty else { return number }
            // Subtracted, so that the rows of all others are counted by an index alone.
            let listed = SQLFragment(dialect.isListed("t0.Z_PK", .keys), [.excluded])
            let excluded = selecting("COUNT(*)", restriction.map { "\($0) AND \(listed)" } ?? listed)
            return "SELECT (\(number)) - (\(excluded))"
        }
    }

    /// The statement for the rows of a query: see ``compileRows(_:selecting:store:)``.
    ///
    /// - Throws: ``PredicateRefusal`` for a query that must be divided, and `CocoaError.coreData`.
    package func rows(_ query: RowQuery, selecting columns: SelectedColumns, store: UInt16) throws -> SQLQuery {
        try compileRows(query, selecting: columns, store: store).statement
    }

    private func compile(
        _ query: RowQuery, store: UInt16, form: String,
        write: (SQLWriter, SQLCondition?, [SQLFragment]) throws -> SQLFragment
    ) throws -> Compiled {
        var extraction = ConstantExtraction(store: store, extracts: false)
        _ = Self.parts(of: query, by: &extraction)
        let key = Self.key(of: query, predicate: extraction.key, store: store, form: form)
        switch known.withLock({ $0[key] }) {
        case .text(let text)?:
            return .statement(self.query(text, constants: extraction.constants, of: query, store: store))
        case .division(let pattern)?: return .divided(QueryDivision(query, pattern))
        case nil: break
        }
        do {
            if let refusal = extraction.refusal { throw refusal() }
            var extraction = ConstantExtraction(store: store)
            let (predicate, expectation) = Self.parts(of: query, by: &extraction)
            let writer = try writer(for: query.entityIndex, store: store, constants: extraction.constants)
            writer.readsAll = query.limit <= 0
            writer.examinesAll = predicate.map(SQLWriter.asksForMembers) ?? true
            var condition = try predicate.map { try writer.condition($0).indexed }
            if let candidates = expectation.flatMap({ writer.candidates($0) }) {
                condition = condition.map { SQLCondition("\($0.sql) AND \(candidates)") } ?? SQLCondition(candidates)
            }
            let order = try writer.order(query.sortDescriptors)
            let fragment = try write(writer, condition, order)
            let text = Text(sql: dialect.parameterized(fragment.text), arguments: fragment.arguments)
            if writer.isReusable { keep(.text(text), for: key) }
            return .statement(self.query(text, constants: extraction.constants, of: query, store: store))
        } catch let refusal as PredicateRefusal {
            var (division, pattern, isReusable) = try analyse(query, store: store)
            if division.refusals.isEmpty {
                // Each part can be translated, but not all of them together, such as too many joins.
                pattern = QueryDivision.Pattern(refusingAll: query)
                division = QueryDivision(query, pattern)
                division.refusals = [refusal]
            }
            if isReusable { keep(.division(pattern), for: key) }
            return .divided(division)
        }
    }

    /// The predicate and the expectation of a query without constants.
    private static func parts(
        of query: RowQuery, by extraction: inout ConstantExtraction
    ) -> (predicate: PredicateNode?, expectation: PredicateNode?) {
        let predicate = query.predicate.map { extraction.extract($0.embeddedNode) }
        return (predicate, query.expectation.map { extraction.extract(expectation: $0.embeddedNode) })
    }

    private func keep(_ result: Known, for key: String) {
        known.withLock { known in
            if known.count >= Self.knownLimit { known.removeAll() }
            known[key] = result
        }
    }

    private static func key(
        of query: RowQuery, predicate: QueryKey, store: UInt16, form: String
    ) -> String {
        var key = predicate
        key += "\u{2}"
        key.append(query.entityIndex)
        key += ","
        key.append(Int(store))
        if query.includesSubentities { key += "+" }
        for descriptor in query.sortDescriptors {
            key += descriptor.ascending ? "<" : ">"
            key.append(descriptor.key ?? "")
            key += ":"
            key.append(descriptor.comparesByClosure ? "*" : descriptor.selector?.name ?? "")
        }
        if query.limit > 0 { key += "L" }
        if query.offset > 0 { key += "O" }
        if !query.excluded.isEmpty { key += "X" }
        key.append(form)
        return key.text
    }

    private func query(_ text: Text, constants: [PredicateValue], of query: RowQuery, store: UInt16) -> SQLQuery {
        let excluded = query.excluded.lazy.filter { $0.store == store && !$0.isTemporary }.map(\.number)
        return SQLQuery(
            sql: text.sql,
            arguments: text.arguments.map {
                if case .excluded = $0 { return .text(dialect.value(of: excluded)) }
                return $0.value(constants: constants, offset: query.offset, limit: query.limit)
            })
    }

    // MARK: - Parts

    /// The WHERE clause: the condition on the entity, the predicate, and the excluded keys.
    func restriction(of query: RowQuery, to condition: SQLCondition?) -> SQLFragment? {
        let entities = schema.entity(at: query.entityIndex).flatMap { entity in
            let rows = query.includesSubentities ? entity.isOfReadHierarchy("t0") : entity.isOfEntityItself("t0")
            return rows.text(in: dialect)
        }
        let others =
            query.excluded.isEmpty ? nil : SQLFragment("NOT \(dialect.isListed("t0.Z_PK", .keys))", [.excluded])
        let parts = [entities.map { SQLFragment(stringLiteral: $0) }, condition?.sql, others].compactMap(\.self)
        return parts.isEmpty ? nil : parts.joined(separator: " AND ")
    }

    func limits(of query: RowQuery) -> SQLFragment {
        dialect.limits(limit: query.limit > 0 ? .limit : nil, offset: query.offset > 0 ? .offset : nil)
    }
}

extension SQLQueryCompiler.Compiled {
    /// The statement of the whole query.
    ///
    /// - Throws: ``PredicateRefusal`` if the query must be divided.
    var statement: SQLQuery {
        get throws {
            switch self {
            case .statement(let statement): return statement
            case .divided(let division):
                throw division.refusals.first ?? PredicateRefusal(.function, place: "a part of the query")
            }
        }
    }
}

extension SQLArgument {
    func value(constants: [PredicateValue], offset: Int, limit: Int) -> ColumnValue {
        switch self {
        case .fixed(let value): value
        case .constant(let position, let conversion):
            conversion.value(of: constants[position]) { $0.storedObject?.key.number }
        case .now: .real(Date().timeIntervalSinceReferenceDate)
        case .offset: .integer(Int64(offset))
        case .limit: .integer(Int64(limit))
        case .excluded: .null
        }
    }
}

/// The columns of the rows that a query selects from the table `t0`.
package enum SelectedColumns {
    /// All that a plan reads: the plan for the entity of the query.
    case all(RowPlan)
    /// `Z_PK`.
    case keys
    /// `Z_PK` and `Z_ENT`.
    case keysAndEntities
    /// Expressions over `t0` and tables that are joined to it: the rows are in the order of the query, and then in that of the keys.
    case expressions([String], joins: String, joinCount: Int)

    /// The list in a statement.
    var list: String {
        switch self {
        case .all(let plan): plan.qualifiedList
        case .keys: "t0.Z_PK"
        case .keysAndEntities: "t0.Z_PK, t0.Z_ENT"
        case .expressions(let expressions, _, _): expressions.joined(separator: ", ")
        }
    }

    /// The tables that are joined to `t0` for the columns.
    var joins: String { if case .expressions(_, let joins, _) = self { joins } else { "" } }
    var joinCount: Int { if case .expressions(_, _, let count) = self { count } else { 0 } }

    /// Whether rows without an order of the query are in that of the keys.
    var areInOrder: Bool { if case .expressions = self { true } else { false } }

    /// Distinguishes the statements of equal queries in the compiler's results.
    var form: String {
        switch self {
        case .all: "R"
        case .keys: "P"
        case .keysAndEntities: "E"
        case .expressions(_, let joins, _): "S\(list)\(joins)"
        }
    }
}

/// Identifies the queries that differ only in constants, as a text that is composed of many small parts.
struct QueryKey {
    // As bytes, because appending a character to a string costs ten times as much.
    private var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(128) }

    /// The text, to compare it with others.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Appends an ASCII character.
    static func += (key: inout QueryKey, character: Unicode.Scalar) {
        key.bytes.append(UInt8(truncatingIfNeeded: character.value))
    }

    /// Appends a name with its length, because names in a predicate may contain any character.
    mutating func append(_ name: String) {
        append(name.utf8.count)
        self += ":"
        bytes.append(contentsOf: name.utf8)
    }

    /// Appends a number, which ends with the next character that is not a digit.
    mutating func append(_ number: Int) {
        if (0..<10).contains(number) {
            bytes.append(UInt8(ascii: "0") + UInt8(number))
        } else {
            bytes.append(contentsOf: String(number).utf8)
        }
    }
}
