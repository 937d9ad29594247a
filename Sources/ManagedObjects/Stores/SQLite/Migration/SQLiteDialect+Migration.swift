import SQLiteConnections

// What SQLite needs for a migration in place.

extension SQLiteDialect: SQLMigrationDialect {
    /// The function that returns the data of a column with a storage byte, from the row or from a file.
    static let externalValueFunction = "CORALEXTERNALVALUE"

    func literal(ofBytes digits: String) -> String { "X'\(digits)'" }
    func literal(ofTextWithNUL digits: String) -> String? { "CAST(X'\(digits)' AS TEXT)" }
    func literal(ofInfinity isNegative: Bool) -> String { isNegative ? "-9e999" : "9e999" }

    func addingStorageByte(to expression: String) -> String { "CAST(X'01' || \(expression) AS BLOB)" }
    func removingStorageByte(from expression: String) -> String { "\(Self.externalValueFunction)(\(expression))" }

    func temporary(_ table: String) -> String { "temp.\(table)" }
    var now: String { "NSCoreDataNow()" }
    var dropsColumns: Bool { false }
}
