#if PostgreSQL
    import CoreDataErrors
    import Foundation
    import ManagedObjects
    import PostgreSQLClient

    /// Begins transactions that need locks of tables which others use: a lock that is not to be had soon is asked for again later,
    /// so that nobody waits long behind the transaction.
    struct BriefLocks {
        private let tables: PostgreSQLTables
        /// What cannot be done, for the error: `this step cannot begin: …`.
        private let activity: String
        private let advice: String
        private let url: URL?
        private let isCancelled: () -> Bool

        /// The milliseconds that a transaction waits for a lock, at first and at most. Others wait as long, because they are behind it. On
        /// a busy server their own transactions last longer than the first.
        private static let timeout = 200
        private static let longestTimeout = 2000
        /// The seconds after which the transaction is given up.
        private static let patience = 60.0

        init(
            _ tables: PostgreSQLTables, activity: String, advice: String, url: URL?, isCancelled: @escaping () -> Bool
        ) {
            self.tables = tables
            self.activity = activity
            self.advice = advice
            self.url = url
            self.isCancelled = isCancelled
        }

        /// Begins a transaction with statements, which are executed again as long as they do not get their locks.
        ///
        /// - Throws: Code 134090 if others keep the tables for a minute, 3072 if the work is cancelled, and errors of the server.
        func begin(_ statements: [String], in connection: PostgreSQLConnection) throws {
            let end = Date(timeIntervalSinceNow: Self.patience)
            var timeout = Self.timeout
            var pause = 0.05
            while true {
                let script = ["BEGIN", "SET LOCAL lock_timeout TO \(timeout)", tables.lock] + statements
                do {
                    try connection.execute(script: script.joined(separator: ";\n"))
                    return
                } catch let error as PostgreSQLError {
                    let isInterrupted = connection.isInterrupted
                    connection.isInterrupted = nil
                    defer { connection.isInterrupted = isInterrupted }
                    if connection.isOpen { try connection.execute(script: "ROLLBACK") }
                    guard error.state == "55P03" || error.isSerializationFailure else { throw error }
                    guard Date() < end else { throw try occupied(connection) }
                }
                guard !isCancelled() else { throw CocoaError(.userCancelled) }
                Thread.sleep(forTimeInterval: pause)
                pause = min(pause * 1.5, 2)
                timeout = min(timeout * 6 / 5, Self.longestTimeout)
            }
        }

        private func occupied(_ connection: PostgreSQLConnection) throws -> CocoaError {
            let found = try connection.execute(
                """
                SELECT DISTINCT a.pid::text || COALESCE(' (' || NULLIF(a.application_name, '') || ')', '') \
                FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid JOIN pg_class AS c ON c.oid = l.relation \
                JOIN pg_namespace AS n ON n.oid = c.relnamespace \
                WHERE n.nspname = $1 AND a.xact_start < now() - interval '5 seconds' AND a.pid <> pg_backend_pid()
                """, [.text(tables.location.schema)])
            let processes = (0..<found.rowCount).compactMap { found.text($0, 0) }.joined(separator: ", ")
            return CocoaError(
                .persistentStoreTimeout,
                "Others use the tables so long that \(activity). "
                    + (processes.isEmpty ? "" : "Transactions of the server's processes \(processes) last long. ")
                    + advice, url: url)
        }
    }
#endif
