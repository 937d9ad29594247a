import Foundation
import GRDB

/// The open connections to one store.
final class SQLiteConnection: Sendable {
    /// How the store is opened.
    enum Mode: Sendable {
        /// One writer and several readers beside it, with a write-ahead log.
        case pool
        /// One connection, with another journal mode.
        case queue
        /// Connections that only read, and leave every file as it is.
        case readOnly
        /// One connection to a database that is nowhere but in memory.
        case memory
    }

    /// Is told every statement of the connections that are opened while it is set: what tests count.
    @TaskLocal static var statementObserver: (@Sendable (String) -> Void)?

    let mode: Mode
    /// What triggers have computed during the transaction that is being written.
    let derivedValues: DerivedValueCollector
    private let database: OpenDatabase
    private let configuration: Configuration
    private let file: SQLiteFile
    private let heldReaders: HeldReaders

    private enum OpenDatabase: Sendable {
        case writable(any DatabaseWriter)
        case readOnly(ReadOnlyDatabase)
    }

    /// Opens the file, or makes it.
    ///
    /// - Throws: Errors as GRDB has them; see `SQLiteError`.
    init(url: URL, options: SQLiteOptions) throws {
        let collector = DerivedValueCollector()
        derivedValues = collector
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(options.timeout)
        configuration.maximumReaderCount = options.maximumReaderCount
        file = SQLiteFile(url)
        let prepare = Self.preparation(options, collector)
        if options.isReadOnly, !SQLiteFile.isMemory(url) {
            mode = .readOnly
            database = .readOnly(try ReadOnlyDatabase(file, configuration: configuration, prepare: prepare))
            self.configuration = configuration
            heldReaders = HeldReaders(path: file.path, configuration: configuration)
            return
        }
        configuration.prepareDatabase(prepare)
        self.configuration = configuration
        heldReaders = HeldReaders(path: file.path, configuration: configuration)
        if SQLiteFile.isMemory(url) {
            mode = .memory
            database = .writable(try DatabaseQueue(configuration: configuration))
            return
        }
        let journalMode = try options.journalMode ?? Self.journalMode(of: file, configuration)
        if journalMode == "wal" {
            mode = .pool
            database = .writable(try DatabasePool(path: file.path, configuration: configuration))
        } else {
            mode = .queue
            let queue = try DatabaseQueue(path: file.path, configuration: configuration)
            try queue.writeWithoutTransaction { database in
                _ = try Row.fetchOne(database, sql: "PRAGMA journal_mode = \(journalMode)")
            }
            database = .writable(queue)
        }
    }

    deinit {
        // Before the writer, which as the last connection merges the log into the database and removes it.
        try? heldReaders.close()
    }

    /// What each connection needs before it is used.
    private static func preparation(
        _ options: SQLiteOptions, _ collector: DerivedValueCollector
    ) -> @Sendable (Database) throws -> Void {
        let observer = Self.statementObserver
        let pragmas = options.pragmas
        let isReadOnly = options.isReadOnly
        return { database in
            if let observer { database.trace { observer($0.description) } }
            for function in StoreFunctions.all(collector: collector) { database.add(function: function) }
            PredicateFunctions.add(to: database)
            // Nothing that a file's schema calls may have effects, and a damaged page is noticed when it is read.
            if isReadOnly {
                try database.execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
            }
            // How pages are kept is decided once, before the first is written.
            if !isReadOnly, !database.configuration.readonly,
                try Int.fetchOne(database, sql: "PRAGMA page_count") == 0
            {
                try database.execute(sql: "PRAGMA page_size = 4096; PRAGMA auto_vacuum = 2")
            }
            for (name, value) in pragmas {
                // A pragma that states its new value as a row.
                _ = try Row.fetchOne(database, sql: "PRAGMA \(name) = \(value)")
            }
        }
    }

    /// The journal mode that a file has.
    private static func journalMode(of file: SQLiteFile, _ configuration: Configuration) throws -> String {
        try DatabaseQueue(path: file.path, configuration: configuration).writeWithoutTransaction { database in
            try String.fetchOne(database, sql: "PRAGMA journal_mode") ?? "delete"
        }
    }

    // MARK: - Reading

    private func reader() throws -> any DatabaseWriter {
        switch database {
        case .writable(let writer): writer
        case .readOnly(let database): try database.current()
        }
    }

    /// Runs single statements; each sees a state of its own.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try reader().unsafeReentrantRead(body)
    }

    /// Runs several statements that see the same state.
    func readConsistently<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try reader().unsafeReentrantRead { database in
            if database.isInsideTransaction { return try body(database) }
            try database.beginTransaction(.deferred)
            // Nothing was written that could be lost.
            defer { try? database.rollback() }
            return try body(database)
        }
    }

    /// The present state of the store, which stays as it is for as long as the answer is held. It keeps no writer waiting: where
    /// readers would, it is a copy.
    func pin() throws -> SQLiteGeneration {
        switch database {
        case .readOnly(let database): return try database.pin()
        case .writable where mode == .pool: return try SQLiteGeneration(heldReaders, of: file)
        case .writable(let queue):
            return SQLiteGeneration(copying: queue, of: mode == .memory ? nil : file, configuration: configuration)
        }
    }

    /// Whether a transaction was left unfinished, and the state before it is read from a copy.
    var isRecovered: Bool {
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

    /// Runs a transaction that nobody else writes beside; an error takes all of it back.
    func write<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try writer().writeWithoutTransaction { database in
            derivedValues.removeAll()
            var result: Result?
            try database.inTransaction(.immediate) {
                result = try body(database)
                return .commit
            }
            guard let result else { throw CancellationError() }
            return result
        }
    }

    /// A number that changes when another connection than the writing one has committed a transaction.
    func dataVersion() throws -> Int64? {
        try reader().writeWithoutTransaction { try Int64.fetchOne($0, sql: "PRAGMA data_version") }
    }

    /// Runs statements that cannot be part of a transaction.
    func writeWithoutTransaction(_ body: (Database) throws -> Void) throws {
        try writer().writeWithoutTransaction(body)
    }

    /// Closes the connections. Whoever asks afterwards gets an error.
    func close() throws {
        try heldReaders.close()
        switch database {
        case .writable(let writer): try writer.close()
        case .readOnly(let database): try database.close()
        }
    }
}
