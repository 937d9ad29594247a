import AtomicFiles
import CoreDataErrors
import Foundation
import GRDB
import ManagedObjects
import ModelFiles
import SQLiteConnections

/// Information about a store in an SQLite file, or in PostgreSQL, that is read without its model: an addition to Core Data's API.
///
/// Reading changes and creates no file.
public struct StoreInspection: @unchecked Sendable {  // because property list values are never changed
    /// The location of the store.
    public let url: URL
    /// The store's metadata, including its UUID under `NSStoreUUIDKey`.
    public let metadata: [String: Any]
    /// The model that is cached in the store; nil if there is none, as in very old stores.
    public let cachedModel: NSManagedObjectModel?
    /// The cached model as a value for model tools.
    package var cachedModelValue: Model? { cachedModel?.modelValue() }
    /// SQLite's journal mode of the store: `wal`, `delete`, …
    public let journalMode: String
    /// The state of the journal, and what to do about it, in one or two sentences.
    public let journalState: String
    /// Whether a process ended during a transaction. The state before the transaction is read then.
    public let hasUnfinishedTransaction: Bool
    /// Whether the database is in WAL mode and no log is beside it: it was closed, or copied without its log.
    package let lacksLog: Bool
    /// The size of the database file, in bytes.
    public let byteCount: Int64
    /// The size of the write-ahead log, in bytes; 0 if there is none.
    public let logByteCount: Int64
    /// Whether the store keeps a history of its changes.
    public let hasHistory: Bool

    /// Reads the information about the store at a location. A few statements.
    ///
    /// - Throws: An error of Core Data's if there is no store, or if it cannot be read or is damaged.
    public init(url: URL) throws {
        self = try StoreClasses.isOnServer(url) ? Self(server: url) : Self(file: url)
    }

    private init(file url: URL) throws {
        self.url = url
        let file = SQLiteFile(url)
        byteCount = Self.size(file.path)
        logByteCount = Self.size(file.path + "-wal")
        var isRecovered = false
        let read = try StoreConnection.read(storeAt: url, isRecovered: &isRecovered) { database in
            let tables = try StoreReader(database).tableNames()
            return (
                metadata: try StoreMetadata(in: database, url: url, tables: tables).published,
                model: try Self.model(in: database, tables, url: url),
                hasHistory: tables.contains("ATRANSACTION"),
                isLogged: database.isWriteAheadLogged
            )
        }
        hasUnfinishedTransaction = isRecovered
        journalState =
            isRecovered
            ? "A process ended in the middle of a transaction: what is read is the state before it. Opening the store once for "
                + "writing, with its app or the program sqlite3, rolls the transaction back and removes the journal."
            : file.journalState(isLogged: read.isLogged)
        metadata = read.metadata
        cachedModel = read.model
        hasHistory = read.hasHistory
        journalMode = read.isLogged ? "wal" : "delete"
        lacksLog = read.isLogged && file.lacksLog
    }

    /// The information about a store in PostgreSQL. It has no files, and no journal mode.
    private init(server url: URL) throws {
        #if PostgreSQL
            let read = try PostgreSQLStore.inspect(url)
            self.url = url
            metadata = read.metadata.published
            cachedModel = read.model
            journalMode = ""
            journalState = "The store is on a server."
            hasUnfinishedTransaction = false
            lacksLog = false
            byteCount = read.byteCount
            logByteCount = 0
            hasHistory = read.hasHistory
        #else
            throw CocoaError(.persistentStoreInvalidType, StoreClasses.missingTrait)
        #endif
    }

    /// The URLs of the stores in a server's database whose schemas match that of a URL, in which `*` stands for any characters. One
    /// connection.
    ///
    /// - Throws: Errors for a server that cannot be reached, and without the trait `PostgreSQL`.
    package static func stores(matching url: URL) throws -> [URL] {
        #if PostgreSQL
            try PostgreSQLStore.stores(matching: url)
        #else
            throw CocoaError(.persistentStoreInvalidType, StoreClasses.missingTrait)
        #endif
    }

    private static func model(
        in database: Database, _ tables: Set<String>, url: URL
    ) throws -> NSManagedObjectModel? {
        do {
            return try CachedModel.read(in: database, tables: tables).map { try NSManagedObjectModel(value: $0) }
        } catch let error as DatabaseError {
            throw error
        } catch {
            throw CocoaError(
                .fileReadCorruptFile, "The model that is cached in the store is damaged: \(error)", url: url)
        }
    }

    private static func size(_ path: String) -> Int64 { FileStatus(path)?.byteCount ?? 0 }
}
