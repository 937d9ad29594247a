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
        /// One connection that only reads, and leaves every file as it is.
        case readOnly
        /// One connection to a database that is nowhere but in memory.
        case memory
    }

    /// Is told every statement of the connections that are opened while it is set: what tests count.
    @TaskLocal static var statementObserver: (@Sendable (String) -> Void)?

    let mode: Mode
    /// What triggers have computed during the transaction that is being written.
    let derivedValues: DerivedValueCollector
    private let database: any DatabaseWriter

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
        let pragmas = options.pragmas
        let mode: Mode =
            if SQLiteFile.isMemory(url) { .memory } else if options.isReadOnly { .readOnly } else {
                options.journalMode == "wal" ? .pool : .queue
            }
        self.mode = mode
        let access = SQLiteFile(url).readOnlyAccess
        let readsLogAlone = mode == .readOnly && access == .logAlone
        let observer = Self.statementObserver
        configuration.prepareDatabase { database in
            if let observer { database.trace { observer($0.description) } }
            for function in StoreFunctions.all(collector: collector) { database.add(function: function) }
            PredicateFunctions.add(to: database)
            // Before anything else: without it SQLite would make a file to share the log with others.
            if readsLogAlone { try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
            // Nothing that a file's schema calls may have effects, and a damaged page is noticed when it is read.
            if mode == .readOnly {
                try database.execute(sql: "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
            }
            // How pages are kept is decided once, before the first is written.
            if mode != .readOnly, !database.configuration.readonly,
                try Int.fetchOne(database, sql: "PRAGMA page_count") == 0
            {
                try database.execute(sql: "PRAGMA page_size = 4096; PRAGMA auto_vacuum = 2")
            }
            for (name, value) in pragmas {
                // A pragma that states its new value as a row.
                _ = try Row.fetchOne(database, sql: "PRAGMA \(name) = \(value)")
            }
        }
        switch mode {
        case .memory:
            database = try DatabaseQueue(configuration: configuration)
        case .readOnly:
            configuration.readonly = true
            database = try DatabaseQueue(
                path: SQLiteFile.uri(of: url, parameters: access.parameters), configuration: configuration)
        case .queue:
            let queue = try DatabaseQueue(path: url.path, configuration: configuration)
            try queue.writeWithoutTransaction { database in
                _ = try Row.fetchOne(database, sql: "PRAGMA journal_mode = \(options.journalMode)")
            }
            database = queue
        case .pool:
            database = try DatabasePool(path: url.path, configuration: configuration)
        }
    }

    /// Runs single statements; each sees a state of its own.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try database.unsafeRead(body)
    }

    /// Runs several statements that see the same state.
    func readConsistently<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try database.read(body)
    }

    /// Runs a transaction that nobody else writes beside; an error takes all of it back.
    func write<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try database.writeWithoutTransaction { database in
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
        try database.writeWithoutTransaction { try Int64.fetchOne($0, sql: "PRAGMA data_version") }
    }

    /// Runs statements that cannot be part of a transaction.
    func writeWithoutTransaction(_ body: (Database) throws -> Void) throws {
        try database.writeWithoutTransaction(body)
    }

    /// A connection of its own that sees the present state for as long as it lives; nil where readers and writers
    /// cannot work beside each other.
    func makeSnapshot() throws -> DatabaseSnapshot? {
        try (database as? DatabasePool)?.makeSnapshot()
    }

    /// Closes the connections. Whoever asks afterwards gets an error.
    func close() throws { try database.close() }
}
