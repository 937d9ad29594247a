import CoreDataErrors
import Foundation
import ManagedObjects
import PredicateLanguage
import SQLStatements

/// A statement for dictionaries, and the conversion of its columns to values.
struct SQLValueStatement {
    /// The type in which a column's value is returned.
    enum Form {
        /// The type of an attribute.
        case attribute(EntityLayout.Slot.Kind)
        /// The type of an expression, if it is known.
        case expression(SQLKind)
        /// An object ID: the column contains a primary key, and the one at `number`, if any, the number of the entity, of which the
        /// index is the declared one.
        case reference(Int, number: Int?)
    }

    let query: SQLQuery
    /// One for each requested column. The columns with entities' numbers follow after all of them.
    let forms: [Form]
}

extension SQLQueryCompiler {
    /// The statement for the dictionaries of a query.
    ///
    /// - Throws: ``PredicateRefusal`` for expressions that cannot be translated to SQL; the whole query is then
    ///   evaluated in memory. `CocoaError.coreData` for a key that the entity does not have.
    func values(_ query: ValueQuery, store: UInt16) throws -> SQLValueStatement {
        let writer = try writer(for: query.query.entityIndex, store: store)
        writer.readsAll = query.query.limit <= 0
        let condition = try query.query.predicate.map { try writer.condition($0.embeddedNode).indexed }
        let restriction = restriction(of: query.query, to: condition)
        writer.aggregatesRows = true
        let (columns, groupColumns) = (
            query.columns.map(ValueQuery.Column.init), query.groupBy.map(ValueQuery.Column.init)
        )
        let names = Set(columns.map(\.name))
        for column in columns + groupColumns {
            if case .expression(let expression?) = column.source { writer.columns[column.name] = expression }
        }
        var selected: [SQLFragment] = []
        var numbers: [SQLFragment] = []
        var forms: [SQLValueStatement.Form] = []
        for column in columns {
            let value = try self.value(of: column, writer)
            selected.append(value.sql)
            forms.append(try form(of: column, value, numbers: &numbers, columns: columns.count))
        }
        let isOneRow = groupColumns.isEmpty && writer.hasAggregates
        let grouped = try groupColumns.map { try self.value(of: $0, writer) }
        let groups = grouped.map(\.sql)
        let having = try query.having.map { try writer.condition($0.embeddedNode) }
        var order = try writer.order(query.query.sortDescriptors)
        if query.isDistinct, query.query.sortDescriptors.contains(where: { $0.key.map(names.contains) != true }) {
            // In memory the first of equal dictionaries has its place in the order; SQL has no such rule.
            throw PredicateRefusal(.function, place: "an order by a column that is not fetched")
        }
        if query.isDistinct, groups.contains(where: { group in !selected.contains { $0.text == group.text } }) {
            // As above: groups are in the order of their values.
            throw PredicateRefusal(.function, place: "distinct results of groups by a column that is not fetched")
        }
        // Equal expressions with parameters of their own are different ones for a server.
        let repeated = groups + (query.isDistinct ? order : [])
        if dialect.numbersParameters, repeated.contains(where: { !$0.arguments.isEmpty }) {
            throw PredicateRefusal(.function, place: "a group or an order by an expression with constants")
        }
        if isOneRow {
            order = []
        } else if !groups.isEmpty {
            // Evaluation in memory returns groups in the order of their grouping values, and so does this statement.
            order += groups.compactMap { dialect.orderTerm($0, ascending: true, collation: nil) }
        } else if !order.isEmpty, !query.isDistinct {
            order.append("t0.Z_PK")
        }
        var sql: SQLFragment = "SELECT \(query.isDistinct ? "DISTINCT " : "")"
        sql.append("\((selected + numbers).joined(separator: ", "))\nFROM \(writer.subject.scope.from)")
        if let restriction { sql.append("\nWHERE \(restriction)") }
        if !groups.isEmpty {
            // The number of the entity of a grouped reference is read with it.
            let companions = grouped.compactMap { $0.reference?.number }
            sql.append("\nGROUP BY \((groups + companions).joined(separator: ", "))")
        }
        if let having { sql.append("\nHAVING \(having.sql)") }
        if !order.isEmpty { sql.append("\nORDER BY \(order.joined(separator: ", "))") }
        sql.append(limits(of: query.query))
        let arguments = sql.arguments.map {
            $0.value(constants: [], offset: query.query.offset, limit: query.query.limit)
        }
        return SQLValueStatement(
            query: SQLQuery(sql: dialect.parameterized(sql.text), arguments: arguments), forms: forms)
    }

