#if PostgreSQL
    import Foundation

    /// Connections to one server, which one or several pools use: those of the stores of a ``PostgreSQLPool``.
    ///
    /// Pools of one server have different settings. A connection that no task uses is first given to the pool that used it last. Another
    /// pool takes it over with a round trip for its own settings, because a new connection costs a process of the server.
    package final class PostgreSQLServer: @unchecked Sendable {  // because a lock guards its state
        let url: String
        private let limit: Int
        private let timeout: TimeInterval
        /// Whether connections pass from one pool to another, so that they keep no state of a session for a pool.
        package let isShared: Bool

        private let condition = NSCondition()
        /// The connections that are not lent, the one that was used last at the end.
        private var idle: [Idle] = []
        private var openCount = 0

        private struct Idle {
            let connection: PostgreSQLConnection
            /// The pool that used it last. Weak: connections of a pool that is gone are taken over like others.
            weak var pool: PostgreSQLPool?
        }

        /// - Parameters:
        ///   - url: See ``PostgreSQLConnection/init(_:settings:at:)``.
        ///   - limit: The maximum number of connections.
        ///   - timeout: The seconds that a task waits for a connection.
        ///   - isShared: Whether several pools use the connections.
        package init(_ url: String, limit: Int, timeout: TimeInterval, isShared: Bool = false) {
            self.url = url
            self.limit = max(1, limit)
            self.timeout = timeout
            self.isShared = isShared
        }

        deinit { for idle in idle { idle.connection.close() } }

        /// The number of connections that are not lent.
        package var idleCount: Int { condition.withLock { idle.count } }

        /// Calls a block with each connection of a pool that is not lent.
        func withIdle(of pool: PostgreSQLPool, _ body: (PostgreSQLConnection) -> Void) {
            condition.withLock { for idle in idle where idle.pool === pool { body(idle.connection) } }
        }

        /// A connection with the settings of a pool. It must be given back.
        func taken(by pool: PostgreSQLPool) throws -> PostgreSQLConnection {
            condition.lock()
            let end = Date(timeIntervalSinceNow: timeout)
            let observe = idle.isEmpty && openCount >= limit ? pool.observer : nil
            let start = observe.map { _ in ContinuousClock.now }
            var other: PostgreSQLConnection?
            do {
                defer {
                    condition.unlock()
                    if let observe, let start { observe(nil, start.duration(to: .now)) }
                }
                while true {
                    if pool.isClosed {
                        // The signal that ended the wait may have been meant for another pool's task.
                        condition.signal()
                        throw PostgreSQLError("The connections have been closed.")
                    }
                    if let own = idle.lastIndex(where: { $0.pool === pool }) { return idle.remove(at: own).connection }
                    if !idle.isEmpty {
                        other = idle.removeFirst().connection
                        break
                    }
                    if openCount < limit {
                        openCount += 1
                        break
                    }
                    guard condition.wait(until: end) else {
                        throw PostgreSQLError("All \(limit) connections are in use.", state: "53300")
                    }
                }
            }
            do {
                if let other, try pool.takeOver(other) { return other }
                return try pool.connectAndCount()
            } catch {
                other?.close()
                condition.withLock {
                    openCount -= 1
                    condition.signal()
                }
                throw error
            }
        }

        /// Takes back a connection. One that is lost, or is in a transaction, is closed.
        func give(_ connection: PostgreSQLConnection, of pool: PostgreSQLPool) {
            let isUsable = connection.isOpen && !connection.isInTransaction
            if !isUsable { connection.close() }
            condition.withLock {
                if isUsable, isShared || !pool.isClosed {
                    idle.append(Idle(connection: connection, pool: pool))
                } else {
                    connection.close()
                    openCount -= 1
                }
                // Any of the waiting tasks can use it.
                condition.signal()
            }
        }

        /// Closes the connections of a pool that are not lent.
        func closeIdle(of pool: PostgreSQLPool) {
            condition.withLock {
                let (own, others) = (idle.filter { $0.pool === pool }, idle.filter { $0.pool !== pool })
                for idle in own { idle.connection.close() }
                openCount -= own.count
                idle = others
                condition.broadcast()
            }
        }

        /// Wakes the tasks that wait, so that those of a pool that was closed end.
        func wake() { condition.withLock { condition.broadcast() } }
    }
#endif
