import GRDB
import Synchronization

/// A state of a store that is held for reading. Letting it go ends it.
final class SQLiteGeneration: StoreGeneration, Sendable {
    /// Where the state is read from, once it is known.
    private let reader: Mutex<(any DatabaseReader)?>
    /// What a private copy is made of.
    private let origin: (database: any DatabaseReader, configuration: Configuration)?
    private let file: SQLiteFile?
    /// What the files were like when the state was taken.
    private let stamps: [FileStamp?]
    private let end: @Sendable () -> Void

    /// A state that a connection has: its transaction, or a database that does not change.
    ///
    /// - Parameter end: Is called when the state is let go.
    init(
        _ reader: any DatabaseReader, of file: SQLiteFile, stamps: [FileStamp?],
        end: @escaping @Sendable () -> Void = {}
    ) {
        self.reader = Mutex(reader)
        self.end = end
        self.file = file
        self.stamps = stamps
        origin = nil
    }

    /// A state of a database whose readers keep writers waiting: a copy, made when the state is first read.
    ///
    /// Cost: every page is copied under a shared lock. The copy is a temporary database of SQLite's: in memory as far as its
    /// cache goes, else in a file without a name.
    ///
    /// - Parameter file: Where the database is; nil for one in memory.
    init(copying database: any DatabaseReader, of file: SQLiteFile?, configuration: Configuration) {
        reader = Mutex(nil)
        end = {}
        self.file = file
        stamps = file?.stamps ?? []
        origin = (database, configuration)
    }

    deinit { end() }

    /// The present state, held by a connection of its own.
    convenience init(_ readers: HeldReaders, of file: SQLiteFile) throws {
        let stamps = file.stamps
        let reader = try readers.begin()
        self.init(reader, of: file, stamps: stamps) { readers.end(reader) }
    }

    /// Whether something may have been committed since. Files of large values that the state refers to may then be gone.
    var isOutdated: Bool { file.map { $0.stamps != stamps } ?? false }

    /// Runs statements that see the state.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        let reader = try reader.withLock { reader in
            if let reader { return reader }
            guard let origin else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
            let copy = try Self.copy(of: origin.database, configuration: origin.configuration)
            reader = copy
            return copy
        }
        return try reader.unsafeReentrantRead(body)
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

/// A transaction that lasts as long as the work that reads in it.
final class HeldTransaction: StoreGeneration {
    let database: Database

    init(_ database: Database) { self.database = database }
}
