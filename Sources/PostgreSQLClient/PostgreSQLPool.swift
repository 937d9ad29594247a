#if PostgreSQL
    import Foundation
    import Synchronization

    /// The connections of one store, which have its settings. Each is lent to one task at a time.
    package final class PostgreSQLPool: @unchecked Sendable {  // because a lock guards its state
        package let server: PostgreSQLServer
        private let settings: PostgreSQLSettings
        private let state = Mutex(State())
        private let pinned = PinnedConnections()

        private struct State: @unchecked Sendable {  // because a trace is set by tests only, which use one task
            var isClosed = false
            var trace: ((String) -> Void)?
            var observer: (@Sendable (_ statement: String?, Duration) -> Void)?
            var verification: (@Sendable (PostgreSQLConnection) throws -> Void)?
            var connectionObserver: (@Sendable () -> Void)?
        }

        /// - Parameters:
        ///   - server: The connections.
        ///   - settings: The settings of the pool's connections.
        package init(_ server: PostgreSQLServer, settings: PostgreSQLSettings) {
            self.server = server
            self.settings = settings
        }

        deinit { close() }

        /// Called with the text of each statement.
        package func trace(_ body: ((String) -> Void)?) {
            nonisolated(unsafe) let body = body  // because tests use it, with one task
            state.withLock { $0.trace = body }
            server.withIdle(of: self) { $0.trace = body }
        }

        /// Sets a function that is called with the text and the time of each statement of connections that are taken afterwards, and
        /// with nil and the time for which a task has waited for a connection.
        package func observe(_ body: @escaping @Sendable (_ statement: String?, Duration) -> Void) {
            state.withLock { $0.observer = body }
        }

        var observer: (@Sendable (_ statement: String?, Duration) -> Void)? { state.withLock { $0.observer } }

        var isClosed: Bool { state.withLock { $0.isClosed } }

        /// The number of round trips of the connections that are not lent.
        package var roundTripCount: Int {
            var count = 0
            server.withIdle(of: self) { count += $0.roundTripCount }
            return count
        }

        /// Sets a check of connections that become the pool's. A connection for which it throws an error is closed.
        package func verify(_ body: @escaping @Sendable (PostgreSQLConnection) throws -> Void) {
            state.withLock { $0.verification = body }
        }

        /// Sets a function that is called after each new connection to the server which counts towards the limit. It may replace one that
        /// was lost.
        package func observeConnections(_ body: @escaping @Sendable () -> Void) {
            state.withLock { $0.connectionObserver = body }
        }

        /// A new connection that counts towards the limit.
        func connectAndCount() throws -> PostgreSQLConnection {
            let connection = try connect()
            state.withLock { $0.connectionObserver }?()
            return connection
        }

        /// A new connection that does not count towards the limit: for a listener, or for a state that is pinned.
        ///
        /// - Parameter address: The place of the server if it is not to be reached by the URL, which may name a pooler.
        package func connect(at address: PostgreSQLAddress? = nil) throws -> PostgreSQLConnection {
            let connection = try PostgreSQLConnection(server.url, settings: settings, at: address)
            connection.isShared = server.isShared
            try prepare(connection)
            return connection
        }

        /// A connection for a state that is pinned for a long time, which does not count towards the limit: one that was given back, or a
        /// new one. One that was given back may have been lost since, or its server may have been promoted.
        package func connectionForPinning(
            at address: PostgreSQLAddress? = nil
        ) throws -> (connection: PostgreSQLConnection, isNew: Bool) {
            if let connection = pinned.take(at: address) {
                observe(connection)
                return (connection, false)
            }
            return (try connect(at: address), true)
        }

        /// Takes back a connection for pinned states. Its transaction is ended.
        package func give(_ connection: PostgreSQLConnection, forPinningAt address: PostgreSQLAddress?) {
            // Stores that share a server may be many, and each would keep connections.
            guard !server.isShared, !isClosed, connection.endTransaction() else { return connection.close() }
            pinned.give(connection, at: address)
            if isClosed { pinned.closeAll() }
        }

        /// Gives a connection of another pool the settings of this one.
        ///
        /// - Returns: False if the connection has been lost.
        func takeOver(_ connection: PostgreSQLConnection) throws -> Bool {
            do {
                connection.trace = nil
                connection.observation = nil
                try connection.use(settings)
                try prepare(connection)
                return true
            } catch let error as PostgreSQLError where error.isConnectionLost {
                connection.close()
                return false
            }
        }

        private func prepare(_ connection: PostgreSQLConnection) throws {
            try state.withLock { $0.verification }?(connection)
            observe(connection)
        }

        private func observe(_ connection: PostgreSQLConnection) {
            let (trace, observer) = state.withLock { state in
                nonisolated(unsafe) let trace = state.trace  // because tests use it, with one task
                return (trace, state.observer)
            }
            connection.trace = trace
            connection.observation = observer.map { observer in { observer($0, $1) } }
        }

        /// Calls a block with a connection. A connection that is lost, or that the block leaves in a transaction, is closed.
        package func withConnection<Result>(_ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
            let connection = try server.taken(by: self)
            defer { server.give(connection, of: self) }
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

        /// Closes the connections that are not lent.
        package func closeIdle() {
            pinned.closeAll()
            server.closeIdle(of: self)
        }

        /// Ends the use of connections. Those of a server that is not shared are closed; those that are lent when they are returned.
        package func close() {
            state.withLock { $0.isClosed = true }
            pinned.closeAll()
            if server.isShared { server.wake() } else { closeIdle() }
        }
    }

    /// The connections of states that are not pinned any more, for those that are pinned next: a new connection costs several round trips,
    /// and a process of the server.
    private final class PinnedConnections: Sendable {
        /// The number of connections that are kept. Further ones are closed.
        static let limit = 4

        private struct Idle: Sendable {
            let address: PostgreSQLAddress?
            let connection: PostgreSQLConnection

            func isAt(_ other: PostgreSQLAddress?) -> Bool {
                address?.host == other?.host && address?.port == other?.port
            }
        }

        /// The one that was used last at the end.
        private let idle = Mutex<[Idle]>([])

        /// - Parameter address: The place of the server; nil for that of the store's URL.
        func take(at address: PostgreSQLAddress?) -> PostgreSQLConnection? {
            idle.withLock { idle in
                idle.lastIndex { $0.isAt(address) }.map { idle.remove(at: $0).connection }
            }
        }

        func give(_ connection: PostgreSQLConnection, at address: PostgreSQLAddress?) {
            let removed = idle.withLock { idle in
                idle.append(Idle(address: address, connection: connection))
                return idle.count > Self.limit ? idle.removeFirst().connection : nil
            }
            removed?.close()
        }

        func closeAll() {
            let removed = idle.withLock { idle in
                defer { idle = [] }
                return idle
            }
            for idle in removed { idle.connection.close() }
        }
    }
#endif
