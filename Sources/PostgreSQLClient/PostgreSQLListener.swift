#if PostgreSQL
    import Foundation
    import Synchronization

    /// Receives the notifications of a channel on a connection and a thread of its own, until it is deallocated. A lost
    /// connection is replaced by a new one. The block is then called as after a notification, because notifications may have
    /// been missed.
    package final class PostgreSQLListener: Sendable {
        private let loop: Loop

        /// Starts to listen.
        ///
        /// - Parameter body: Called on a private thread: with the notifications, or with none after a lost connection was
        ///   replaced.
        package init(
            channel: String, connect: @escaping @Sendable () throws -> PostgreSQLConnection,
            _ body: @escaping @Sendable ([PostgreSQLNotification]) -> Void
        ) throws {
            loop = try Loop(channel: channel, connect: connect, body)
            let connection = try loop.connected()
            Thread.detachNewThread { [loop] in loop.run(connection) }
        }

        deinit { loop.stop() }

        /// Stops listening, without waiting for a block that is running.
        package func stop() { loop.stop() }
    }

    /// The thread of a listener, which does not retain it.
    private final class Loop: Sendable {
        private let channel: String
        private let connect: @Sendable () throws -> PostgreSQLConnection
        private let body: @Sendable ([PostgreSQLNotification]) -> Void
        private let isStopped = Atomic(false)
        /// A pipe. A byte that is written to it ends the thread's wait.
        private let waking: (read: Int32, write: Int32)

        init(
            channel: String, connect: @escaping @Sendable () throws -> PostgreSQLConnection,
            _ body: @escaping @Sendable ([PostgreSQLNotification]) -> Void
        ) throws {
            self.channel = channel
            self.connect = connect
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

        func connected() throws -> PostgreSQLConnection {
            let connection = try connect()
            try connection.execute(script: "LISTEN \(PostgreSQLConnection.quoted(channel))")
            return connection
        }

        func run(_ first: PostgreSQLConnection) {
            var connection: PostgreSQLConnection? = first
            while !isStopped.load(ordering: .sequentiallyConsistent) {
                guard let open = connection else {
                    wait(for: nil, milliseconds: 500)
                    guard !isStopped.load(ordering: .sequentiallyConsistent), let made = try? connected() else {
                        continue
                    }
                    connection = made
                    body([])
                    continue
                }
                wait(for: open.socket, milliseconds: -1)
                guard let received = open.receivedNotifications() else {
                    open.close()
                    connection = nil
                    continue
                }
                if !received.isEmpty, !isStopped.load(ordering: .sequentiallyConsistent) { body(received) }
            }
        }

        /// Waits until the server has sent something, or the listener is stopped.
        private func wait(for socket: Int32?, milliseconds: Int32) {
            var descriptors = [pollfd(fd: waking.read, events: Int16(POLLIN), revents: 0)]
            if let socket { descriptors.append(pollfd(fd: socket, events: Int16(POLLIN), revents: 0)) }
            _ = poll(&descriptors, nfds_t(descriptors.count), milliseconds)
        }
    }
#endif
