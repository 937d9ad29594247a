import Foundation
import GRDB
import ModelFiles

/// What an SQLite store says of itself, found out without its model: an addition to Core Data's API.
///
/// Reading it changes no file, and makes none.
public struct StoreInspection: @unchecked Sendable {  // because property list values are never changed
    /// Where the store is.
    public let url: URL
    /// The store's metadata, its UUID under `NSStoreUUIDKey` among them.
    public let metadata: [String: Any]
    /// The model that the store keeps of itself; nil where it keeps none, as very old ones do.
    public let cachedModel: NSManagedObjectModel?
    /// The same model as a plain value, as tools for models take it.
    package var cachedModelValue: Model? { cachedModel?.modelValue() }
    /// How SQLite protects transactions of this store, in its own word: `wal`, `delete`, …
    public let journalMode: String
    /// What the journal holds, and what to do about it, in a sentence or two.
    public let journalState: String
    /// Whether a process ended in the middle of a transaction. What is read is then the state before it.
    public let hasUnfinishedTransaction: Bool
    /// The size of the database file, in bytes.
    public let byteCount: Int64
    /// The size of the write-ahead log beside it, in bytes; 0 where there is none.
    public let logByteCount: Int64
    /// Whether the store keeps a history of its changes.
    public let hasHistory: Bool

    /// Reads what the store at a location says of itself. A handful of statements.
    ///
    /// - Throws: An error of Core Data's where there is no store, or one that cannot be read or is damaged.
    public init(url: URL) throws {
        self.url = url
        let file = SQLiteFile(url)
        byteCount = Self.size(file.path)
        logByteCount = Self.size(file.path + "-wal")
        var isRecovered = false
        let read = try SQLiteStore.withDatabase(at: url, isRecovered: &isRecovered) { database in
            (
                metadata: try StoreMetadata(in: database, url: url).published,
                model: try Self.model(in: database, url: url),
                hasHistory: try StoreReader(database).hasTable("ATRANSACTION"),
                isLogged: database.isWriteAheadLogged
            )
        }
        hasUnfinishedTransaction = isRecovered
        journalState =
            isRecovered
            ? "A process ended in the middle of a transaction: what is read is the state before it. Opening the store once for "
                + "writing, with its app or the program sqlite3, takes the transaction back and removes the journal."
            : file.journalState
        metadata = read.metadata
        cachedModel = read.model
        hasHistory = read.hasHistory
        journalMode = read.isLogged ? "wal" : "delete"
    }

    private static func model(in database: Database, url: URL) throws -> NSManagedObjectModel? {
        do {
            return try CachedModel.read(in: database).map { try NSManagedObjectModel(value: $0) }
        } catch let error as DatabaseError {
            throw error
        } catch {
            throw CocoaError(
                .fileReadCorruptFile, "The model that the store keeps of itself is damaged: \(error)", url: url)
        }
    }

    private static func size(_ path: String) -> Int64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
    }
}
