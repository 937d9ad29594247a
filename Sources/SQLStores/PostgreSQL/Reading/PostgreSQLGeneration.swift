#if PostgreSQL
    import CoreDataErrors
    import Foundation
    import ManagedObjects
    import PostgreSQLClient
    import SQLiteConnections

    /// A state of a store that is pinned for reading until it is deallocated: a transaction on a connection of its own.
    ///
    /// The server keeps old versions of all rows as long as a state is pinned. It ends the transaction when nothing has been
    /// read for ``limit``, and a standby when it hinders the replay; reading then throws code 134090.
    final class PostgreSQLGeneration: StoreGeneration, @unchecked Sendable {  // because a lock guards the connection
        /// The time without a statement after which the server ends the transaction.
        static let limit = "10min"

        private let connection: PostgreSQLConnection
        // Recursive, because a block that reads may read from the store again.
        private let lock = NSRecursiveLock()

        /// The newest state of the primary.
        init(_ content: PostgreSQLStore.Content) throws {
            connection = try content.pool.connect()
            // The snapshot is made by the first statement that reads.
            try content.begin(Self.beginning, in: connection)
            try connection.execute(script: "SELECT Z_VERSION FROM Z_METADATA")
        }

        private init(_ connection: PostgreSQLConnection) { self.connection = connection }

        private static let beginning =
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
            + "SET LOCAL idle_in_transaction_session_timeout TO '\(limit)'"

        /// A state on a standby that contains a transaction of the history; nil if no standby has it before the end.
        ///
        /// Standbys are asked in random order, so that they share the work: each once, and then again those that were reached.
        ///
        /// - Throws: `CocoaError.userCancelled` if the read was interrupted.
        static func onStandby(
            _ content: PostgreSQLStore.Content, atLeast number: Int64, until end: ContinuousClock.Instant
        ) throws -> PostgreSQLGeneration? {
            var addresses = content.location.standbys.shuffled()
            var lagging: [PostgreSQLConnection] = []
            var pause = 0.001
            while true {
                let isFirstRound = !addresses.isEmpty
                if var address = addresses.popLast() {
                    address.timeout = Int(ContinuousClock.now.duration(to: end) / .seconds(1))
                    if let connection = try? content.pool.connect(at: address), connection.isStandby {
                        lagging.insert(connection, at: 0)
                    }
                }
                for (index, connection) in lagging.enumerated().reversed() where index == 0 || !isFirstRound {
                    do {
                        if try hasTransaction(number, content, in: connection) {
                            return PostgreSQLGeneration(connection)
                        }
                    } catch is PostgreSQLError {
                        // Another standby, or the primary, has the state.
                        lagging.remove(at: index)
                    }
                }
                if isFirstRound { continue }
                if FetchInterruption.isRequested?() == true { throw CocoaError(.userCancelled) }
                guard !lagging.isEmpty, ContinuousClock.now < end else { return nil }
                Thread.sleep(forTimeInterval: pause)
                pause = min(pause * 2, 0.05)
            }
        }

        /// Begins a transaction, which remains open if its snapshot has the transaction of the number.
        private static func hasTransaction(
            _ number: Int64, _ content: PostgreSQLStore.Content, in connection: PostgreSQLConnection
        ) throws -> Bool {
            try content.begin(beginning, in: connection)
            let last = try connection.execute(
                script: "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(HistoryTables.Number.transaction)")
            if last.rowCount == 1, let last = last.text(0, 0).flatMap({ Int64($0) }), last >= number { return true }
            try connection.execute(script: "ROLLBACK")
            return false
        }

        func read<Result>(_ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
            lock.lock()
            defer { lock.unlock() }
            do {
                return try body(connection)
            } catch let error as PostgreSQLError where error.isConnectionLost || error.isSerializationFailure {
                throw CocoaError(
                    .persistentStoreTimeout,
                    "The server has ended the transaction of a query generation: \(error.message)")
            }
        }
    }

    extension PostgreSQLStore {
        func pinGeneration() throws -> any StoreGeneration {
            do {
                return try PostgreSQLGeneration(content())
            } catch {
                throw PostgreSQLFailure.translated(error, .reading, url: url)
            }
        }

        func pinGeneration(from source: GenerationSource) throws -> any StoreGeneration {
            guard case .standby(let token, let timeout) = source, let content = try? content(),
                !content.location.standbys.isEmpty, content.history != nil
            else { return try pinGeneration() }
            let end = ContinuousClock.now + .seconds(max(timeout, 0))
            let number = try token?.number(ofStore: identifier) ?? historyExtent()?.last ?? 0
            if let found = try PostgreSQLGeneration.onStandby(content, atLeast: number, until: end) { return found }
            return try pinGeneration()
        }
    }
#endif
