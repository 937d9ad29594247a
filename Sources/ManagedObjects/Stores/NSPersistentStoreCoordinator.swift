import AtomicFiles
import Foundation
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
    }

    final let state = Mutex(State())
    private let model: NSManagedObjectModel
    /// All entities of the model; `ObjectKey.entity` is an index of this array.
    final let entities: [NSEntityDescription]

    private let queue = DispatchQueue(label: "NSPersistentStoreCoordinator")
    private let queueKey = DispatchSpecificKey<Bool>()
    private let userLock = NSRecursiveLock()

    /// Creates a coordinator without stores. The model can no longer be changed.
    ///
    /// Cost: for the first coordinator of a model, one layout and one SHA-256 for each entity.
    public init(managedObjectModel model: NSManagedObjectModel) {
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
        // Created now, so that no two threads create it.
        _ = reference
        _ = NSPersistentHistoryToken.isRegistered
        queue.setSpecific(key: queueKey, value: true)
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

    /// The reference to the coordinator that object IDs contain.
    private(set) final lazy var reference = CoordinatorReference(self)

    /// Identifies this coordinator during its lifetime.
    final var identity: ObjectIdentifier { ObjectIdentifier(self) }

    // MARK: - Stores

    /// The stores, in the order in which they were added.
    open var persistentStores: [NSPersistentStore] { entries.map(\.store) }

    final var entries: [Entry] { state.withLock { $0.entries } }

    /// The stores as row stores.
    final var rowStores: [any RowStore] { entries.map(\.rows) }

    private final func entry(number: UInt16) -> Entry? {
        state.withLock { state in state.entries.first { $0.number == number } }
    }

    /// The store with a number; nil if there is none or it has been removed.
    final func store(number: UInt16) -> (any RowStore)? { entry(number: number)?.rows }

    /// The store with a number; nil if there is none or it has been removed.
    final func persistentStore(number: UInt16) -> NSPersistentStore? { entry(number: number)?.store }

    /// The store at a location.
    open func persistentStore(for URL: URL) -> NSPersistentStore? {
        entries.first { Self.isSame($0.store.url, URL) }?.store
    }

    /// The location of a store.
    open func url(for store: NSPersistentStore) -> URL { store.url ?? URL(fileURLWithPath: "/dev/null") }

    /// Changes the location of a store; false if the store does not support it, as an open SQLite store.
    open func setURL(_ url: URL, for store: NSPersistentStore) -> Bool { store.move(to: url) }

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

    // MARK: - Store assignment

    /// The store in which a new object of the entity is saved: the store that it was assigned to, otherwise the first
    /// writable one that contains the entity.
    ///
    /// - Throws: Code 134020 if no store contains the entity.
    final func rowStore(for entity: NSEntityDescription, assigned: NSPersistentStore?) throws -> any RowStore {
        let entries = entries
        if let assigned {
            guard let entry = entries.first(where: { $0.store === assigned }) else {
                throw CocoaError(
                    .persistentStoreIncompatibleSchema,
                    "An object of “\(entity.name ?? "")” is assigned to a store that the coordinator does not have.",
                    url: assigned.url)
            }
            guard holds(entry.store, entity) else {
                throw CocoaError(
                    .persistentStoreIncompatibleSchema,
                    "The store's configuration “\(assigned.configurationName)” lacks “\(entity.name ??  "")”.",
                    url: assigned.url)
            }
            return entry.rows
        }
        let holding = entries.filter { holds($0.store, entity) }
        if let entry = holding.first(where: { !$0.store.isReadOnly }) ?? holding.first { return entry.rows }
        throw CocoaError(
            .persistentStoreIncompatibleSchema,
            entries.isEmpty
                ? "The coordinator has no persistent stores: an object of “\(entity.name ?? "")” cannot be saved."
                : "No store of the coordinator contains the entity “\(entity.name ?? "")”.")
    }

    /// Whether a store's configuration contains the entity or one of its superentities.
    final func holds(_ store: NSPersistentStore, _ entity: NSEntityDescription) -> Bool {
        guard let configuration = store.configurationIfAny else { return true }
        let names = Set((model.entities(forConfigurationName: configuration) ?? []).compactMap(\.name))
        return entity.lineage.contains { names.contains($0.name ?? "") }
    }

    // MARK: - Object IDs

    /// The ID of a URI; nil if no store of the coordinator has its UUID, the model does not have its entity, or it is
    /// not an object's URI. The object's existence is not checked. Cost: no statement.
    open func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        key(forURIRepresentation: url).map(objectID)
    }

    /// The key of a URI. A temporary object's URI has a key only in the process that created it.
    final func key(forURIRepresentation url: URL) -> ObjectKey? {
        guard let uri = ObjectURI(url), let entity = model.entitiesByName[uri.entityName] else { return nil }
        let index = UInt16(truncatingIfNeeded: entity.index)
        switch uri.place {
        case .row(let identifier, let number):
            guard let entry = entry(identifier: identifier) else { return nil }
            let own = entry.store.references.map { $0.number(of: String(number), entity: entity) }
            return ObjectKey(store: entry.number, entity: index, number: own ?? number)
        case .reference(let identifier, let text):
            // Used as it is in the URI: Core Data does not decode the percent escapes either.
            guard let entry = entry(identifier: identifier), let references = entry.store.references else { return nil }
            return ObjectKey(store: entry.number, entity: index, number: references.number(of: text, entity: entity))
        case .temporary(let process, let number):
            guard process == NSManagedObjectID.processIdentifier else { return nil }
            return ObjectKey(store: 0, entity: index, number: -number)
        }
    }

    /// The key in this coordinator of an ID of this or another coordinator; nil if no store here has the ID's UUID.
    final func key(for objectID: NSManagedObjectID) -> ObjectKey? {
        guard let referenced = objectID as? ReferencedObjectID else {
            return key(forURIRepresentation: objectID.uriRepresentation())
        }
        guard let entity = model.entitiesByName[referenced.entity.name ?? ""],
            let entry = entry(identifier: referenced.storeIdentifier ?? ""), let references = entry.store.references
        else { return nil }
        return ObjectKey(
            store: entry.number, entity: UInt16(truncatingIfNeeded: entity.index),
            number: references.number(of: referenced.text, entity: entity))
    }

    private final func entry(identifier: String) -> Entry? {
        entries.first { $0.store.identifier?.caseInsensitiveCompare(identifier) == .orderedSame }
    }

    /// The ID of a key of this coordinator.
    final func objectID(for key: ObjectKey) -> NSManagedObjectID {
        var maker = ObjectIDMaker(self)
        return maker.objectID(for: key, entity: entities[Int(key.entity)])
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

    /// Runs a block on the coordinator's queue, waits for it, and returns its result.
    public func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
        try isOnQueue ? block() : queue.sync(execute: block)
    }

    /// Runs a block on the coordinator's queue and returns its result.
    public func perform<T, E: Error>(_ block: @escaping () throws(E) -> T) async throws(E) -> T {
        nonisolated(unsafe) let block = block  // because the block is run once, on the queue
        nonisolated(unsafe) var result: Result<T, E>?  // because it is read after the queue has set it
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            queue.async {
                do throws(E) {
                    result = .success(try block())
                } catch {
                    result = .failure(error)
                }
                continuation.resume()
            }
        }
        guard let result else { preconditionFailure("The coordinator's queue did not run the block.") }
        return try result.get()
    }

    private var isOnQueue: Bool { DispatchQueue.getSpecific(key: queueKey) == true }

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