    private func value(of column: ValueQuery.Column, _ writer: SQLWriter) throws -> SQLValue {
        switch column.source {
        case .property: return try writer.value(.keyPath(base: .evaluatedObject, keys: [column.name]))
        case .expression(let expression?): return try writer.value(expression)
        case .expression(nil):
            throw CocoaError(
                .coreData, userInfo: [NSLocalizedDescriptionKey: "The column “\(column.name)” has no expression."])
        }
    }

    private func form(
        of column: ValueQuery.Column, _ value: SQLValue, numbers: inout [SQLFragment], columns: Int
    ) throws -> SQLValueStatement.Form {
        if let reference = value.reference {
            guard let number = reference.number else { return .reference(reference.entity, number: nil) }
            numbers.append(number)
            return .reference(reference.entity, number: columns + numbers.count - 1)
        }
        switch value.kind {
        case .bytes, .entity, .entityName, .key: throw PredicateRefusal(.notStored, place: column.name)
        default: break
        }
        return column.kind.map { .attribute($0) } ?? .expression(value.kind)
    }
}

extension SQLValueStatement {
    /// Makes the dictionary of a statement's current row.
    ///
    /// - Parameter objectID: Creates an object ID from the index of the entity and the primary key.
    func read(
        _ row: some SQLRow, schema: SQLSchema, into results: inout RowDictionaries,
        objectID: (Int, Int64) -> AnyObject
    ) {
        for column in forms.indices where !row.isNull(column) {
            let object: AnyObject?
            switch forms[column] {
            case .attribute(let kind): object = Self.object(row, column, kind: kind)
            case .expression(let kind):
                object = EntityLayout.Slot.Kind(kind).flatMap { Self.object(row, column, kind: $0) }
            case .reference(let declared, let number):
                let own = number.flatMap { schema.entityIndex(number: row.integer($0)) }
                object = objectID(own ?? declared, row.integer(column))
            }
            if let object { results.set(object, column: column) }
        }
        results.endRow()
    }

    private static func object(_ row: some SQLRow, _ column: Int, kind: EntityLayout.Slot.Kind) -> AnyObject? {
        // The most frequent ones, without the casts that a value of any type needs.
        switch (kind, row.type(column)) {
        case (.string, .text): return row.text(column).map { NSString(string: $0) }
        case (.integer64, .integer): return NSNumber(value: row.integer(column))
        case (.double, .real): return NSNumber(value: row.double(column))
        default: return value(row.value(column), kind: kind).map { RowDictionaries.object(of: $0) }
        }
    }

    private static func value(_ value: ColumnValue, kind: EntityLayout.Slot.Kind) -> Any? {
        switch kind {
        case .integer16, .integer32, .integer64, .position, .boolean:
            value.integerValue.flatMap { Value.integer($0).object(kind: kind) }
                ?? value.realValue.map { NSNumber(value: $0) }
        case .double, .float, .date:
            value.realValue.flatMap { Value.real($0).object(kind: kind) }
        case .decimal: Self.decimal(value)
        case .string: value.textValue
        case .data: value.blobValue
        case .uuid: value.uuidValue
        case .uri: value.textValue.flatMap { URL(string: $0) }
        case .transformable, .undefined, .toOne: nil
        }
    }

    /// A decimal from the stored double: the shortest decimal representation of the double, which is the value that was
    /// written.
    private static func decimal(_ value: ColumnValue) -> NSDecimalNumber? {
        // Read from the storage, because the conversion to an integer would discard the fraction.
        if case .integer(let whole) = value { return NSDecimalNumber(value: whole) }
        return value.realValue.map { NSDecimalNumber(decimal: Decimal(shortestOf: $0)) }
    }
}

extension EntityLayout.Slot.Kind {
    /// The kind of attribute that can hold values of an expression's kind.
    fileprivate init?(_ kind: SQLKind) {
        switch kind {
        case .integer: self = .integer64
        case .boolean: self = .boolean
        case .real: self = .double
        case .decimal: self = .decimal
        case .string: self = .string
        case .date: self = .date
        case .uuid: self = .uuid
        case .url: self = .uri
        case .data: self = .data
        case .bytes, .key, .entity, .entityName: return nil
        }
    }
}
