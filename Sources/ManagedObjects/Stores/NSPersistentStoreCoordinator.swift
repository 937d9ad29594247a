import AtomicFiles
import CoreDataErrors
import Foundation
import StoreSupport
import Synchronization

/// Connects a model and its stores, and executes the requests of contexts in the stores that have the rows.
///
/// A coordinator may be used from any thread; each store synchronises its own access.
open class NSPersistentStoreCoordinator: NSObject, NSLocking,
    @unchecked Sendable  // because a lock guards its state
{
    /// A store, and the interface by which the engine reads its rows.
    struct Entry: @unchecked Sendable {  // because stores synchronise their access
        let number: UInt16
        let store: NSPersistentStore
        let rows: any RowStore
    }

    struct State {
        /// In the order in which they were added.
        var entries: [Entry] = []
        /// Numbers are never reused, so that a key never refers to another store's row.
        var lastNumber: UInt16 = 0
        var name: String?
        /// The origins of temporary IDs.
        var origins = ObjectIDOrigins()
    }

    final let state = Mutex(State())
    final let model: NSManagedObjectModel
    /// All entities of the model; `ObjectKey.entity` is an index of this array.
    package final let entities: [NSEntityDescription]

    let queue = DispatchQueue(label: "NSPersistentStoreCoordinator")
    private let queueKey = DispatchSpecificKey<Bool>()
    private let userLock = NSRecursiveLock()

    /// Creates a coordinator without stores. The model can no longer be changed.
    ///
    /// Cost: for the first coordinator of a model, one layout and one SHA-256 for each entity.
    public required init(managedObjectModel model: NSManagedObjectModel) {
        self.model = model
        entities = Self.preparing.withLock { _ in
            model.freeze()
            // Created now, so that no two threads create them.
            for entity in model.orderedEntities {
                _ = (entity.layout.links, entity.layout.rules, entity.layout.pairs)
            }
            EntityClassRegistry.add(model)
            return model.orderedEntities
        }
        super.init()
        _ = NSPersistentHistoryToken.isRegistered
        queue.setSpecific(key: queueKey, value: true)
    }

    /// Creates a coordinator with an empty model, for methods that need no model, such as
    /// ``destroyPersistentStore(at:ofType:options:)``.
    public convenience override init() {
        self.init(managedObjectModel: NSManagedObjectModel())
    }

    /// Held while a model is prepared, so that the lazily created values exist before other threads read them.
    private static let preparing = Mutex<Void>(())

    /// The model of the stores' objects.
    open var managedObjectModel: NSManagedObjectModel { model }

    /// A name for messages.
    open var name: String? {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    /// The origin of an entity's temporary IDs.
    final func temporaryOrigin(of entity: NSEntityDescription) -> ObjectIDOrigin {
        state.withLock { $0.origins.origin(entity, storeIdentifier: nil, coordinator: self) }
    }

    /// Identifies this coordinator during its lifetime.
    final var identity: ObjectIdentifier { ObjectIdentifier(self) }

    // MARK: - Stores

    /// The stores, in the order in which they were added.
    open var persistentStores: [NSPersistentStore] { entries.map(\.store) }

    final var entries: [Entry] { state.withLock { $0.entries } }

    /// The stores as row stores.
    package final var rowStores: [any RowStore] { entries.map(\.rows) }

    final func entry(number: UInt16) -> Entry? {
        state.withLock { state in state.entries.first { $0.number == number } }
    }

    /// The store with a number; nil if there is none or it has been removed.
    final func store(number: UInt16) -> (any RowStore)? { entry(number: number)?.rows }

    /// The store with a number; nil if there is none or it has been removed.
    package final func persistentStore(number: UInt16) -> NSPersistentStore? { entry(number: number)?.store }

    /// The store at a location.
    open func persistentStore(for URL: URL) -> NSPersistentStore? {
        entries.first { Self.isSame($0.store.url, URL) }?.store
    }

    /// The location of a store.
    open func url(for store: NSPersistentStore) -> URL { store.url ?? URL(fileURLWithPath: "/dev/null") }

    /// Changes the location of a store; false if the store does not support it, as an open SQLite store.
    open func setURL(_ url: URL, for store: NSPersistentStore) -> Bool { store.rowStore?.move(to: url) ?? false }

    /// Whether two locations are the same file, with symbolic links resolved.
    static func isSame(_ one: URL?, _ other: URL) -> Bool {
        guard let one else { return false }
        if one.isFileURL, other.isFileURL {
            let (one, other) = (one.withoutLinks, other.withoutLinks)
            if one.standardizedFileURL.path == other.standardizedFileURL.path { return true }
            // A file may have several names without symbolic links.
            guard let stamp = FileStamp(one.path), let otherStamp = FileStamp(other.path) else { return false }
            return stamp.isSameFile(as: otherStamp)
        }
        return one.absoluteString == other.absoluteString
    }

    // MARK: - Adding, removing, copying

    // Subclasses can override these methods, as Core Data's: they are in the body of the class, because Swift cannot override
    // methods of extensions. The implementations are in extensions.

    /// Adds a store, and creates it if it does not exist.
    ///
    /// - Parameters:
    ///   - storeType: The type, such as `NSSQLiteStoreType`.
    ///   - configuration: The configuration whose entities the store contains; nil is all entities.
    ///   - storeURL: The location of the store; may be nil for a store in memory.
    ///   - options: See `NSReadOnlyPersistentStoreOption` and the other option keys.
    /// - Throws: Code 134000 for a type without a class, 134010 if the store's metadata have another type, 134100 if
    ///   the store was written with another version of the model and is not to be migrated, 134130 and 134140 if the
    ///   model of the store or a mapping model is missing, the error of the migration, and the store's error if it cannot
    ///   be opened.
    @discardableResult
    open func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addStore(ofType: storeType, configurationName: configuration, at: storeURL, options: options)
    }

    /// Adds a store according to a description, by ``addPersistentStore(ofType:configurationName:at:options:)``. The block is
    /// called with the error or nil: before this method returns, or, if the store is added asynchronously, later on another
    /// thread.
    open func addPersistentStore(
        with storeDescription: NSPersistentStoreDescription,
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        addStore(with: storeDescription, completionHandler: block)
    }

    /// Removes a store and closes its files. Faults of its objects can no longer be fulfilled.
    ///
    /// - Throws: Code 134070 if the coordinator does not have the store.
    open func remove(_ store: NSPersistentStore) throws { try removeStore(store) }

    /// Copies a store to another location, or to another type, and uses the copy in its place.
    ///
    /// The copy replaces the old store in the coordinator: contexts and their objects remain valid. Primary keys and
    /// the store's UUID are kept, and therefore all object IDs and URIs. The old store's files are not deleted. An
    /// SQLite store is copied to an SQLite store by copying pages; between types, rows are copied and their versions
    /// start again. A store that identifies its objects by reference objects, such as one in an XML file, assigns new
    /// ones: existing IDs remain valid, but their URIs change.
    ///
    /// - Returns: The new store; the old one can no longer be used.
    /// - Throws: The errors of adding the new store, and code 134070 if the coordinator does not have the old one. The
    ///   old store then stays in the coordinator.
    @discardableResult
    open func migratePersistentStore(
        _ store: NSPersistentStore, to URL: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
    ) throws -> NSPersistentStore {
        try migrateStore(store, to: URL, options: options, withType: storeType)
    }

    /// Replaces a store by a copy of another one, or creates the copy if there is no store. UUID and primary keys are
    /// those of the copied store. The copy is made beside the destination and moved there when it is complete; the
    /// replaced store is locked during the move. Cost for SQLite: every page of the file is copied. Of a store in PostgreSQL the
    /// destination is another schema of the same database, and the server copies the rows.
    ///
    /// An SQLite store that this coordinator has open is closed, replaced, and opened again; the new store object has its place. Reset
    /// the contexts: their objects have the values of the old store. A store that was written with a version of the model
    /// that is not the coordinator's is not opened again: the coordinator then lacks it.
    ///
    /// - Throws: Code 134000 for a type without a class, 134070 for a type whose stores cannot be replaced and if the
    ///   store to be replaced is in use elsewhere, and errors of reading and writing the files; the replaced store is
    ///   then unchanged.
    open func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
    ) throws {
        try replaceStore(at: destinationURL, withStoreFrom: sourceURL, ofType: storeType)
    }

    /// Destroys a store: deletes its rows and tables and the files of its large values. Of an SQLite store an empty
    /// file stays, as with Apple's framework; the files of other stores are removed. Does nothing if there is no store.
    /// A store of this coordinator is removed from it first, and stays removed if it cannot be destroyed, so that one can be added at the
    /// location again; remove it from other coordinators before. A store in memory stays.
    ///
    /// - Throws: Code 134000 for a type without a class; code 134070 when the file is not an SQLite database or is in use,
    ///   unless `NSPersistentStoreForceDestroyOption` is set.
    open func destroyPersistentStore(
        at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyStore(at: url, ofType: storeType, options: options)
    }

    // MARK: - Metadata

    /// The metadata of a store of this coordinator.
    open func metadata(for store: NSPersistentStore) -> [String: Any] { store.metadata }

    /// Sets the metadata of a store of this coordinator; they are written by the next save.
    open func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) { store.metadata = metadata }

    /// The metadata of a store at a location, without adding it.
    ///
    /// - Throws: Code 134000 for a type without a class, and the store's error if it cannot be read.
    open class func metadataForPersistentStore(
        ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> [String: Any] {
        try StoreClasses.shared.storeClass(ofType: storeType, url: url).metadataForPersistentStore(with: url)
    }

    /// Writes the metadata of a store at a location, without adding it.
    ///
    /// - Throws: Code 134000 for a type without a class, and the store's error if it cannot be written.
    open class func setMetadata(
        _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) throws {
        try StoreClasses.shared.storeClass(ofType: storeType, url: url)
            .setMetadata(metadata, forPersistentStoreAt: url)
    }

    /// The types of stores that can be added; each value contains a pointer to a class.
    open class var registeredStoreTypes: [String: NSValue] { classesByType }

    /// Registers a class for a type of stores; nil removes the registration. A class that does not inherit from
    /// `NSPersistentStore` is ignored.
    open class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
        register(storeClass, forStoreType: storeType)
    }

    // MARK: - History and deferred migration

    /// The token of the last transaction of each store; nil if no store has a history.
    ///
    /// Cost: four statements for each store. A store that cannot be read is omitted.
    ///
    /// - Parameter stores: Stores of the coordinator; nil or an empty array is all of them.
    open func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
        historyToken(fromStores: stores)
    }

    /// Removes what deferred migrations of the coordinator's SQLite stores have left. Does nothing if nothing is left.
    ///
    /// Cost: a transaction for each removed table and column; one for a column rewrites its table.
    ///
    /// - Throws: The store's error if it cannot be written. What has been removed until then stays removed.
    open func finishDeferredLightweightMigration() throws { try finishDeferredTasks() }

    /// Removes one table or column that deferred migrations of the coordinator's SQLite stores have left. Does nothing if
    /// nothing is left. Call it repeatedly in the time that a program has in the background: the work is complete when
    /// ``NSPersistentStoreDeferredLightweightMigrationOptionKey`` is no longer in the metadata of the stores.
    ///
    /// - Throws: The store's error if it cannot be written. Nothing has then been removed.
    open func finishDeferredLightweightMigrationTask() throws { try finishNextDeferredTask() }

    // MARK: - Object IDs

    /// The ID of a URI; nil if no store of the coordinator has its UUID, the model does not have its entity, or it is
    /// not an object's URI. The object's existence is not checked. Cost: no statement.
    open func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        key(forURIRepresentation: url).map(objectID)
    }

    // MARK: - The queue

    /// Runs a block on the coordinator's queue, after the blocks that were submitted before. Returns immediately.
    open func perform(_ block: @escaping () -> Void) {
        nonisolated(unsafe) let block = block  // because the block is run once, on the queue
        queue.async { block() }
    }

    /// Runs a block on the coordinator's queue and waits for it; runs it directly if the caller is on the queue.
    open func performAndWait(_ block: () -> Void) {
        isOnQueue ? block() : queue.sync(execute: block)
    }

    var isOnQueue: Bool { DispatchQueue.getSpecific(key: queueKey) == true }

    /// Acquires a recursive lock that the coordinator itself does not use.
    @available(*, deprecated, message: "Use performAndWait(_:) instead.")
    open func lock() { userLock.lock() }

    /// Releases the lock of ``lock()``.
    @available(*, deprecated, message: "Use performAndWait(_:) instead.")
    open func unlock() { userLock.unlock() }

    /// Acquires the lock of ``lock()`` if it is free.
    @available(*, deprecated, message: "Use performAndWait(_:) instead.")
    open func tryLock() -> Bool { userLock.try() }

    // MARK: - Requests

    /// Executes a request for a context: returns an array for a fetch, an `NSPersistentStoreResult` for batch requests.
    ///
    /// - Throws: Code 134091 for a save: save the context instead.
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        if request.requestType == .saveRequestType {
            throw CocoaError(
                .persistentStoreUnsupportedRequestType, "A save request cannot be executed here; save the context.")
        }
        if let fetch = request as? any FetchRequesting { return try context.results(of: fetch) }
        return try context.execute(request)
    }
}
