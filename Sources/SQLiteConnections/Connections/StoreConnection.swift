import AtomicFiles
import Foundation
import GRDB
import GRDBSQLite
import SQLStatements
import StoreSupport
import Synchronization

/// The connection to a store: one SQLite connection that writes, and others that read beside it.
package final class StoreConnection: Sendable {
    /// How the store is opened.
    package enum Mode: Sendable {
        /// One writer and several concurrent readers, with a write-ahead log.
        case pool
        /// One connection, with another journal mode.
        case queue
        /// Read-only connections that change no file.
        case readOnly
        /// One connection to a database in memory.
        case memory
    }

    /// Called with every statement of the connections that are opened while it is set. Tests count statements with it.
    @TaskLocal package static var statementObserver: (@Sendable (String) -> Void)?

    package let mode: Mode
    /// The values that triggers have computed during the current write transaction.
    package let derivedValues: DerivedValueCollector
    private let database: OpenDatabase
    private let configuration: Configuration
    private let file: SQLiteFile
    /// The connections that pin states of a store with a write-ahead log; nil in the other modes.
    private let snapshotReaders: SnapshotReaders?
    /// The connections that read beside the writing one; nil if one connection always does both.
    private let readers: ReaderPool?
    private let versionCheck: ModelVersionCheck

    private enum OpenDatabase: Sendable {
        case writable(any DatabaseWriter)
        case readOnly(ReadOnlyDatabase)
    }

    /// Opens the file, and creates it if it does not exist.
    ///
    /// - Throws: GRDB's errors; see `SQLiteError`.
    package init(url: URL, options: SQLiteOptions) throws {
        let collector = DerivedValueCollector()
        derivedValues = collector
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(options.timeout)
        configuration.maximumReaderCount = options.maximumReaderCount
        file = SQLiteFile(url)
        let versionCheck = ModelVersionCheck()
        self.versionCheck = versionCheck
        let prepare = Self.preparation(options, collector, versionCheck)
        if options.isReadOnly, !SQLiteFile.isMemory(url) {
            mode = .readOnly
            database = .readOnly(try ReadOnlyDatabase(file, configuration: configuration, prepare: prepare))
            self.configuration = configuration
            snapshotReaders = nil
            readers = nil
            return
        }
        configuration.prepareDatabase(prepare)
        self.configuration = configuration
        if SQLiteFile.isMemory(url) {
            mode = .memory
            snapshotReaders = nil
            readers = nil
            database = .writable(try DatabaseQueue(configuration: configuration))
            return
        }
        // For the page cache, and as much again for rows and objects or for the cache of a connection that reads.
        LargePages.reserveHeap(byteCount: 2 * min(Int(file.byteCount), options.pageCacheByteCount))
        let journalMode = try options.journalMode ?? Self.journalMode(of: file, configuration)
        let writesBlocks = journalMode == "wal" && LogBufferFileSystem.isRegistered
        let path = writesBlocks ? file.uri(parameters: "vfs=\(LogBufferFileSystem.name)") : file.path
        let writer = try DatabaseQueue(path: path, configuration: configuration)
        try writer.writeWithoutTransaction { [file] database in
            let active = try String.fetchOne(database, sql: "PRAGMA journal_mode = \(journalMode)")
            guard journalMode == "wal" else { return }
            guard active == "wal" else {
                throw DatabaseError(message: "could not activate WAL mode at path: \(file.path)")
            }
            // In this mode a commit is atomic without waiting for the disk.
            let synchronous = options.pragmas.first { $0.name == "synchronous" }?.value ?? "normal"
            try database.execute(sql: "PRAGMA synchronous = \(synchronous)")
        }
        database = .writable(writer)
        if journalMode == "wal" {
            mode = .pool
            if let size = options.readerCacheSize {
                configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = \(size)") }
            }
            snapshotReaders = SnapshotReaders(path: file.path, configuration: configuration)
            readers = ReaderPool(besides: writer, configuration: configuration)
        } else {
            mode = .queue
            snapshotReaders = nil
            readers = nil
        }
    }

    deinit {
        // The readers are closed before the writer, which as the last connection checkpoints the log and removes it.
        try? snapshotReaders?.close()
        try? readers?.close()
    }

    /// Configures each connection before it is used.
    private static func preparation(
        _ options: SQLiteOptions, _ collector: DerivedValueCollector, _ versionCheck: ModelVersionCheck
    ) -> @Sendable (Database) throws -> Void {
        let observer = Self.statementObserver
        let isObserved = StoreObservation.current != nil
        let pragmas = options.pragmas
        let isReadOnly = options.isReadOnly
        return { database in
            // Only connections for reading are opened again when the file has been replaced.
            versionCheck.remove(database, isOtherFile: isReadOnly)
            if let observer {
                database.trace { observer($0.description) }
            } else if isObserved {
                database.trace(options: .profile) { event in
                    guard case .profile(let statement, let duration) = event else { return }
                    StoreObservation.report(.statement, statement.sql, .seconds(duration))
                }
            }
            for function in StoreFunctions.all(collector: collector) { try function.add(to: database) }
            try PredicateFunctions.add(to: database)
            // Functions called by a file's schema must have no side effects, and a damaged page must be detected when
            // it is read.
            if isReadOnly {
                try database.execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
            }
            // Page size and vacuum mode can only be set before the first page is written.
            if !isReadOnly, !database.configuration.readonly,
                try Int.fetchOne(database, sql: "PRAGMA page_count") == 0
            {
                try database.execute(sql: "PRAGMA page_size = 4096; PRAGMA auto_vacuum = 2")
            }
            for (name, value) in pragmas { try database.execute(sql: "PRAGMA \(name) = \(value)") }
        }
    }

    /// The journal mode of a file.
    private static func journalMode(of file: SQLiteFile, _ configuration: Configuration) throws -> String {
        try DatabaseQueue(path: file.path, configuration: configuration).writeWithoutTransaction { database in
            try String.fetchOne(database, sql: "PRAGMA journal_mode") ?? "delete"
        }
    }

    // MARK: - Reading

    private func withReader<Result>(_ scope: ReadScope, _ body: (Database) throws -> Result) throws -> Result {
        if let readers { return try readers.read(scope, body) }
        return switch database {
        case .writable(let writer): try writer.unsafeReentrantRead(body)
        case .readOnly(let database): try database.current().unsafeReentrantRead(body)
        }
    }

    /// Runs statements that read.
    ///
    /// - Throws: The error of ``refuseStates(since:unless:)``, too.
    package func read<Result>(_ scope: ReadScope = .statements, _ body: (Database) throws -> Result) throws -> Result {
        try withReader(scope) { database in
            if scope.isOneState { return try readState(of: database, body) }
            let result: Result
            do {
                result = try body(database)
            } catch {
                // A column may be missing because the store has been migrated.
                do { try versionCheck.verify(database) } catch let refusal as CocoaError { throw refusal } catch {}
                throw error
            }
            // A statement determines the state that it reads when it begins.
            try versionCheck.verify(database)
            return result
        }
    }

    private func readState<Result>(of database: Database, _ body: (Database) throws -> Result) throws -> Result {
        if database.isInsideTransaction { return try body(database) }
        try database.beginTransaction(.deferred)
        // A read transaction has nothing to lose in a rollback.
        defer { try? database.rollback() }
        try versionCheck.verifyState(of: database)
        return try body(database)
    }

    /// The present state of the store, which does not change until it is released. It never blocks writers: where a
    /// reader would, it is a copy.
    package func pin() throws -> SQLiteGeneration {
        switch database {
        case .readOnly(let database): return try database.pin(versionCheck)
        case .writable(let queue):
            if let snapshotReaders { return try SQLiteGeneration(snapshotReaders, of: file, versionCheck) }
            return SQLiteGeneration(
                copying: queue, of: mode == .memory ? nil : file, configuration: configuration, versionCheck)
        }
    }

    /// Whether a transaction was left unfinished, so that the state before it is read from a copy.
    package var isRecovered: Bool {
        guard case .readOnly(let database) = database else { return false }
        return database.isRecovered
    }

    // MARK: - Writing

    private func writer() throws -> any DatabaseWriter {
        guard case .writable(let writer) = database else {
            throw DatabaseError(resultCode: .SQLITE_READONLY, message: "attempt to write a readonly database")
        }
        return writer
    }

    private func withWriter<Result>(_ body: (Database) throws -> Result) throws -> Result {
        if let readers { return try readers.write(body) }
        return try writer().unsafeReentrantWrite(body)
    }

    /// Runs a write transaction; rolls it back on an error.
    package func write<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try withWriter { database in
            derivedValues.removeAll()
            let result = try Self.transaction(on: database) {
                try versionCheck.verify(database)
                return try body(database)
            }
            // What this connection has written needs no check.
            versionCheck.pass(database)
            return result
        }
    }

    /// Runs a write transaction with statements that are prepared once. `Database.inTransaction` prepares them each time, which costs more
    /// than the transaction of one changed row.
    private static func transaction<Result>(on database: Database, _ body: () throws -> Result) throws -> Result {
        try SQLStatement("BEGIN IMMEDIATE TRANSACTION", in: database).run()
        do {
            let result = try body()
            try SQLStatement("COMMIT TRANSACTION", in: database).run()
            return result
        } catch {
            // Some errors of SQLite's end the transaction. The first error is thrown, not one of the rollback.
            if database.isInsideTransaction { try? database.rollback() }
            throw error
        }
    }

    /// Sets a check of the store's metadata: reads and write transactions throw its error if the state that they read does not
    /// pass. Cost: one pragma after a commit of another connection.
    ///
    /// - Parameter version: A version of the schema that needs no check.
    package func refuseStates(since version: Int64, unless check: @escaping @Sendable (Database) throws -> Void) {
        versionCheck.set(check, passed: version)
    }

    /// A number that changes when a connection other than the writing one has committed a transaction.
    package func dataVersion() throws -> Int64? {
        let connection: any DatabaseWriter =
            switch database {
            case .writable(let writer): writer
            case .readOnly(let database): try database.current()
            }
        // May be called within a write of the same connection.
        return try connection.unsafeReentrantWrite { try Int64.fetchOne($0, sql: "PRAGMA data_version") }
    }

    /// Waits until the committed transactions are on disk, where a loss of power cannot revert them.
    ///
    /// With a write-ahead log SQLite itself does so before a checkpoint only, and with a rollback journal it does not wait
    /// for the folder's entries: a journal that appears again would be rolled back.
    package func synchronize() throws {
        try withWriter { database in
            try DatabaseFile.journal(of: database.sqliteConnection)?.synchronize()
            guard mode != .pool else { return }
            try DatabaseFile(database.sqliteConnection).synchronize()
            try FileSystem.synchronize(file.url.deletingLastPathComponent().path)
        }
    }

    /// Runs statements that SQLite does not allow in a transaction.
    package func writeWithoutTransaction(_ body: (Database) throws -> Void) throws {
        try withWriter(body)
    }

    /// Closes the connections. Later calls throw an error.
    package func close() throws {
        try snapshotReaders?.close()
        try readers?.close()
        switch database {
        case .writable(let writer): try writer.close()
        case .readOnly(let database): try database.close()
        }
    }
}

extension StoreConnection {
    /// Reads a store's database in one state without changing any file.
    package static func read<Result>(storeAt url: URL, _ body: (Database) throws -> Result) throws -> Result {
        var isRecovered = false
        return try read(storeAt: url, isRecovered: &isRecovered, body)
    }

    /// Reads a store's database in one state without changing any file.
    ///
    /// - Parameter isRecovered: Set if a transaction was left unfinished; the state before it is read.
    package static func read<Result>(
        storeAt url: URL, isRecovered: inout Bool, _ body: (Database) throws -> Result
    ) throws -> Result {
        do {
            try SQLiteFile(url).requireUsable(isReadOnly: true)
            var options = SQLiteOptions()
            options.isReadOnly = true
            let connection = try StoreConnection(url: url, options: options)
            isRecovered = connection.isRecovered
            return try connection.read(.state, body)
        } catch {
            throw SQLiteError.translated(error, .opening, url: url)
        }
    }
}
