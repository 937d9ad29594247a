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
    /// One sentence about what the journal holds.
    public let journalState: String
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
        journalState = file.journalState
        byteCount = Self.size(url.path)
        logByteCount = Self.size(url.path + "-wal")
        let read = try SQLiteStore.withDatabase(at: url) { database in
            (
                metadata: try StoreMetadata(in: database, url: url).published,
                model: try Self.model(in: database, url: url),
                hasHistory: try StoreReader(database).hasTable("ATRANSACTION")
            )
        }
        metadata = read.metadata
        cachedModel = read.model
        hasHistory = read.hasHistory
        journalMode = Self.isLogged(url) ? "wal" : "delete"
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

    /// Byte 18 of a database's header is 2 where it is written through a log. The pragma would tell how this connection
    /// works, not how the file is kept.
    private static func isLogged(_ url: URL) -> Bool {
        guard let handle = try? FileHandle(forReadingFrom: url) else { return false }
        defer { try? handle.close() }
        let header = (try? handle.read(upToCount: 20)) ?? nil
        return header.map { $0.count > 18 && $0[$0.startIndex + 18] == 2 } ?? false
    }
}
