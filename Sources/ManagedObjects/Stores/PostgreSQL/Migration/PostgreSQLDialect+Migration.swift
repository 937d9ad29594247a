#if PostgreSQL
    extension PostgreSQLDialect: SQLMigrationDialect {
        func literal(ofBytes digits: String) -> String { "'\\x\(digits)'::bytea" }
        func literal(ofTextWithNUL digits: String) -> String? { nil }
        func literal(ofInfinity isNegative: Bool) -> String { "'\(isNegative ? "-" : "")Infinity'::float8" }

        func addingStorageByte(to expression: String) -> String { "('\\x01'::bytea || \(expression))" }
        /// The value of a file that was missing when the store was copied to the server is missing here too.
        func removingStorageByte(from expression: String) -> String {
            "(SELECT CASE get_byte(v, 0) WHEN 1 THEN substr(v, 2) END FROM (SELECT \(expression) AS v) AS s)"
        }

        func temporary(_ table: String) -> String { "pg_temp.\(table)" }
        var now: String { "(extract(epoch FROM now()) - 978307200)::float8" }
        var dropsColumns: Bool { true }
    }
#endif
