import Foundation
import GRDB
import PredicateLanguage
import Synchronization

/// Translates the requests of a context to SQL.
///
/// The text is generated once for each shape of a query, with a question mark for every value, so that a repeated fetch
/// only walks its predicate. Rows come from the table `t0`.
final class SQLQueryCompiler: Sendable {
    let schema: SQLSchema
    /// The generated texts, by shape.
    private let texts = Mutex<[String: Text]>([:])
    private static let textLimit = 1000

    /// The text of a statement without the values of its parameters.
    private struct Text: Sendable {
        let sql: String
        let arguments: [SQLArgument]
    }

    init(schema: SQLSchema) {
        self.schema = schema
    }

    // MARK: - Statements

    /// The statement for the rows of a query.
    ///
    /// - Parameters:
    ///   - columns: The selected columns, such as `t0.Z_PK, t0.Z_ENT`.
    ///   - store: The store's number in its coordinator.
    /// - Throws: ``PredicateRefusal`` for predicates that cannot be translated to SQL: see ``divide(_:store:)``.
    ///   `CocoaError.coreData` for a key that the entity does not have.
    func rows(_ query: RowQuery, selecting columns: String, store: UInt16) throws -> SQLQuery {
        try statement(query, store: store, form: "R" + columns) { writer, restriction, order in
            var sql: SQLFragment = "SELECT \(columns)\nFROM \(writer.subject.scope.from)"
            if let restriction { sql.append("\nWHERE \(restriction)") }
            if !order.isEmpty { sql.append("\nORDER BY \(order.joined(separator: ", ")), t0.Z_PK") }
            sql.append(Self.limits(of: query))
            return sql
        }
    }

    /// The statement for the number of rows of a query, with offset and limit applied.
    func count(_ query: RowQuery, store: UInt16) throws -> SQLQuery {
        var query = query
        query.sortDescriptors = []
        return try statement(query, store: store, form: "C") { writer, restriction, _ in
            let isLimited = query.limit > 0 || query.offset > 0
            var sql: SQLFragment = "SELECT \(isLimited ? "1" : "COUNT(*)")\nFROM \(writer.subject.scope.from)"
            if let restriction { sql.append("\nWHERE \(restriction)") }
            guard isLimited else { return sql }
            sql.append(Self.limits(of: query))
            return "SELECT COUNT(*) FROM (\(sql))"
        }
    }

    private func statement(
        _ query: RowQuery, store: UInt16, form: String,
        write: (SQLWriter, SQLFragment?, [SQLFragment]) throws -> SQLFragment
    ) throws -> SQLQuery {
        var shape = PredicateShape(store: store)
        let predicate = try query.predicate.map { predicate in
            try Self.naming(predicate.embeddedNode) { try shape.extract(predicate.embeddedNode) }
        }
        let key = Self.key(of: query, shape: shape.key, store: store, form: form)
        if let known = texts.withLock({ $0[key] }) {
            return Self.query(known, constants: shape.constants, of: query)
        }
        let writer = try SQLWriter(query.entity, schema: schema, store: store, constants: shape.constants)
        let condition = try predicate.map { predicate in
            try Self.naming(query.predicate?.embeddedNode ?? predicate) { try writer.condition(predicate).indexed }
        }
        let order = try writer.order(query.sortDescriptors)
        let fragment = try write(writer, Self.restriction(of: query, to: condition, schema: schema), order)
        let text = Text(sql: fragment.text, arguments: fragment.arguments)
        if writer.isReusable {
            texts.withLock { texts in
                if texts.count >= Self.textLimit { texts.removeAll() }
                texts[key] = text
            }
        }
        return Self.query(text, constants: shape.constants, of: query)
    }

    private static func key(of query: RowQuery, shape: String, store: UInt16, form: String) -> String {
        var key = shape
        key.reserveCapacity(shape.utf8.count + form.utf8.count + 40)
        key += "\u{2}\(query.entity.index),\(store)"
        if query.includesSubentities { key += "+" }
        for descriptor in query.sortDescriptors {
            key += descriptor.ascending ? "<" : ">"
            key += descriptor.key ?? ""
            key += descriptor.comparesByClosure ? "*" : descriptor.selector?.name ?? ""
        }
        if query.limit > 0 { key += "L" }
        if query.offset > 0 { key += "O" }
        key += form
        return key
    }

    private static func query(_ text: Text, constants: [PredicateValue], of query: RowQuery) -> SQLQuery {
        SQLQuery(
            sql: text.sql,
            arguments: text.arguments.map { $0.value(constants: constants, offset: query.offset, limit: query.limit) })
    }

    // MARK: - Parts

    /// The WHERE clause: the condition on the entity, and the predicate.
    static func restriction(of query: RowQuery, to condition: SQLCondition?, schema: SQLSchema) -> SQLFragment? {
        let entities = schema.entity(query.entity).flatMap { Self.entities($0, query) }
        return switch (entities, condition?.sql) {
        case (let entities?, let condition?): "\(entities) AND \(condition)"
        case (let only?, nil), (nil, let only?): only
        case (nil, nil): nil
        }
    }

    /// The condition on the entity, if the table also contains rows of others.
    private static func entities(_ entity: SQLEntity, _ query: RowQuery) -> SQLFragment? {
        guard entity.sharesTable, entity.entity.superentity != nil || !query.includesSubentities else { return nil }
        let numbers = query.includesSubentities ? entity.hierarchyNumbers : [entity.number]
        if numbers.count == 1 { return "t0.Z_ENT = \(SQLArgument.integer(numbers[0]))" }
        let marks = numbers.map { number -> SQLFragment in "\(SQLArgument.integer(number))" }
        return "t0.Z_ENT IN (\(marks.joined(separator: ", ")))"
    }

    static func limits(of query: RowQuery) -> SQLFragment {
        switch (query.limit > 0, query.offset > 0) {
        case (false, false): ""
        case (true, false): "\nLIMIT \(SQLArgument.limit)"
        case (true, true): "\nLIMIT \(SQLArgument.limit) OFFSET \(SQLArgument.offset)"
        case (false, true): "\nLIMIT -1 OFFSET \(SQLArgument.offset)"
        }
    }

    /// Reports a refused part as the user wrote it, instead of its form without constants.
    static func naming<Result>(_ predicate: PredicateNode, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let refusal as PredicateRefusal where refusal.place.contains("\u{1}") {
            throw PredicateRefusal(refusal.code, predicate)
        }
    }
}

extension SQLArgument {
    func value(constants: [PredicateValue], offset: Int, limit: Int) -> DatabaseValue {
        switch self {
        case .fixed(let value): value
        case .constant(let position, let conversion): conversion.value(of: constants[position])
        case .now: Date().timeIntervalSinceReferenceDate.databaseValue
        case .offset: Int64(offset).databaseValue
        case .limit: Int64(limit).databaseValue
        }
    }
}
