#if PostgreSQL
    import ManagedObjects

    /// The indexes, views and triggers of a store in PostgreSQL that is migrated in place.
    struct PostgreSQLTableObjects: TableObjects {
        let schema: MigratedSchema
        /// Whether triggers record old values.
        let hasOldValues: Bool

        private func indexes(_ schema: SQLSchema) -> [String] { schema.indexStatements(in: PostgreSQLDialect()) }

        /// The statements of indexes that stay.
        private func unchanged(_ kept: Set<String>) -> Set<String> {
            Set(indexes(schema.old)).intersection(indexes(schema.new)).filter { kept.contains(Self.table(of: $0)) }
        }

        /// Views depend on the columns of their tables. A view of another program that depends on one of them is an error.
        func removal(except kept: Set<String>) -> [String] {
            let unchanged = unchanged(kept)
            return PostgreSQLDerivedTriggers(schema.old).removal
                + (hasOldValues ? PostgreSQLOldValues(schema.old).removal : [])
                + PostgreSQLViews(schema: schema.old).names.map { "DROP VIEW IF EXISTS \($0)" }
                + indexes(schema.old).filter { !unchanged.contains($0) }.map {
                    "DROP INDEX IF EXISTS \(Self.name(of: $0))"
                }
        }

        func creation(on kept: Set<String>) -> (statements: [String], constraints: [String]) {
            let unchanged = unchanged(kept)
            let missing = indexes(schema.new).filter { !unchanged.contains($0) }
            let isUnique = { (statement: String) in statement.hasPrefix("CREATE UNIQUE") }
            return (
                missing.filter { !isUnique($0) } + PostgreSQLViews(schema: schema.new).statements
                    + PostgreSQLDerivedTriggers(schema.new).statements
                    + (hasOldValues ? PostgreSQLOldValues(schema.new).triggers : []),
                missing.filter(isUnique)
            )
        }

        /// The name of the index that a statement creates.
        private static func name(of statement: String) -> String {
            statement.split(separator: " ").drop { $0 != "INDEX" }.dropFirst().first.map(String.init) ?? ""
        }
    }

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
