/// How a database writes what a migration in place needs beside the statements of a store.
protocol SQLMigrationDialect: SQLDialect {
    /// Bytes as a literal, from their hexadecimal digits.
    func literal(ofBytes digits: String) -> String
    /// A text with a NUL character as a literal, from the hexadecimal digits of its bytes; nil if the database stores no such text.
    func literal(ofTextWithNUL digits: String) -> String?
    /// An infinite number as a literal.
    func literal(ofInfinity isNegative: Bool) -> String

    /// The texts before and after an expression that precede its bytes by the storage byte of values in the row.
    var addingStorageByte: (before: String, after: String) { get }
    /// The texts before and after an expression with a storage byte that return the value itself.
    var removingStorageByte: (before: String, after: String) { get }

    /// The name of a temporary table in statements.
    func temporary(_ table: String) -> String
    /// The time of the transaction, in seconds from the reference date.
    var now: String { get }
    /// Whether a column is removed without copying the table.
    var dropsColumns: Bool { get }
}

extension SQLiteDialect: SQLMigrationDialect {
    /// The function that returns the data of a column with a storage byte, from the row or from a file.
    static let externalValueFunction = "CORALEXTERNALVALUE"

    func literal(ofBytes digits: String) -> String { "X'\(digits)'" }
    func literal(ofTextWithNUL digits: String) -> String? { "CAST(X'\(digits)' AS TEXT)" }
    func literal(ofInfinity isNegative: Bool) -> String { isNegative ? "-9e999" : "9e999" }

    var addingStorageByte: (before: String, after: String) { ("CAST(X'01' || ", " AS BLOB)") }
    var removingStorageByte: (before: String, after: String) { ("\(Self.externalValueFunction)(", ")") }

    func temporary(_ table: String) -> String { "temp.\(table)" }
    var now: String { "NSCoreDataNow()" }
    var dropsColumns: Bool { false }
}

#if PostgreSQL
    extension PostgreSQLDialect: SQLMigrationDialect {
        func literal(ofBytes digits: String) -> String { "'\\x\(digits)'::bytea" }
        func literal(ofTextWithNUL digits: String) -> String? { nil }
        func literal(ofInfinity isNegative: Bool) -> String { "'\(isNegative ? "-" : "")Infinity'::float8" }

        var addingStorageByte: (before: String, after: String) { ("('\\x01'::bytea || ", ")") }
        /// The value of a file that was missing when the store was copied to the server is missing here too.
        var removingStorageByte: (before: String, after: String) {
            ("(SELECT CASE get_byte(v, 0) WHEN 1 THEN substr(v, 2) END FROM (SELECT ", " AS v) AS s)")
        }

        func temporary(_ table: String) -> String { "pg_temp.\(table)" }
        var now: String { "(extract(epoch FROM now()) - 978307200)::float8" }
        var dropsColumns: Bool { true }
    }
#endif
