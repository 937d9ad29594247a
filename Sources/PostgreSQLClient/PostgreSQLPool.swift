#if PostgreSQL
    import Foundation

    /// Connections to one server. Each is lent to one task at a time.
    package final class PostgreSQLPool: @unchecked Sendable {  // because a lock guards its state
        private let url: String
        private let settings: PostgreSQLSettings
        private let limit: Int
        private let timeout: TimeInterval
        private let condition = NSCondition()
        private var idle: [PostgreSQLConnection] = []
        private var openCount = 0
        private var isClosed = false
        private var tracing: ((String) -> Void)?
        private var observation: (@Sendable (_ statement: String?, Duration) -> Void)?
        private var verification: (@Sendable (PostgreSQLConnection) throws -> Void)?

        /// - Parameters:
        ///   - url: See ``PostgreSQLConnection/init(_:settings:at:)``.
        ///   - settings: The settings of all connections.
        ///   - limit: The maximum number of connections that are lent.
        ///   - timeout: The seconds that a task waits for a connection.
        package init(_ url: String, settings: PostgreSQLSettings, limit: Int, timeout: TimeInterval) {
            self.url = url
            self.settings = settings
            self.limit = max(1, limit)
            self.timeout = timeout
        }

        deinit { close() }

        /// Called with the text of each statement.
        package func trace(_ body: ((String) -> Void)?) {
            condition.withLock {
                tracing = body
                for connection in idle { connection.trace = body }
            }
        }

        /// Sets a function that is called with the text and the time of each statement of connections that are opened afterwards, and
        /// with nil and the time for which a task has waited for a connection.
        package func observe(_ body: @escaping @Sendable (_ statement: String?, Duration) -> Void) {
            condition.withLock { observation = body }
        }

        /// The number of round trips of the connections that are not lent.
        package var roundTripCount: Int {
            condition.withLock { idle.reduce(0) { $0 + $1.roundTripCount } }
        }

        /// Sets a check of new connections. A connection for which it throws an error is closed.
        package func verify(_ body: @escaping @Sendable (PostgreSQLConnection) throws -> Void) {
            condition.withLock { verification = body }
        }

        /// A new connection that does not count towards the limit: for a listener, or for a state that is pinned for a long
        /// time.
        ///
        /// - Parameter server: The place of the server if it is not to be reached by the URL, which may name a pooler.
        package func connect(at server: PostgreSQLAddress? = nil) throws -> PostgreSQLConnection {
            let connection = try PostgreSQLConnection(url, settings: settings, at: server)
            let (trace, verify, observe) = condition.withLock { (tracing, verification, observation) }
            try verify?(connection)
            connection.trace = trace
            connection.observation = observe.map { observe in { observe($0, $1) } }
            return connection
        }

        /// Calls a block with a connection. A connection that is lost, or that the block leaves in a transaction, is closed.
        package func withConnection<Result>(_ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
            let connection = try taken()
            defer { give(connection) }
            return try body(connection)
        }

        /// Calls a block that only reads. If its connection turns out to be lost, the block is called once more with a new one.
        package func withReadingConnection<Result>(_ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
            do {
                return try withConnection(body)
            } catch let error as PostgreSQLError where error.isConnectionLost {
                closeIdle()
                return try withConnection(body)
            }
        }

        private func taken() throws -> PostgreSQLConnection {
            condition.lock()
            let end = Date(timeIntervalSinceNow: timeout)
            let observe = idle.isEmpty && openCount >= limit ? observation : nil
            let start = observe.map { _ in ContinuousClock.now }
            defer { if let observe, let start { observe(nil, start.duration(to: .now)) } }
            while true {
                if isClosed {
                    condition.unlock()
                    throw PostgreSQLError("The connections have been closed.")
                }
                if let connection = idle.popLast() {
                    condition.unlock()
                    return connection
                }
                if openCount < limit { break }
                guard condition.wait(until: end) else {
                    condition.unlock()
                    throw PostgreSQLError("All \(limit) connections are in use.", state: "53300")
                }
            }
            openCount += 1
            condition.unlock()
            do {
                return try connect()
            } catch {
                condition.withLock {
                    openCount -= 1
                    condition.signal()
                }
                throw error
            }
        }

        private func give(_ connection: PostgreSQLConnection) {
            let isUsable = connection.isOpen && !connection.isInTransaction
            if !isUsable { connection.close() }
            condition.withLock {
                if isUsable, !isClosed { idle.append(connection) } else { openCount -= 1 }
                condition.signal()
            }
        }

        /// Closes the connections that are not lent.
        package func closeIdle() {
            condition.withLock {
                openCount -= idle.count
                for connection in idle { connection.close() }
                idle = []
                condition.broadcast()
            }
        }

        /// Closes all connections; those that are lent when they are returned.
        package func close() {
            condition.withLock { isClosed = true }
            closeIdle()
        }
    }
#endif
