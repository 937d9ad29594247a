#if PostgreSQL
    import ManagedObjects
    import PostgreSQLClient
    import Synchronization

    /// How the transactions of a history are numbered. `Z_PRIMARYKEY` says it, so that all processes do the same.
    ///
    /// In turn: the row of the transactions has the last number. It is locked from the number to the commit, so that numbers are
    /// consecutive and in the order of commits.
    ///
    /// Concurrently, see ``ConcurrentHistoryOption``: the row has no number (older versions of this package cannot add to it then). The
    /// number of a transaction is an ID that the server has given it, and an offset. The server gives IDs in ascending order, to
    /// transactions and to subtransactions. The history is written in a subtransaction at the end, when the transaction has
    /// locked all that it changes: so its number is higher than those of all transactions whose changes it has seen or overwritten.
    ///
    /// All IDs of a transaction that has not ended are at least the snapshot's `xmin`. So a number below the offset and `xmin` belongs to a
    /// transaction that is in the history, or never will be, and readers see these only: ``HistoryPosition/bound``. A transaction of
    /// another store, or another database, holds `xmin` back too. If it matters, a reader looks for those of this store: each has
    /// inserted a mark before its number was given, so that it holds a lock on the table of the marks (``settled``).
    ///
    /// Another cluster has other IDs: a store may have been moved or restored there. The row of the offset therefore contains the
    /// identifier of the cluster. Where it differs, no transaction has been numbered yet: readers see all that were copied, and the first
    /// writer raises the offset, so that its number follows theirs. A standby has the identifier and the IDs of its primary.
    enum HistoryNumbering {
        private static let cluster = "(SELECT system_identifier FROM pg_control_system())"
        private static let oldest = "pg_snapshot_xmin(pg_current_snapshot())::text::bigint"

        /// The statements that begin to number concurrently, within a transaction; they do nothing if the store does so. Transactions
        /// that were numbered in turn have ended then, and those that wait for the row find that it has no number.
        static let beginning = [
            "SELECT 1 FROM Z_PRIMARYKEY WHERE Z_ENT = \(HistoryTables.Number.transaction) FOR UPDATE",
            """
            INSERT INTO Z_PRIMARYKEY AS p (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) \
            SELECT \(HistoryTables.Number.numbering), 'TRANSACTIONNUMBERING', \(cluster), \
            GREATEST(0, GREATEST(t.Z_MAX, (SELECT max(Z_PK) FROM ATRANSACTION)) + 1 - \(oldest)) \
            FROM Z_PRIMARYKEY AS t WHERE t.Z_ENT = \(HistoryTables.Number.transaction) AND t.Z_MAX IS NOT NULL \
            ON CONFLICT (Z_ENT) DO UPDATE SET Z_SUPER = excluded.Z_SUPER, Z_MAX = excluded.Z_MAX
            """,
            """
            INSERT INTO Z_PRIMARYKEY AS p (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) \
            SELECT \(HistoryTables.Number.lastDeleted), 'LASTDELETEDTRANSACTION', 0, \
            COALESCE((SELECT min(Z_PK) - 1 FROM ATRANSACTION), t.Z_MAX) \
            FROM Z_PRIMARYKEY AS t WHERE t.Z_ENT = \(HistoryTables.Number.transaction) AND t.Z_MAX IS NOT NULL \
            ON CONFLICT (Z_ENT) DO UPDATE SET Z_MAX = excluded.Z_MAX
            """,
            "UPDATE Z_PRIMARYKEY SET Z_MAX = NULL WHERE Z_ENT = \(HistoryTables.Number.transaction) AND Z_MAX IS NOT NULL",
        ]

        /// The common table expression `number` with a row that has the number of the transaction: its column `n`. It has no row if the
        /// store numbers otherwise, or is in another cluster.
        static func number(isConcurrent: Bool) -> String {
            guard isConcurrent else {
                return
                    "number AS (UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_ENT = \(HistoryTables.Number.transaction) "
                    + "AND Z_MAX IS NOT NULL RETURNING Z_MAX AS n)"
            }
            // Rows show the last 32 bits of an ID. That of a subtransaction is greater than the transaction's own.
            return """
                mark AS (INSERT INTO Z_SAVEMARK (Z_MARK) VALUES (gen_random_uuid()) RETURNING xmin::text::bigint AS id), \
                number AS (SELECT o.Z_MAX + own.id + (mark.id - own.id % 4294967296 + 4294967296) % 4294967296 AS n \
                FROM mark, Z_PRIMARYKEY AS o, (SELECT pg_current_xact_id()::text::bigint AS id) AS own \
                WHERE o.Z_ENT = \(HistoryTables.Number.numbering) AND o.Z_SUPER = \(cluster))
                """
        }

        /// Raises the offset if the store has been brought to another cluster. In READ COMMITTED, a transaction that waits here for another
        /// one finds that it is raised.
        static let raise = """
            UPDATE Z_PRIMARYKEY SET Z_SUPER = \(cluster), Z_MAX = GREATEST(Z_MAX, GREATEST((SELECT max(Z_PK) FROM ATRANSACTION), \
            (SELECT d.Z_MAX FROM Z_PRIMARYKEY AS d WHERE d.Z_ENT = \(HistoryTables.Number.lastDeleted))) + 1 - \(oldest)) \
            WHERE Z_ENT = \(HistoryTables.Number.numbering) AND Z_SUPER <> \(cluster)
            """

        /// Columns: the first and the last number in the history, the last that was deleted, the bound, the last before the bound, and
        /// what IDs are compared with: the cluster and the offset. Parameters: an ID below which all are settled, its cluster and offset.
        private static let position = """
            SELECT (SELECT min(Z_PK) FROM ATRANSACTION), (SELECT max(Z_PK) FROM ATRANSACTION), d.Z_MAX, b.bound, \
            (SELECT max(Z_PK) FROM ATRANSACTION WHERE Z_PK < b.bound), o.Z_SUPER, o.Z_MAX \
            FROM Z_PRIMARYKEY AS t JOIN Z_PRIMARYKEY AS o ON o.Z_ENT = \(HistoryTables.Number.numbering) \
            JOIN Z_PRIMARYKEY AS d ON d.Z_ENT = \(HistoryTables.Number.lastDeleted), \
            LATERAL (SELECT CASE WHEN o.Z_SUPER = \(cluster) THEN o.Z_MAX + GREATEST(\(oldest), \
            CASE WHEN o.Z_SUPER = $2::bigint AND o.Z_MAX = $3::bigint THEN $1::bigint ELSE 0 END) \
            ELSE \(Int64.max) END AS bound OFFSET 0) AS b \
            WHERE t.Z_ENT = \(HistoryTables.Number.transaction) AND t.Z_MAX IS NULL
            """

        /// The lowest ID of a transaction of the store that has not ended; if there is none, an ID that is not higher than any that is given
        /// after this statement. The transactions below it have ended before any later snapshot. Parameter: the ID that suffices.
        ///
        /// The transactions of the database, of all stores, are read first, because the server lists all of its locks or none. If none is
        /// below the ID that suffices, the lowest of them is the result. Otherwise the locks tell which are this store's.
        ///
        /// Both are read after the snapshot of the statement. A transaction that locks the table later gets its number later.
        private static let settled = """
            WITH next AS MATERIALIZED (SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS id), \
            open AS MATERIALIZED (SELECT min(\(distance("x.id"))) AS n FROM next, \
            (SELECT backend_xid::text::bigint AS id FROM pg_stat_activity WHERE datname = current_database() AND backend_xid IS NOT NULL \
            UNION ALL SELECT transaction::text::bigint FROM pg_prepared_xacts WHERE database = current_database()) AS x), \
            locks AS MATERIALIZED (SELECT locktype, database, relation, transactionid, virtualtransaction FROM pg_locks \
            WHERE granted AND locktype IN ('relation', 'transactionid')), \
            writers AS (SELECT t.transactionid::text::bigint AS id FROM locks AS l JOIN locks AS t \
            ON t.virtualtransaction = l.virtualtransaction AND t.locktype = 'transactionid' \
            WHERE l.locktype = 'relation' AND l.relation = 'Z_SAVEMARK'::regclass \
            AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())) \
            SELECT next.id + LEAST(0, CASE WHEN open.n IS NULL OR next.id + open.n >= $1::bigint THEN open.n \
            ELSE (SELECT min(\(distance("w.id"))) FROM writers AS w) END) FROM next, open
            """

        /// How far an ID, of which the server shows the last 32 bits, is from the next one.
        private static func distance(_ id: String) -> String {
            "(\(id) - next.id % 4294967296 + 6442450944) % 4294967296 - 2147483648"
        }

        /// The ID below which all transactions of the store have ended.
        ///
        /// - Parameter number: The number of the transaction that is waited for.
        static func settled(for number: Int64, offset: Int64, in connection: PostgreSQLConnection) throws -> Int64 {
            // A standby shows no locks of writers.
            connection.isStandby
                ? 0 : try connection.execute(settled, [.integer(number - offset + 1)]).integer(0, 0)
        }

        /// Raises the last deleted number. Parameter: a number that was deleted, or null.
        static let noteDeleted = """
            UPDATE Z_PRIMARYKEY SET Z_MAX = $1::bigint WHERE Z_ENT = \(HistoryTables.Number.lastDeleted) AND Z_MAX < $1::bigint
            """

        /// The position of a history that is numbered concurrently, in the snapshot of the connection; nil if it is not.
        fileprivate static func position(
            in connection: PostgreSQLConnection, _ settled: HistoryPosition.Settled?
        ) throws -> HistoryPosition? {
            let result = try connection.execute(
                position,
                [.integer(settled?.id ?? 0), .integer(settled?.cluster ?? 0), .integer(settled?.offset ?? 0)])
            guard result.rowCount == 1 else { return nil }
            func number(_ column: Int) -> Int64? { result.isNull(0, column) ? nil : result.integer(0, column) }
            let deleted = number(2) ?? 0
            return HistoryPosition(
                extent: HistoryExtent(first: number(0), last: max(number(4) ?? 0, deleted), lastDeleted: deleted),
                bound: number(3), newest: number(1) ?? 0,
                settled: HistoryPosition.Settled(id: settled?.id ?? 0, cluster: number(5) ?? 0, offset: number(6) ?? 0))
        }

        fileprivate static func positionInTurn(in connection: PostgreSQLConnection) throws -> HistoryPosition? {
            let result = try connection.execute(
                "SELECT (SELECT min(Z_PK) FROM ATRANSACTION), Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = $1",
                [.integer(HistoryTables.Number.transaction)])
            guard result.rowCount == 1 else {
                return HistoryPosition(extent: HistoryExtent(last: 0), bound: nil, newest: 0)
            }
            guard !result.isNull(0, 1) else { return nil }
            let last = result.integer(0, 1)
            return HistoryPosition(
                extent: HistoryExtent(first: result.isNull(0, 0) ? nil : result.integer(0, 0), last: last), bound: nil,
                newest: last)
        }
    }

    /// What a snapshot shows of a history.
    struct HistoryPosition {
        let extent: HistoryExtent
        /// The number of the first transaction that readers do not see yet, because others that are not committed may get lower ones. Nil
        /// if transactions are numbered in turn.
        let bound: Int64?
        /// The highest number of all.
        let newest: Int64
        var settled: Settled?

        /// An ID of the server below which all transactions of the store have ended.
        struct Settled {
            var id: Int64
            let cluster: Int64
            let offset: Int64
        }

        /// Whether transactions are committed that readers do not see yet.
        var hidesTransactions: Bool { bound.map { $0 <= newest } ?? false }
    }

    /// What a process knows of a store's numbering, and of the transactions that readers wait for.
    final class HistoryNumberingState: Sendable {
        private struct State {
            var isConcurrent: Bool
            /// The bound that did not move in the whole time for which a reader has waited.
            var standing: Int64?
            var isFollowing = false
        }

        private let state: Mutex<State>

        init(isConcurrent: Bool) { state = Mutex(State(isConcurrent: isConcurrent)) }

        /// How the process expects the store to number. A statement that does not find it so corrects it.
        var isConcurrent: Bool {
            get { state.withLock { $0.isConcurrent } }
            set { state.withLock { $0.isConcurrent = newValue } }
        }

        /// Whether a reader has waited in vain for a bound to move.
        func isStanding(_ bound: Int64?) -> Bool { state.withLock { $0.standing == bound } }

        func noteStanding(_ bound: Int64?) { state.withLock { $0.standing = bound } }

        /// Whether the caller must follow the bound: nobody does.
        func beginFollowing() -> Bool {
            state.withLock { state in
                defer { state.isFollowing = true }
                return !state.isFollowing
            }
        }

        func endFollowing() { state.withLock { $0.isFollowing = false } }

        /// The position of the history in the snapshot of a connection.
        ///
        /// - Parameter settled: What was settled before the snapshot.
        func position(
            in connection: PostgreSQLConnection, settled: HistoryPosition.Settled? = nil
        ) throws -> HistoryPosition {
            for _ in 0..<2 {
                let found =
                    isConcurrent
                    ? try HistoryNumbering.position(in: connection, settled)
                    : try HistoryNumbering.positionInTurn(in: connection)
                if let found { return found }
                isConcurrent.toggle()
            }
            return HistoryPosition(extent: HistoryExtent(last: 0), bound: nil, newest: 0)
        }
    }
#endif
