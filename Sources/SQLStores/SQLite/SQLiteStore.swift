import CoreDataErrors
import Foundation
import GRDB
import ManagedObjects
import ModelFiles
import SQLiteConnections
import StoreSupport
import Synchronization

// The SQLite store.
//
// `SQLStores/SQLite`: `SQLiteDialect` and `Connection` contain what only SQLite has (pragmas, its tables of the schema,
// its C functions); triggers and R-trees are in `Schema`. `Schema` creates tables like Core Data's, from the model and
// from the tables of a file; `Reading` and `Writing` step statements, and insert rows in blocks; `Batches` writes and
// copies rows without objects; `History` writes histories and old values; `Metadata` keeps the UUID, hashes and the
// cached model; `Migration` executes migrations in place (`SQLiteInPlaceMigration`); `Files` manages the files of a
// store and their lock. `ReaderPool` decides which
// connection reads: the one that writes, so that each page is cached once and stays cached after a save, until two
// accesses meet; from then on reads have connections of their own, and no write waits for them. The first write that
// meets a read interrupts it, and the read is repeated on such a connection. Work that may take long or execute other
// code (`SQLiteStore.ReadScope`), and fetches that can be cancelled, have a connection of their own from the beginning.
// The connection that writes uses a VFS that writes the pages of a commit to the log in blocks (`LogBufferFileSystem`);
// its log is byte for byte the one that SQLite writes. How a read-only store (`ReadOnlyDatabase`) is opened depends on
// its files. If other processes have it open, their shared memory is used; if none has, it is read through a VFS that
// checks after each page that the file has not changed (`StandaloneFileSystem`). A store with a rollback journal is read
// under its lock, and one with an unfinished transaction from a copy in which the transaction was rolled back. All
// paths are resolved first (`SQLiteFile`, `StoreFiles`), since SQLite creates its own files beside the target of a
// link.

