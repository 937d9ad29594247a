import GRDB
import Synchronization

/// Connections that each pin a state of a database with a write-ahead log by a read transaction. They are reused
/// afterwards, because opening a connection costs more than most reads.
final class HeldReaders: Sendable {
    private let path: String
    private let configuration: Configuration
    private let idle = Mutex<[DatabaseQueue]>([])
    /// The number of connections that are kept open for reuse.
    private static let idleLimit = 2

    /// - Parameter path: The path, or the URI, of the database.
    init(path: String, configuration: Configuration) {
        self.path = path
        self.configuration = configuration.forReading
    }

    /// A connection that reads the present state until `end(_:)`.
    func begin() throws -> DatabaseQueue {
        let reader = try idle.withLock { $0.popLast() } ?? DatabaseQueue(path: path, configuration: configuration)
        try reader.unsafeReentrantRead { database in
            try database.beginTransaction(.deferred)
            // SQLite determines the state of a read transaction at its first read.
            _ = try Int.fetchOne(database, sql: "PRAGMA schema_version")
        }
        return reader
    }

    /// Releases a pinned state.
    func end(_ reader: DatabaseQueue) {
        do {
            try reader.unsafeReentrantRead { try $0.rollback() }
        } catch {
            // The connection is unusable, and is closed with its last reference.
            return
        }
        idle.withLock { if $0.count < Self.idleLimit { $0.append(reader) } }
    }

    /// Closes the connections that are not in use.
    func close() throws {
        for reader in idle.withLock({ readers in
            defer { readers = [] }
            return readers
        }) { try reader.close() }
    }
}
