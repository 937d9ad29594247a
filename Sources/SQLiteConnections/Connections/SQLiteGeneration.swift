import GRDB
import StoreSupport
import Synchronization

/// A state of a store that is pinned for reading until this object is deallocated.
package final class SQLiteGeneration: Sendable {
    /// The connection from which the state is read; nil until the copy has been made.
    private let reader: Mutex<(any DatabaseReader)?>
    /// The source of a private copy.
    private let origin: (database: any DatabaseReader, configuration: Configuration)?
    private let file: SQLiteFile?
    /// The stamps of the files when the state was pinned.
    private let stamps: [FileStamp?]
    private let versionCheck: ModelVersionCheck
    private let end: @Sendable () -> Void

    /// The state of a connection: its transaction, or an unchanging database.
    ///
    /// - Parameter end: Called when the state is released.
    package init(
        _ reader: any DatabaseReader, of file: SQLiteFile, stamps: [FileStamp?], _ versionCheck: ModelVersionCheck,
        end: @escaping @Sendable () -> Void = {}
    ) {
        self.reader = Mutex(reader)
        self.versionCheck = versionCheck
        self.end = end
        self.file = file
        self.stamps = stamps
        origin = nil
    }

    /// A state of a database whose readers block writers: a copy, which is made when the state is first read.
    ///
    /// Cost: every page is copied under a shared lock. The copy is a temporary database of SQLite, in memory up to the
    /// size of its cache, otherwise in an unnamed file.
    ///
    /// - Parameter file: The database's file; nil for a database in memory.
    package init(
        copying database: any DatabaseReader, of file: SQLiteFile?, configuration: Configuration,
        _ versionCheck: ModelVersionCheck
    ) {
        reader = Mutex(nil)
        self.versionCheck = versionCheck
        end = {}
        self.file = file
        stamps = file?.stamps ?? []
        origin = (database, configuration)
    }

    deinit { end() }

    /// The present state, pinned by a connection of its own.
    convenience init(_ readers: SnapshotReaders, of file: SQLiteFile, _ versionCheck: ModelVersionCheck) throws {
        let stamps = file.stamps
        let reader = try readers.begin()
        self.init(reader, of: file, stamps: stamps, versionCheck) { readers.end(reader) }
    }

    /// Whether something may have been committed since. Files of large values to which the state refers may have been
    /// deleted then.
    package var isOutdated: Bool { file.map { $0.stamps != stamps } ?? false }

    /// Runs statements that read the state.
    ///
    /// - Throws: The error of the check of the connection, if the state does not have the model with which the store was opened.
    package func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        let reader = try reader.withLock { reader in
            if let reader { return reader }
            guard let origin else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
            let copy = try Self.copy(of: origin.database, configuration: origin.configuration)
            reader = copy
            return copy
        }
        return try reader.unsafeReentrantRead { database in
            try versionCheck.verify(database)
            return try body(database)
        }
    }

    private static func copy(
        of database: any DatabaseReader, configuration: Configuration
    ) throws -> any DatabaseReader {
        var configuration = configuration
        configuration.readonly = false
        let copy = try DatabaseQueue(path: "", configuration: configuration)
        try database.read { origin in try copy.writeWithoutTransaction { try origin.backup(to: $0) } }
        return copy
    }
}

/// Connections that each pin a state of a database with a write-ahead log by a read transaction. They are reused
/// afterwards, because opening a connection costs more than most reads.
final class SnapshotReaders: Sendable {
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
