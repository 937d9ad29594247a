/// Expressions of standard SQL that several statements contain.
enum SQLExpression {
    /// An expression for each number that a column may have.
    ///
    /// - Parameter other: The expression for other numbers; nil for NULL.
    static func choice(
        by column: String, _ cases: some Sequence<(number: Int64, result: String)>, else other: String? = nil
    ) -> String {
        let terms = cases.map { "WHEN \($0.number) THEN \($0.result)" }.joined(separator: " ")
        return "CASE \(column) \(terms)\(other.map { " ELSE \($0)" } ?? "") END"
    }

    /// The number of a row among those with the same value of an expression, from 1.
    static func number(among group: String, by order: String) -> String {
        "row_number() OVER (PARTITION BY \(group) ORDER BY \(order))"
    }

    /// The position of a row among those with the same owner, in the order of a column.
    static func position(in owner: String, by order: String) -> String {
        "(\(number(among: owner, by: order)) - 1) * \(OrderedPositions.step) + \(OrderedPositions.position(ofMember: 0))"
    }
}

extension SQLDialect {
    /// A selection of one value as an expression.
    func expression(_ selection: SQLSelect) -> String { "(\(selection.text(in: self)))" }
}
