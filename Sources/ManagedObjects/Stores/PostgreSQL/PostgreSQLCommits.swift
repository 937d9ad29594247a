#if PostgreSQL
    import Foundation
    import PostgreSQLClient
    import Synchronization

    /// Notifies observers of commits to a store, of this process and of others, by the server's notifications. A connection
    /// listens while there is an observer.
    final class PostgreSQLCommits: Sendable {
        /// An observer, until it is deallocated.
        final class Observation: Sendable {
            private let commits: PostgreSQLCommits
            private let number: Int

            fileprivate init(_ commits: PostgreSQLCommits, number: Int) {
                self.commits = commits
                self.number = number
            }

            deinit { commits.end(number) }
        }

        private struct State {
            var observers: [Int: @Sendable () -> Void] = [:]
            var lastNumber = 0
            var listener: PostgreSQLListener?
        }

        private let channel: String
        private let pool: PostgreSQLPool
        private let state = Mutex(State())

        init(channel: String, pool: PostgreSQLPool) {
            self.channel = channel
            self.pool = pool
        }

        /// The statement that a transaction executes before its end, so that the message is delivered with its commit.
        var notification: String { "NOTIFY \(PostgreSQLConnection.quoted(channel))" }

        /// Calls a closure after commits, on a private queue. Commits in quick succession may be one call.
        ///
        /// - Throws: PostgreSQL's error if the server cannot be reached.
        func observe(_ body: @escaping @Sendable () -> Void) throws -> Observation {
            let number = try state.withLock { state in
                if state.listener == nil {
                    state.listener = try PostgreSQLListener(channel: channel, connect: { [pool] in try pool.connect() })
                    {
                        [weak self] _ in self?.tell()
                    }
                }
                state.lastNumber += 1
                state.observers[state.lastNumber] = body
                return state.lastNumber
            }
            return Observation(self, number: number)
        }

        private func end(_ number: Int) {
            // The listener is released outside of the lock.
            let listener = state.withLock { state -> PostgreSQLListener? in
                state.observers[number] = nil
                guard state.observers.isEmpty else { return nil }
                defer { state.listener = nil }
                return state.listener
            }
            _ = listener
        }

        private func tell() {
            let observers = state.withLock { $0.observers.sorted { $0.key < $1.key }.map(\.value) }
            for observer in observers { observer() }
        }
    }
#endif
