#if PostgreSQL
    import CoreDataErrors
    import Foundation
    import ManagedObjects
    import PostgreSQLClient

    /// Makes the tables of a draft equal to those of a store that others change.
    ///
    /// What a transaction of the target has copied is removed from the log when that transaction is committed. Rows are always
    /// copied as they are now: copying them twice has no effect.
    struct PostgreSQLMoveFollower {
        private let tables: [PostgreSQLMovedTable]
        private let source: PostgreSQLConnection
        private let target: PostgreSQLConnection

        /// The temporary table of both connections with the keys of the rows that are copied.
        private static let keys = "pg_temp.coral_keys"

        init(
            _ tables: [PostgreSQLMovedTable], from source: PostgreSQLConnection, to target: PostgreSQLConnection
        ) throws {
            (self.tables, self.source, self.target) = (tables, source, target)
            for connection in [source, target] {
                try connection.execute(
                    script: "CREATE TEMP TABLE coral_keys (Z_TABLE INT, Z_KEY BIGINT, Z_SECONDKEY BIGINT)")
            }
        }

        // MARK: - Copying

        /// Creates the tables, and copies all rows in one state.
        ///
        /// - Parameter didCopy: Called with the number of further rows.
        func copyAll(_ didCopy: (Int) throws -> Void) throws {
            try source.execute(script: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try target.execute(script: "BEGIN")
            for table in tables {
                try target.execute(script: table.creation)
                if table.hasMovedRows { try copy(table, didCopy) }
            }
            try target.execute(script: "COMMIT")
            try source.execute(script: "COMMIT")
        }

        private func copy(_ table: PostgreSQLMovedTable, _ didCopy: (Int) throws -> Void = { _ in }) throws {
            try source.copy(
                "SELECT \(table.columnList) FROM \(table.name)", to: "\(table.name) (\(table.columnList))", of: target,
                didCopy: didCopy)
        }

        // MARK: - Following

        /// Copies the rows again that were written since the last pass, in one state of the source.
        ///
        /// - Parameter body: Called when both have the same rows.
        /// - Returns: The number of keys.
        @discardableResult
        func pass(_ body: () throws -> Void = {}) throws -> Int {
            try source.execute(script: "BEGIN ISOLATION LEVEL REPEATABLE READ")
            try target.execute(script: "BEGIN")
            let count = try copyNoted()
            try body()
            try target.execute(script: "COMMIT")
            try source.execute(script: "COMMIT")
            return count
        }

        /// Copies the last rows, the tables whose rows are not noted, and creates what the tables need to be used. The source is in
        /// a transaction, which has locked the tables, and remains in it.
        func copyRest(_ statements: [String]) throws {
            try target.execute(script: "BEGIN")
            try copyNoted()
            for table in tables where table.key.isEmpty && table.hasMovedRows {
                try target.execute(script: "DELETE FROM \(table.name)")
                try copy(table)
            }
            try target.execute(script: (statements + ["COMMIT"]).joined(separator: ";\n"))
        }

        @discardableResult
        private func copyNoted() throws -> Int {
            try source.execute(
                script: """
                    TRUNCATE \(Self.keys);
                    WITH noted AS (DELETE FROM \(PostgreSQLMoveLog.table) RETURNING *)
                    INSERT INTO \(Self.keys) SELECT DISTINCT * FROM noted;
                    ANALYZE \(Self.keys)
                    """)
            let found = try source.execute(
                "SELECT Z_TABLE, count(*), bool_or(Z_KEY IS NULL)::int FROM \(Self.keys) GROUP BY Z_TABLE ORDER BY Z_TABLE"
            )
            var count = 0
            for row in 0..<found.rowCount {
                let number = Int(found.integer(row, 0))
                count += Int(found.integer(row, 1))
                if found.integer(row, 2) == 1 {
                    try target.execute(script: "DELETE FROM \(tables[number].name)")
                    try copy(tables[number])
                } else {
                    try copyNoted(number)
                }
            }
            return count
        }

        private func copyNoted(_ number: Int) throws {
            let table = tables[number]
            let condition = zip(table.key, ["Z_KEY", "Z_SECONDKEY"]).map { "t.\($0) = k.\($1)" }
                .joined(separator: " AND ")
            try target.execute(script: "TRUNCATE \(Self.keys)")
            try source.copy(
                "SELECT * FROM \(Self.keys) WHERE Z_TABLE = \(number)", to: Self.keys, of: target
            ) { _ in }
            try target.execute(
                script:
                    "ANALYZE \(Self.keys); DELETE FROM \(table.name) AS t USING \(Self.keys) AS k WHERE \(condition)")
            let columns = table.columns.map { "t.\($0)" }.joined(separator: ", ")
            try source.copy(
                "SELECT \(columns) FROM \(table.name) AS t JOIN \(Self.keys) AS k ON \(condition) WHERE k.Z_TABLE = \(number)",
                to: "\(table.name) (\(table.columnList))", of: target
            ) { _ in }
        }

        // MARK: - Comparing

        /// Compares the contents of both, within a pass: the numbers of rows, and sums of their hashes. Each row is read once.
        ///
        /// - Throws: Code 134030 if they differ.
        func compare(url: URL?) throws {
            for table in tables where !table.key.isEmpty {
                let values = table.comparedValues.joined(separator: ", ")
                let query =
                    "SELECT count(*), COALESCE(sum(hashtextextended(ROW(\(values))::text, 0)), 0)::text FROM \(table.name)"
                let (here, there) = try (source.execute(query), target.execute(query))
                guard here.integer(0, 0) == there.integer(0, 0), here.text(0, 1) == there.text(0, 1) else {
                    throw CocoaError(
                        .persistentStoreSave,
                        "The copy of \(table.name) differs from the table, although every change was followed: "
                            + "\(there.integer(0, 0)) and \(here.integer(0, 0)) rows. The store is where it was.",
                        url: url)
                }
            }
        }
    }
#endif
