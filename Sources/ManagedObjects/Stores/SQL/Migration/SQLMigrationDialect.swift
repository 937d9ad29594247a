import SQLStores

/// The SQL syntax that a migration in place needs in addition to that of a store's statements.
protocol SQLMigrationDialect: SQLDialect {
    /// Bytes as a literal, from their hexadecimal digits.
    func literal(ofBytes digits: String) -> String
    /// A text with a NUL character as a literal, from the hexadecimal digits of its bytes; nil if the database stores no such text.
    func literal(ofTextWithNUL digits: String) -> String?
    /// An infinite number as a literal.
    func literal(ofInfinity isNegative: Bool) -> String

    /// The bytes of an expression after the storage byte of values in the row.
    func addingStorageByte(to expression: String) -> String
    /// The value of an expression with a storage byte.
    func removingStorageByte(from expression: String) -> String

    /// The name of a temporary table in statements.
    func temporary(_ table: String) -> String
    /// The time of the transaction, in seconds from the reference date.
    var now: String { get }
    /// Whether a column is removed without copying the table.
    var dropsColumns: Bool { get }
}
