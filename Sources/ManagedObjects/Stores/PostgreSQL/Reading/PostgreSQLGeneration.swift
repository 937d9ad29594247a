#if PostgreSQL
    import CoreDataErrors
    import Foundation
    import PostgreSQLClient

    /// A state of a store that is pinned for reading until it is deallocated: a transaction on a connection of its own.
    ///
    /// The server keeps old versions of all rows as long as a state is pinned. It ends the transaction when nothing has been
    /// read for ``limit``; reading then throws code 134090.
    final class PostgreSQLGeneration: StoreGeneration, @unchecked Sendable {  // because a lock guards the connection
        /// The time without a statement after which the server ends the transaction.
        static let limit = "10min"

        private let connection: PostgreSQLConnection
        // Recursive, because a block that reads may read from the store again.
        private let lock = NSRecursiveLock()

        init(_ content: PostgreSQLStore.Content) throws {
            connection = try content.pool.connect()
            // The snapshot is made by the first statement that reads.
            try content.begin(
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
                    + "SET LOCAL idle_in_transaction_session_timeout TO '\(Self.limit)'", in: connection)
            try connection.execute(script: "SELECT Z_VERSION FROM Z_METADATA")
        }

        func read<Result>(_ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
            lock.lock()
            defer { lock.unlock() }
            do {
                return try body(connection)
            } catch let error as PostgreSQLError where error.isConnectionLost {
                throw CocoaError(
                    .persistentStoreTimeout,
                    "The server has ended the transaction of a query generation: \(error.message)")
            }
        }
    }

    /// A transaction that lasts as long as the work that reads from it.
    final class PostgreSQLHeldTransaction: StoreGeneration {
        let connection: PostgreSQLConnection

        init(_ connection: PostgreSQLConnection) { self.connection = connection }
    }
#endif
