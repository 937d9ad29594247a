import GRDB
import Synchronization

/// A state of a store that is pinned for reading until this object is deallocated.
final class SQLiteGeneration: StoreGeneration, Sendable {
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
    init(
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
    init(
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
    convenience init(_ readers: HeldReaders, of file: SQLiteFile, _ versionCheck: ModelVersionCheck) throws {
        let stamps = file.stamps
        let reader = try readers.begin()
        self.init(reader, of: file, stamps: stamps, versionCheck) { readers.end(reader) }
    }

    /// Whether something may have been committed since. Files of large values to which the state refers may have been
    /// deleted then.
    var isOutdated: Bool { file.map { $0.stamps != stamps } ?? false }

    /// Runs statements that read the state.
    ///
    /// - Throws: The error of the check of the connection, if the state does not have the model with which the store was opened.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
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

/// A transaction that lasts as long as the work that reads from it.
final class HeldTransaction: StoreGeneration {
    let database: Database

    init(_ database: Database) { self.database = database }
}
