#if PostgreSQL
    import Synchronization

    /// The connections of states that are not pinned any more, for those that are pinned next: a new connection costs several round trips,
    /// and a process of the server.
    final class PinnedConnections: Sendable {
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
