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
        private let pool: PostgreSQLPool
        /// The place of the standby; nil for the primary.
        private let address: PostgreSQLAddress?
        // Recursive, because a block that reads may read from the store again.
        private let lock = NSRecursiveLock()

        /// The newest state of the primary.
        static func newest(_ content: PostgreSQLStore.Content) throws -> PostgreSQLGeneration {
            while true {
                let (connection, isNew) = try content.pool.connectionForPinning()
                do {
                    // The snapshot is made by the first statement that reads.
                    try content.begin(beginning, in: connection)
                    try connection.execute(script: "SELECT Z_VERSION FROM Z_METADATA")
                    return PostgreSQLGeneration(connection, content.pool, nil)
                } catch let error as PostgreSQLError where error.isConnectionLost && !isNew {
                    connection.close()
                }
            }
        }

        private init(_ connection: PostgreSQLConnection, _ pool: PostgreSQLPool, _ address: PostgreSQLAddress?) {
            (self.connection, self.pool, self.address) = (connection, pool, address)
        }

        deinit { pool.give(connection, forPinningAt: address) }

        private static let beginning =
            "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
            + "SET LOCAL idle_in_transaction_session_timeout TO '\(limit)'"

        /// A state on a standby that contains what is required; nil if no standby has it before the end.
        ///
        /// Standbys are asked in random order, so that they share the work: each once, and then again those that were reached. A
        /// standby that ends the question, because it hinders the replay, is asked again too.
        ///
        /// - Throws: `CocoaError.userCancelled` if the read was interrupted.
        static func onStandby(
            _ content: PostgreSQLStore.Content, atLeast required: Requirement, until end: ContinuousClock.Instant
        ) throws -> PostgreSQLGeneration? {
            var addresses = content.location.standbys.shuffled()
            var lagging: [Asked] = []
            // Standbys that have ended the connection to replay a change.
            var replaying: [PostgreSQLAddress] = []
            defer { for asked in lagging { content.pool.give(asked.connection, forPinningAt: asked.address) } }
            var pause = 0.001
            while true {
                let isFirstRound = !addresses.isEmpty
                if var address = addresses.popLast() {
                    address.timeout = Int(ContinuousClock.now.duration(to: end) / .seconds(1))
                    if let (connection, isNew) = try? content.pool.connectionForPinning(at: address) {
                        lagging.insert(Asked(connection: connection, address: address, isNew: isNew), at: 0)
                    }
                }
                for (index, asked) in lagging.enumerated().reversed() where index == 0 || !isFirstRound {
                    do {
                        let isFulfilled = try fulfils(required, content, in: asked.connection)
                        if isFulfilled, asked.connection.isStandby {
                            lagging.remove(at: index)
                            return PostgreSQLGeneration(asked.connection, content.pool, asked.address)
                        }
                        if !asked.connection.isStandby { lagging.remove(at: index).connection.close() }
                    } catch let error as PostgreSQLError {
                        if error.isSerializationFailure, !error.isConnectionLost {
                            try? asked.connection.execute(script: "ROLLBACK")
                            continue
                        }
                        // Another standby, or the primary, has the state. A connection that was lost since it was last used is replaced.
                        lagging.remove(at: index).connection.close()
                        if error.isSerializationFailure {
                            replaying.append(asked.address)
                        } else if error.isConnectionLost, !asked.isNew {
                            addresses.append(asked.address)
                        }
                    }
                }
                if isFirstRound || !addresses.isEmpty { continue }
                if FetchInterruption.isRequested?() == true { throw CocoaError(.userCancelled) }
                guard !lagging.isEmpty || !replaying.isEmpty, ContinuousClock.now < end else { return nil }
                Thread.sleep(forTimeInterval: pause)
                pause = min(pause * 2, 0.05)
                (addresses, replaying) = (replaying, [])
            }
        }

        /// A connection to a standby that has not had what is required.
        private struct Asked {
            let connection: PostgreSQLConnection
            let address: PostgreSQLAddress
            let isNew: Bool
        }

        /// What a state on a standby must contain.
        enum Requirement {
            /// The transactions of the history up to a number.
            case history(Int64)
            /// What the primary's log contains up to a position.
            case log(String)

            /// Everything that is committed. The number of a history that is numbered concurrently does not say it, because readers of the
            /// history do not see all yet.
            static func everything(_ store: PostgreSQLStore, _ content: PostgreSQLStore.Content) throws -> Requirement {
                if !content.numbering.isConcurrent {
                    let last = try store.historyExtent()?.last ?? 0
                    if !content.numbering.isConcurrent { return .history(last) }
                }
                return try content.pool.withReadingConnection { connection in
                    .log(try connection.execute(script: "SELECT pg_current_wal_insert_lsn()").text(0, 0) ?? "")
                }
            }
        }

        /// Begins a transaction, which remains open if its snapshot has what is required.
        private static func fulfils(
            _ requirement: Requirement, _ content: PostgreSQLStore.Content, in connection: PostgreSQLConnection
        ) throws -> Bool {
            switch requirement {
            case .history(let number):
                try content.begin(beginning, in: connection)
                if try content.numbering.position(in: connection).extent.last >= number { return true }
                try connection.execute(script: "ROLLBACK")
                return false
            case .log(let position):
                // The snapshot is made after the replay.
                let isReplayed = try connection.execute(
                    "SELECT (pg_last_wal_replay_lsn() >= $1::pg_lsn)::int", [.text(position)])
                guard isReplayed.integer(0, 0) == 1 else { return false }
                try content.begin(beginning, in: connection)
                try connection.execute(script: "SELECT Z_VERSION FROM Z_METADATA")
                return true
            }
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
        package func pinGeneration() throws -> any StoreGeneration {
            do {
                return try PostgreSQLGeneration.newest(content())
            } catch {
                throw PostgreSQLFailure.translated(error, .reading, url: url)
            }
        }

        package func pinGeneration(from source: GenerationSource) throws -> any StoreGeneration {
            guard case .standby(let token, let timeout) = source, let content = try? content(),
                !content.location.standbys.isEmpty, content.history != nil
            else { return try pinGeneration() }
            let end = ContinuousClock.now + .seconds(max(timeout, 0))
            let required =
                try token?.number(ofStore: identifier).map { .history($0) }
                ?? PostgreSQLGeneration.Requirement.everything(self, content)
            if let found = try PostgreSQLGeneration.onStandby(content, atLeast: required, until: end) { return found }
            return try pinGeneration()
        }
    }
#endif
