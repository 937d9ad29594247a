#if PostgreSQL
    import Foundation
    import ManagedObjects
    import PostgreSQLClient
    import Synchronization

    /// The partitions of a history that was created with ``HistoryPartitionWidthOption``.
    ///
    /// `ATRANSACTION` and `ACHANGE` are partitioned by the number of the transaction, in ranges of one width: `ATRANSACTION_P2000` has
    /// the numbers from 2000. The default partition has the rows of ranges that have no partition, so that a save never depends on one;
    /// for programs with an earlier version of this package the tables are like others. Rows in the default partition are deleted one
    /// by one. `Z_PRIMARYKEY` has the width.
    ///
    /// Partitions are made ahead: when the store is opened, when a part of the history is deleted, and after some of the saves. A
    /// partition is made as a table of its own and then attached, for which nobody waits who reads or writes other partitions.
    struct HistoryPartitions: Sendable {
        private let tables: PostgreSQLTables
        let width: Int64
        private let saves = SaveCount()

        /// The tables, and the columns with the number of the transaction.
        private static let partitioned = [("ATRANSACTION", "Z_PK"), ("ACHANGE", "ZTRANSACTIONID")]
        /// The number of partitions beyond the present one.
        private static let aheadCount: Int64 = 2
        /// The milliseconds that a partition waits for locks. Others wait as long, because they are behind it.
        private static let lockTimeout = 200

        private final class SaveCount: Sendable {
            let value = Atomic<Int64>(0)
        }

        /// The partitions of a store; nil if its history has none.
        init?(_ tables: PostgreSQLTables, in connection: PostgreSQLConnection) throws {
            let found = try connection.execute(
                """
                SELECT p.Z_MAX FROM Z_PRIMARYKEY AS p WHERE p.Z_ENT = $1 AND p.Z_MAX > 0 AND \
                (SELECT count(*) FROM pg_class WHERE oid IN (to_regclass('ATRANSACTION'), to_regclass('ACHANGE')) AND relkind = 'p') = 2
                """, [.integer(HistoryTables.Number.partitions)])
            guard found.rowCount == 1 else { return nil }
            self.tables = tables
            width = found.integer(0, 0)
        }

        // MARK: - Creation

        /// The statements that create the tables of a history, instead of those without partitions.
        static func creation(width: Int64, _ unpartitioned: [String]) -> [String] {
            let statements = unpartitioned.map { statement in
                partitioned.first { statement.hasPrefix("CREATE TABLE \($0.0) ") }.map {
                    "\(statement) PARTITION BY RANGE (\($0.1))"
                } ?? statement
            }
            return statements
                + partitioned.map { "CREATE TABLE \($0.0)_DEFAULT PARTITION OF \($0.0) DEFAULT" } + [
                    "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES "
                        + "(\(HistoryTables.Number.partitions), 'HISTORYPARTITIONS', 0, \(width)) ON CONFLICT DO NOTHING"
                ]
        }

        /// The first numbers of the partitions, ascending.
        private static func firstNumbers(in connection: PostgreSQLConnection) throws -> [Int64] {
            let found = try connection.execute(
                """
                SELECT substring(c.relname FROM '^atransaction_p([0-9]+)$')::bigint AS first FROM pg_inherits AS i \
                JOIN pg_class AS c ON c.oid = i.inhrelid WHERE i.inhparent = to_regclass('ATRANSACTION') \
                AND c.relname ~ '^atransaction_p[0-9]+$' \
                AND to_regclass(replace(c.relname, 'atransaction', 'achange')) IS NOT NULL ORDER BY first
                """)
            return (0..<found.rowCount).map { found.integer($0, 0) }
        }

        /// Makes the partitions of the next numbers, unless they exist. One that cannot be made is left out: others use the tables, or
        /// the default partition has rows of its range.
        func makeAhead(in connection: PostgreSQLConnection) throws {
            // A history without transactions goes on after those that were deleted.
            let found = try connection.execute(
                """
                SELECT GREATEST((SELECT max(Z_PK) FROM ATRANSACTION), (SELECT max(Z_MAX) FROM Z_PRIMARYKEY \
                WHERE Z_ENT IN (\(HistoryTables.Number.transaction), \(HistoryTables.Number.lastDeleted))), 0) + 1
                """)
            let present = found.integer(0, 0) / width
            let existing = Set(try Self.firstNumbers(in: connection))
            for index in present...(present + Self.aheadCount) {
                let (first, isTooHigh) = index.multipliedReportingOverflow(by: width)
                guard !isTooHigh, !existing.contains(first), first <= Int64.max - width else { continue }
                do {
                    try connection.execute(script: creation(first))
                } catch let error as PostgreSQLError where !error.isConnectionLost {
                    try connection.execute(script: "ROLLBACK")
                }
            }
        }

        private func creation(_ first: Int64) -> String {
            let attachments = Self.partitioned.flatMap { table, _ in
                [
                    "CREATE TABLE \(table)_P\(first) (LIKE \(table))",
                    "ALTER TABLE \(table) ATTACH PARTITION \(table)_P\(first) FOR VALUES FROM (\(first)) TO (\(first + width))",
                ]
            }
            return
                (["BEGIN", "SET LOCAL lock_timeout TO \(Self.lockTimeout)", tables.lock] + attachments + ["COMMIT"])
                .joined(separator: ";\n")
        }

        /// Makes partitions after a save, if it is time.
        func didSave(_ pool: PostgreSQLPool) {
            // Other processes save too; each of them makes partitions in advance of its own saves.
            let interval = max(width / 4, 1)
            if saves.value.add(1, ordering: .relaxed).newValue % interval == 0 { makeAhead(pool) }
        }

        /// Makes the next partitions if the server can be reached. Otherwise the default partition has their rows.
        func makeAhead(_ pool: PostgreSQLPool) { try? pool.withConnection { try makeAhead(in: $0) } }

        // MARK: - Deletion

        /// Deletes the transactions before a number, in the transaction of the connection: whole partitions by dropping them, which takes
        /// the same time whatever they contain, and other rows one by one. If others use a partition at the moment, its rows are deleted.
        ///
        /// A move to another server copies what triggers note, and these do not see that a table is dropped.
        ///
        /// - Parameter deleteRows: Deletes the rows of transactions in a range, and returns the number of changes.
        /// - Returns: The number of changes.
        func delete(
            before bound: Int64, in connection: PostgreSQLConnection, _ deleteRows: (Range<Int64>) throws -> Int
        ) throws -> Int {
            let all = Int64.min..<bound
            let isMoving = try !connection.execute(
                "SELECT to_regclass($1)", [.text(PostgreSQLMoveLog.table)]
            ).isNull(0, 0)
            let whole = try Self.firstNumbers(in: connection).filter { $0 <= bound && bound - $0 >= width }
            guard let last = whole.last, !isMoving else { return try deleteRows(all) }
            let names = whole.flatMap { first in Self.partitioned.map { "\($0.0)_P\(first)" } }
            var count = 0
            for first in whole {
                count += Int(try connection.execute("SELECT count(*) FROM ACHANGE_P\(first)").integer(0, 0))
            }
            // Ranges without a partition may be between those with one.
            var start = Int64.min
            for first in whole {
                if start < first { count += try deleteRows(start..<first) }
                start = first + width
            }
            if last + width < bound { count += try deleteRows((last + width)..<bound) }
            do {
                // The last step, because everybody waits until the commit.
                try connection.execute(
                    script: "SAVEPOINT dropping; SET LOCAL lock_timeout TO \(Self.lockTimeout); "
                        + "DROP TABLE \(names.joined(separator: ", ")); RELEASE SAVEPOINT dropping")
                return count
            } catch let error as PostgreSQLError where error.state == "55P03" || error.isSerializationFailure {
                try connection.execute(script: "ROLLBACK TO SAVEPOINT dropping; RELEASE SAVEPOINT dropping")
                for first in whole { _ = try deleteRows(first..<(first + width)) }
                return count
            }
        }
    }
#endif
