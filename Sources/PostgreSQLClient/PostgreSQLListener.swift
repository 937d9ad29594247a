#if PostgreSQL
    import Foundation
    import Synchronization

    /// Receives the notifications of a channel on a connection and a thread of its own, until it is deallocated. A lost
    /// connection is replaced by a new one. The block is then called as after a notification, because notifications may have
    /// been missed.
    ///
    /// Poolers that give each transaction to another connection of theirs do not deliver notifications, and some do not say so.
    /// The listener therefore lets another connection notify it from time to time. If that does not arrive, it asks for a state
    /// instead, and calls the block when the state has changed.
    package final class PostgreSQLListener: Sendable {
        private let loop: Loop

        /// Starts to listen.
        ///
        /// - Parameters:
        ///   - connect: Makes the connection that listens.
        ///   - heartbeat: The seconds between two notifications that it lets another connection send.
        ///   - state: A statement whose text differs after each event of which notifications tell.
        ///   - ask: Executes a statement in another connection, and returns its text. Called on a private thread.
        ///   - body: Called on a private thread: with the notifications, or with none if some may have been missed.
        package init(
            channel: String, connect: @escaping @Sendable () throws -> PostgreSQLConnection,
            heartbeat: TimeInterval = 30, state: String, ask: @escaping @Sendable (String) throws -> String?,
            _ body: @escaping @Sendable ([PostgreSQLNotification]) -> Void
        ) throws {
            loop = try Loop(channel: channel, heartbeat: heartbeat, connect: connect, state: state, ask: ask, body)
            let connection = try loop.connected()
            // Read before this returns, so that no later event is missed.
            let known = connection == nil ? try ask(state) : nil
            Thread.detachNewThread { [loop] in loop.run(connection, known: known) }
        }

        deinit { loop.stop() }

        /// Stops listening, without waiting for a block that is running.
        package func stop() { loop.stop() }
    }

    /// The thread of a listener, which does not retain it.
    private final class Loop: Sendable {
        private let channel: String
        /// The channel of the notifications that it lets others send.
        private let ownChannel = "coral \(UUID().uuidString)"
        private let heartbeat: TimeInterval
        private let connect: @Sendable () throws -> PostgreSQLConnection
        private let state: String
        private let ask: @Sendable (String) throws -> String?
        private let body: @Sendable ([PostgreSQLNotification]) -> Void
        private let isStopped = Atomic(false)
        /// A pipe. A byte that is written to it ends the thread's wait.
        private let waking: (read: Int32, write: Int32)

        /// The seconds in which such a notification arrives.
        private static let patience: TimeInterval = 5

        init(
            channel: String, heartbeat: TimeInterval, connect: @escaping @Sendable () throws -> PostgreSQLConnection,
            state: String, ask: @escaping @Sendable (String) throws -> String?,
            _ body: @escaping @Sendable ([PostgreSQLNotification]) -> Void
        ) throws {
            self.channel = channel
            self.heartbeat = heartbeat
            self.connect = connect
            self.state = state
            self.ask = ask
            self.body = body
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { throw PostgreSQLError("There are too many open files.") }
            waking = (ends[0], ends[1])
        }

        deinit {
            close(waking.read)
            close(waking.write)
        }

        func stop() {
            guard !isStopped.exchange(true, ordering: .sequentiallyConsistent) else { return }
            var byte: UInt8 = 0
            _ = write(waking.write, &byte, 1)
        }

        private var isRunning: Bool { !isStopped.load(ordering: .sequentiallyConsistent) }

        /// A connection that listens; nil if it cannot, because a pooler is between.
        func connected() throws -> PostgreSQLConnection? {
            let connection = try connect()
            guard !connection.isPooled else {
                connection.close()
                return nil
            }
            try connection.execute(
                script: [channel, ownChannel].map { "LISTEN \(PostgreSQLConnection.quoted($0))" }
                    .joined(separator: "; "))
            return connection
        }

        /// - Parameter known: The state at the beginning, if there is no connection.
        func run(_ first: PostgreSQLConnection?, known: String?) {
            var connection = first
            while isRunning {
                guard let open = connection else { return followState(since: known) }
                switch listen(open) {
                case .stopped: return
                case .deaf:
                    open.close()
                    return followState(since: nil)
                case .lost:
                    open.close()
                    connection = reconnected()
                    if isRunning { body([]) }
                }
            }
        }

        /// Why listening has ended.
        private enum End {
            case stopped
            case lost
            /// The server does not deliver notifications.
            case deaf
        }

        private func listen(_ connection: PostgreSQLConnection) -> End {
            var nextHeartbeat = Date()
            /// When a notification must have arrived; nil if none is under way.
            var expected: Date?
            while isRunning {
                if expected == nil, nextHeartbeat <= Date() {
                    // Nothing is expected while the server cannot be reached.
                    let isSent = (try? ask("SELECT pg_notify(\(PostgreSQLConnection.literal(ownChannel)), '')")) != nil
                    expected = isSent ? Date(timeIntervalSinceNow: Self.patience) : nil
                    nextHeartbeat = Date(timeIntervalSinceNow: heartbeat)
                }
                guard let received = connection.receivedNotifications() else { return .lost }
                if received.contains(where: { $0.channel == ownChannel }) { expected = nil }
                let others = received.filter { $0.channel != ownChannel }
                if !others.isEmpty, isRunning { body(others) }
                if let expected, expected <= Date() { return .deaf }
                wait(for: connection.socket, until: expected ?? nextHeartbeat)
            }
            return .stopped
        }

        /// A new connection, as soon as the server can be reached; nil if it cannot listen, or the listener is stopped.
        private func reconnected() -> PostgreSQLConnection? {
            while isRunning {
                wait(for: nil, until: Date(timeIntervalSinceNow: 0.5))
                guard isRunning, let made = try? connected() else { continue }
                return made
            }
            return nil
        }

        // MARK: - Without notifications

        /// The seconds between two questions after a change, and when nothing has changed for a long time.
        private static let intervals = (shortest: 0.1, longest: 2.0)

        /// Asks for the state until the listener is stopped. The intervals grow while nothing changes.
        ///
        /// - Parameter known: The last state; nil if events may have been missed.
        private func followState(since known: String?) {
            var known = known
            var interval = Self.intervals.shortest
            while isRunning {
                // Processes that were started at the same time should not all ask at the same time.
                wait(for: nil, until: Date(timeIntervalSinceNow: interval * .random(in: 0.8...1.2)))
                let begin = Date()
                guard isRunning, let current = try? ask(state) else { continue }
                if current != known {
                    known = current
                    interval = Self.intervals.shortest
                    body([])
                } else {
                    interval = min(interval * 1.5, Self.intervals.longest)
                }
                // A question that takes long is asked less often.
                interval = max(interval, 20 * Date().timeIntervalSince(begin))
            }
        }

        /// Waits until the server has sent something, the listener is stopped, or the time has come.
        private func wait(for socket: Int32?, until end: Date) {
            var descriptors = [pollfd(fd: waking.read, events: Int16(POLLIN), revents: 0)]
            if let socket { descriptors.append(pollfd(fd: socket, events: Int16(POLLIN), revents: 0)) }
            let milliseconds = max(0, min(end.timeIntervalSinceNow * 1000, 86_400_000))
            _ = poll(&descriptors, nfds_t(descriptors.count), Int32(milliseconds.rounded(.up)))
        }
    }
#endif
