import Dispatch
import GRDB
import GRDBSQLite
import StoreSupport
import Synchronization

/// Decides which connection to a store with a write-ahead log reads: the one that writes, as long as no two accesses have met,
/// afterwards connections that only read, each used by one task at a time.
///
/// One connection for both caches each page once, and keeps its pages after its own commits, whereas a commit empties the caches
/// of all others. But a write cannot begin during a read of its connection. So after an access has met another one, reads and
/// writes have connections of their own, and up to a number of tasks read at once. The first write that meets a read interrupts
/// it; the read is repeated on another connection.
///
/// `DatabasePool` has such connections too. A read by one of those costs some fifty thousand instructions besides SQLite's, a
/// sixth of a short fetch: two more queues, a key path, and a query of the version of the schema.
package final class ReaderPool: Sendable {
    private struct State {
        var idle: [DatabaseQueue] = []
        var isClosed = false
        /// Whether the writing connection is used for a read.
        var isWriterReading = false
        /// Whether the statements of that read run now, and not those of a write within it.
        var isReadRunning = false
        /// Whether a write has interrupted that read.
        var isReadInterrupted = false
        var writeCount = 0
        /// Whether a read has met another access, or a write has met a read.
        var isConcurrent = false
    }

    /// The connection that is used on this thread, for reads that are made within others.
    private final class Access: Sendable {
        let connection: DatabaseQueue
        /// The writing connection of the same store.
        let writer: DatabaseQueue
        let outer: Access?

        init(_ connection: DatabaseQueue, writer: DatabaseQueue, outer: Access?) {
            (self.connection, self.writer, self.outer) = (connection, writer, outer)
        }
    }

    private static let access = ThreadLocal<Access>()

    private let writer: DatabaseQueue
    /// The access to the writing connection that is not made within another.
    private let writerAccess: Access
    private let configuration: Configuration
    private let limit: Int
    private let free: DispatchSemaphore
    private let state = Mutex(State())
    /// Held while all connections are awaited, so that two calls of `close()` do not wait for each other.
    private let closing = Mutex(())

    /// - Parameter writer: The connection that writes.
    package init(besides writer: DatabaseQueue, configuration: Configuration) {
        self.writer = writer
        writerAccess = Access(writer, writer: writer, outer: nil)
        self.configuration = configuration.forReading
        limit = configuration.maximumReaderCount
        free = DispatchSemaphore(value: limit)
    }

    // MARK: - Reading

    /// Runs statements on a connection: on that of the enclosing read or write, if there is one. Waits while all connections
    /// are in use. The work may be repeated, if a write has interrupted it.
    ///
    /// - Parameter scope: Lasting work always gets a connection that only reads.
    /// - Throws: `SQLITE_MISUSE` after `close()`.
    package func read<Result>(_ scope: ReadScope, _ body: (Database) throws -> Result) throws -> Result {
        let outer = Self.access.value
        if let connection = connection(of: outer) { return try connection.unsafeReentrantRead(body) }
        if !scope.isLasting, beginWithWriter() {
            let outcome = Swift.Result { try readWithWriter(within: outer, body) }
            let isInterrupted = endReadWithWriter()
            if case .success(let result) = outcome { return result }
            // A read that a write has interrupted is repeated beside it.
            if !isInterrupted { return try outcome.get() }
        }
        free.wait()
        defer { free.signal() }
        let reader = try take()
        // A connection whose transaction could not be ended is closed.
        var isReusable = false
        defer { if isReusable { state.withLock { $0.idle.append(reader) } } }
        return try Self.access.withValue(Access(reader, writer: writer, outer: outer)) {
            try reader.unsafeReentrantRead { database in
                defer { isReusable = !database.isInsideTransaction }
                return try body(database)
            }
        }
    }

    private func readWithWriter<Result>(
        within outer: Access?, _ body: (Database) throws -> Result
    ) throws -> Result {
        try Self.access.withValue(accessToWriter(within: outer)) {
            try writer.unsafeReentrantRead { database in
                state.withLock { $0.isReadRunning = true }
                defer {
                    state.withLock { $0.isReadRunning = false }
                    finish(database)
                }
                return try body(database)
            }
        }
    }

    /// - Returns: Whether a write has interrupted the read.
    private func endReadWithWriter() -> Bool {
        state.withLock { state in
            defer { (state.isWriterReading, state.isReadInterrupted) = (false, false) }
            return state.isReadInterrupted
        }
    }

    /// Ends a read by the connection that writes.
    private func finish(_ database: Database) {
        // The next write begins a transaction of its own.
        if database.isInsideTransaction { try? database.rollback() }
        // Later reads will cache their pages in other connections.
        if state.withLock({ $0.isConcurrent }) { sqlite3_db_release_memory(database.sqliteConnection) }
    }

    private func beginWithWriter() -> Bool {
        state.withLock { state in
            guard !state.isClosed, !state.isConcurrent else { return false }
            state.isConcurrent = state.isWriterReading || state.writeCount > 0
            state.isWriterReading = !state.isConcurrent
            return state.isWriterReading
        }
    }

    private func take() throws -> DatabaseQueue {
        let idle = try state.withLock { state in
            if state.isClosed { throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "Connection is closed") }
            return state.idle.popLast()
        }
        return try idle ?? DatabaseQueue(path: writer.path, configuration: configuration)
    }

    // MARK: - Writing

    /// Runs work on the connection that writes: reads within it see what it has written.
    package func write<Result>(_ body: (Database) throws -> Result) throws -> Result {
        let outer = Self.access.value
        // A write within a read of the same connection.
        if let connection = connection(of: outer), connection === writer {
            let isRead = state.withLock { state in
                defer { state.isReadRunning = false }
                return state.isReadRunning
            }
            defer { if isRead { state.withLock { $0.isReadRunning = true } } }
            return try connection.unsafeReentrantWrite(body)
        }
        state.withLock { state in
            state.writeCount += 1
            state.isConcurrent = state.isConcurrent || state.isWriterReading
            guard state.isReadRunning else { return }
            state.isReadInterrupted = true
            // With the lock, so that the read has not ended: nothing else is interrupted.
            writer.interrupt()
        }
        defer { state.withLock { $0.writeCount -= 1 } }
        return try writer.writeWithoutTransaction { database in
            try Self.access.withValue(accessToWriter(within: outer)) { try body(database) }
        }
    }

    private func accessToWriter(within outer: Access?) -> Access {
        outer == nil ? writerAccess : Access(writer, writer: writer, outer: outer)
    }

    private func connection(of innermost: Access?) -> DatabaseQueue? {
        var access = innermost
        while let current = access {
            if current.writer === writer { return current.connection }
            access = current.outer
        }
        return nil
    }

    // MARK: - Closing

    /// Closes the connections that only read when all their reads have ended. Later reads throw an error.
    package func close() throws {
        closing.withLock { _ in for _ in 0..<limit { free.wait() } }
        defer { for _ in 0..<limit { free.signal() } }
        for reader in state.withLock({ state in
            state.isClosed = true
            defer { state.idle = [] }
            return state.idle
        }) { try reader.close() }
    }
}

extension Configuration {
    /// The same for connections that only read, in transactions that may last longer than a call.
    ///
    /// Such a connection to a store that may be written is opened for writing too: one that is opened for reading needs a log
    /// that another connection has created.
    var forReading: Configuration {
        var configuration = self
        configuration.allowsUnsafeTransactions = true
        if !readonly { configuration.prepareDatabase { try $0.execute(sql: "PRAGMA query_only = 1") } }
        return configuration
    }
}
