import GRDB
import Synchronization

/// Connections that each hold a state of a database with a write-ahead log, by a read transaction, and are used again when
/// that has ended: to open one costs more than most of what is read through it.
final class HeldReaders: Sendable {
    private let path: String
    private let configuration: Configuration
    private let idle = Mutex<[DatabaseQueue]>([])
    /// How many connections are kept open for the next state.
    private static let idleLimit = 2

    /// - Parameter path: The path, or the URI, of the database.
    init(path: String, configuration: Configuration) {
        self.path = path
        var configuration = configuration
        configuration.readonly = true
        configuration.allowsUnsafeTransactions = true
        self.configuration = configuration
    }

    /// A connection that sees the present state until `end(_:)`.
    func begin() throws -> DatabaseQueue {
        let reader = try idle.withLock { $0.popLast() } ?? DatabaseQueue(path: path, configuration: configuration)
        try reader.unsafeReentrantRead { database in
            try database.beginTransaction(.deferred)
            // SQLite takes the state at the first read.
            _ = try Int.fetchOne(database, sql: "PRAGMA schema_version")
        }
        return reader
    }

    /// Lets go of a state.
    func end(_ reader: DatabaseQueue) {
        do {
            try reader.unsafeReentrantRead { try $0.rollback() }
        } catch {
            // The connection is of no more use, and is closed with its last reference.
            return
        }
        idle.withLock { if $0.count < Self.idleLimit { $0.append(reader) } }
    }

    /// Closes the connections that nobody uses.
    func close() throws {
        for reader in idle.withLock({ readers in
            defer { readers = [] }
            return readers
        }) { try reader.close() }
    }
}
