import Dispatch
import GRDB
import Synchronization

/// The connections of a store with a write-ahead log that read, apart from the one that writes: each is used by one task at a
/// time, and up to a number of tasks read at once.
///
/// `DatabasePool` has such connections too. A read by one of those costs some fifty thousand instructions besides SQLite's, a
/// sixth of a short fetch: two more queues, a key path, and a query of the version of the schema.
final class ReaderPool: Sendable {
    private struct State {
        var idle: [DatabaseQueue] = []
        var isClosed = false
    }

    /// The connection that reads on this thread, for reads that are made within others.
    private final class Access: Sendable {
        let pool: ObjectIdentifier
        let reader: any DatabaseReader
        let outer: Access?

        init(_ pool: ReaderPool, _ reader: any DatabaseReader, outer: Access?) {
            (self.pool, self.reader, self.outer) = (ObjectIdentifier(pool), reader, outer)
        }
    }

    @TaskLocal private static var access: Access?

    private let path: String
    private let configuration: Configuration
    private let limit: Int
    private let free: DispatchSemaphore
    private let state = Mutex(State())
    /// Held while all connections are awaited, so that two calls of `close()` do not wait for each other.
    private let closing = Mutex(())

    /// - Parameter path: The path of the database.
    init(path: String, configuration: Configuration) {
        self.path = path
        self.configuration = configuration.forReading
        limit = configuration.maximumReaderCount
        free = DispatchSemaphore(value: limit)
    }

    /// Runs statements on a connection: on that of the enclosing read or write, if there is one. Waits while all connections
    /// are in use.
    ///
    /// - Throws: `SQLITE_MISUSE` after `close()`.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        let outer = Self.access
        if let reader = reader(of: outer) { return try reader.unsafeReentrantRead(body) }
        free.wait()
        defer { free.signal() }
        let reader = try take()
        // A connection whose transaction could not be ended is closed.
        var isReusable = false
        defer { if isReusable { state.withLock { $0.idle.append(reader) } } }
        return try Self.$access.withValue(Access(self, reader, outer: outer)) {
            try reader.unsafeReentrantRead { database in
                defer { isReusable = !database.isInsideTransaction }
                return try body(database)
            }
        }
    }

    /// Runs work of the connection that writes: reads within it see what it has written.
    func writing<Result>(by writer: any DatabaseReader, _ body: () throws -> Result) rethrows -> Result {
        try Self.$access.withValue(Access(self, writer, outer: Self.access), operation: body)
    }

    private func reader(of innermost: Access?) -> (any DatabaseReader)? {
        var access = innermost
        while let current = access {
            if current.pool == ObjectIdentifier(self) { return current.reader }
            access = current.outer
        }
        return nil
    }

    private func take() throws -> DatabaseQueue {
        let idle = try state.withLock { state in
            if state.isClosed { throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "Connection is closed") }
            return state.idle.popLast()
        }
        return try idle ?? DatabaseQueue(path: path, configuration: configuration)
    }

    /// Closes the connections when all reads have ended. Later reads throw an error.
    func close() throws {
        closing.withLock { _ in for _ in 0..<limit { free.wait() } }
        defer { for _ in 0..<limit { free.signal() } }
        for reader in state.withLock({ state in
            defer { state = State(isClosed: true) }
            return state.idle
        }) { try reader.close() }
    }
}

extension Configuration {
    /// The same for connections that only read, in transactions that may last longer than a call.
    var forReading: Configuration {
        var configuration = self
        configuration.readonly = true
        configuration.allowsUnsafeTransactions = true
        return configuration
    }
}
