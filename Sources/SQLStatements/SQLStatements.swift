import StoreSupport
/// A statement as a value, independent of the database that executes it.
package protocol SQLCommand: Sendable {
    /// The text in a dialect, with a question mark for each parameter: see ``SQLDialect``.
    func text(in dialect: some SQLDialect) -> String
}

/// A statement and the values of its parameters, in order.
///
/// Equal queries must have equal texts, because prepared statements are cached by their text. Values therefore belong
/// in `arguments`.
package struct SQLQuery: Sendable {
    package var sql: String
    package var arguments: [ColumnValue]

    package init(sql: String, arguments: [ColumnValue] = []) {
        self.sql = sql
        self.arguments = arguments
    }

    /// A command in a dialect.
    package init(_ command: some SQLCommand, _ arguments: [ColumnValue] = [], in dialect: any SQLDialect) {
        self.init(sql: dialect.text(of: command), arguments: arguments)
    }
}

/// Expressions of standard SQL that several statements contain.
package enum SQLExpression {
    /// An expression for each number that a column may have.
    ///
    /// - Parameter other: The expression for other numbers; nil for NULL.
    package static func choice(
        by column: String, _ cases: some Sequence<(number: Int64, result: String)>, else other: String? = nil
    ) -> String {
        let terms = cases.map { "WHEN \($0.number) THEN \($0.result)" }.joined(separator: " ")
        return "CASE \(column) \(terms)\(other.map { " ELSE \($0)" } ?? "") END"
    }

    /// The number of a row among those with the same value of an expression, from 1.
    package static func number(among group: String, by order: String) -> String {
        "row_number() OVER (PARTITION BY \(group) ORDER BY \(order))"
    }

    /// The position of a row among those with the same owner, in the order of a column.
    package static func position(in owner: String, by order: String) -> String {
        "(\(number(among: owner, by: order)) - 1) * \(OrderedPositions.step) + \(OrderedPositions.position(ofMember: 0))"
    }
}

extension SQLDialect {
    /// A selection of one value as an expression.
    package func expression(_ selection: SQLSelect) -> String { "(\(selection.text(in: self)))" }
}