/// A store in an SQLite file with Core Data's table layout.
///
/// The location `/dev/null` is a store in memory. A store that is opened read-only changes no file; see
/// `NSReadOnlyPersistentStoreOption`.
package final class SQLiteStore: NSPersistentStore, SQLRowStore, @unchecked Sendable {
    // because a lock guards its state

    /// The connection, schema and state of an open store.
    package struct Content: SQLContent, @unchecked Sendable {
        // because schema and connection synchronise their access

        let connection: StoreConnection
        package let model: NSManagedObjectModel
        package let schema: SQLSchema
        package let compiler: SQLQueryCompiler
        package let plans: RowPlans
        let file: SQLiteFile
        /// Nil for a store in memory, whose rows contain all values.
        let externalData: ExternalData?
        /// Nil if the store writes no history.
        let history: HistoryTables?
        let bitmaps: ChangeBitmaps
        let commits: CommitObservers<StoreWatcher>
        /// Posts notifications of remote changes; nil unless `NSPersistentStoreRemoteChangeNotificationPostOptionKey`
        /// is set.
        let remoteChanges: CommitObservers<StoreWatcher>.Observation?
    }

    let opened = Mutex<Content?>(nil)

    /// The content of the open store.
    ///
    /// - Throws: Code 134070 if the store has not been opened or has been closed.
    package func content() throws -> Content {
        guard let content = opened.withLock({ $0 }) else { throw CocoaError.storeIsNotOpen(place) }
        return content
    }

    /// The URL for errors about the store.
    var place: URL? { url }

    package var reservesKeysInTransaction: Bool { true }

    // MARK: - Opening

    package override func loadMetadata() throws {
        guard let url, let model = persistentStoreCoordinator?.managedObjectModel else {
            throw CocoaError(.persistentStoreOpen, "A store needs a coordinator and a URL to be opened.", url: url)
        }
        do {
            let (content, metadata) = try open(url: url, model: model)
            opened.withLock { $0 = content }
            didLoadMetadata(metadata.published)
        } catch {
            throw SQLiteError.translated(error, .opening, url: url)
        }
    }

    package override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
        // A connection is closed when its last reader releases it.
        opened.withLock { $0 = nil }
    }

    // MARK: - Reading

    package func pinGeneration() throws -> any StoreGeneration {
        let content = try content()
        do {
            return try content.connection.pin()
        } catch {
            throw SQLiteError.translated(error, .reading, url: url)
        }
    }

    /// Runs work whose reads use one state: that of a generation, otherwise that of a transaction that lasts as long as
    /// the work.
    package func withGeneration<Result>(
        _ generation: (any StoreGeneration)?, _ body: (any StoreGeneration) throws -> Result
    ) throws -> Result {
        if let generation { return try body(generation) }
        return try reading(nil, .lastingState) { try body(HeldTransaction($0)) }
    }

    /// Reads from the present state or from a pinned one. A read that ``FetchInterruption`` may end may take long.
    ///
    /// - Throws: `CocoaError.userCancelled` if ``FetchInterruption`` ends a statement.
    package func reading<Result>(
        _ generation: (any StoreGeneration)?, _ scope: ReadScope, _ body: (Database) throws -> Result
    ) throws -> Result {
        guard let isRequested = FetchInterruption.isRequested else {
            return try readingToTheEnd(generation, scope, body)
        }
        let interruption = Interruption(isRequested)
        do {
            return try readingToTheEnd(generation, scope.lasting) { database in
                try interruption.run(on: database) { try body(database) }
            }
        } catch {
            throw interruption.isRequested ? CocoaError(.userCancelled) : error
        }
    }

    private func readingToTheEnd<Result>(
        _ generation: (any StoreGeneration)?, _ scope: ReadScope, _ body: (Database) throws -> Result
    ) throws -> Result {
        do {
            switch generation {
            case let generation as SQLiteGeneration: return try generation.read(body)
            case let transaction as HeldTransaction: return try body(transaction.database)
            default: break
            }
            return try content().connection.read(scope, body)
        } catch {
            throw SQLiteError.translated(error, .reading, url: url)
        }
    }

    /// Rejects rows of a pinned state that refer to missing files of large values, because another transaction may have
    /// deleted the files after the state was pinned: such a value would be missing although no state of the store lacks
    /// it.
    ///
    /// - Throws: Code 134090.
    func requireFiles(of pages: [RowPage], _ generation: (any StoreGeneration)?) throws {
        guard pages.contains(where: \.missesFiles), let generation = generation as? SQLiteGeneration,
            generation.isOutdated
        else { return }
        throw SQLiteError.translated(DatabaseError(resultCode: .SQLITE_BUSY_SNAPSHOT), .reading, url: url)
    }

    // MARK: - Without a coordinator

    package override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        try StoreConnection.read(storeAt: url) { try StoreMetadata(in: $0, url: url).published }
    }

    package override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        let file = SQLiteFile(url)
        guard file.exists else {
            throw CocoaError(.fileReadNoSuchFile, "There is no store at \(url.path).", url: url)
        }
        try file.requireUsable(isReadOnly: false)
        do {
            let connection = try StoreConnection(url: url, options: .keepingJournalMode)
            try connection.write { database in
                try StoreMetadata(in: database, url: url).replacing(with: metadata ?? [:]).write(to: database)
            }
            try connection.close()
        } catch {
            throw SQLiteError.translated(error, .saving, url: url)
        }
    }

    package static let areFiles = true

    /// The model that is cached in a store; nil if it has none, as in very old stores. No file is changed.
    ///
    /// - Throws: An error of Core Data's if there is no store, `ModelError` if the model is damaged.
    package static func storedModel(at url: URL) throws -> NSManagedObjectModel? {
        try StoreConnection.read(storeAt: url) { database in
            try CachedModel.read(in: database).map { try NSManagedObjectModel(value: $0) }
        }
    }

    package static func isInMemory(_ url: URL) -> Bool { SQLiteFile.isMemory(url) }

    package static func destroyStore(at url: URL, isForced: Bool) throws {
        try StoreFiles(url: url).destroy(forced: isForced)
    }

    package static func replaceStore(at destination: URL, withStoreFrom source: URL) throws {
        try StoreFiles(url: destination).replace(with: StoreFiles(url: source))
    }

    // MARK: - Migrating

    package static func migrate(_ migration: InPlaceMigration) throws {
        try SQLiteInPlaceMigration(migration: migration).run()
    }

    package static func replaceStore(
        at url: URL, metadata: [String: Any], _ create: (_ source: URL, _ destination: URL) throws -> Void
    ) throws {
        let replacement = try StoreReplacement(at: url)
        let copy = try replacement.copyLocked()
        try create(copy, replacement.url)
        try replacement.commit(replacing: .store)
    }

    package static func changeCopy(ofStoreAt url: URL, _ change: (URL) throws -> Void) throws {
        let replacement = try StoreReplacement(at: url)
        try replacement.makeCopy()
        try change(replacement.url)
        try replacement.commit(replacing: .store)
    }

    package func copyHistory(of migration: MigratedHistory) throws {
        guard let source = migration.source as? SQLiteStore else { return }
        try migration.copy(from: source, to: self)
    }

    // MARK: - Changes of others

    /// Nil if the store is in memory or not open.
    package func watchOthers(_ didWrite: @escaping @Sendable () -> Void) -> AnyObject? {
        guard let url, !SQLiteFile.isMemory(url), let content = try? content() else { return nil }
        let queue = DispatchQueue(label: "NSManagedObjectContext.following")
        let dataVersion = { @Sendable [connection = content.connection] in try? connection.dataVersion() }
        return StoreWatcher(url: url, queue: queue, dataVersion: dataVersion, post: didWrite)
    }
}

extension SQLiteGeneration: StoreGeneration {}

/// A transaction that lasts as long as the work that reads from it.
final class HeldTransaction: StoreGeneration {
    let database: Database

    init(_ database: Database) { self.database = database }
}
