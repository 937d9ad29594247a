import CoreDataErrors
import Foundation
import ManagedObjects

// `NSAtomicStore` receives objects instead of plans (`ObjectStore`). It keeps cache nodes; `AtomicRowGraph` evaluates predicates on
// them, as for stores in memory. `ObjectReferences` assigns numbers to reference objects. Object keys contain the numbers; IDs and
// URIs contain the texts of the reference objects.
//
// `FileStore` uses `NSAtomicStore`'s public methods; a `StoreFileFormat` (`XMLStoreFormat`, `ArchiveStoreFormat`) reads
// and writes a `StoreDocument` and is independent of objects. Nodes keep the order of their file, so that unchanged
// parts are written with the same bytes.

/// A store whose whole file is read and written: the superclass of a program's own classes for file formats.
///
/// Register the class for a type with ``NSPersistentStoreCoordinator/registerStoreClass(_:type:)``. A coordinator
/// calls, in this order: the initialiser; `loadMetadata()`, which sets ``NSPersistentStore/metadata``; ``load()``,
/// which adds a cache node for each object with ``addCacheNodes(_:)``. For a save it calls:
/// ``newReferenceObject(for:)`` for each new object, ``newCacheNode(for:)`` for each new object, ``addCacheNodes(_:)``
/// once, ``updateCacheNode(_:from:)`` for each changed object, ``willRemoveCacheNodes(_:)`` once for the deleted ones,
/// ``save()``. If ``save()`` throws, the cache is restored.
///
/// Predicates, sort descriptors, groups and relationships are evaluated over the cache nodes: a fetch costs one step
/// for each object of its entity. Uniqueness constraints are not enforced.
open class NSAtomicStore: NSPersistentStore, ObjectStore,
    @unchecked Sendable  // because a lock guards its cache
{
    /// Held during each call of a context, and while the subclass's methods run. It is recursive because they may call
    /// the store.
    final let lock = NSRecursiveLock()
    final var cache = AtomicStoreCache()
    /// New objects whose nodes get their relationships after all nodes of the save have been created; nil outside of a
    /// save.
    final var unlinked: [(NSAtomicStoreCacheNode, NSManagedObject)]?
    final let entities: [NSEntityDescription]
    private let ownReferences = ObjectReferences()

    /// Creates a store of a coordinator at a location. Called by a coordinator.
    public required init(
        persistentStoreCoordinator coordinator: NSPersistentStoreCoordinator?, configurationName: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        entities = coordinator?.entities ?? []
        super.init(
            persistentStoreCoordinator: coordinator, configurationName: configurationName, at: url, options: options)
        references = ownReferences
    }

    // MARK: - Methods to override

    /// Reads the store: creates IDs with ``objectID(for:withReferenceObject:)`` and nodes for them, and passes the
    /// nodes to ``addCacheNodes(_:)``. Called once, after the metadata have been read.
    ///
    /// - Throws: Code 134080 in this class: a subclass must override the method, and must not call super.
    open func load() throws {
        throw CocoaError(.persistentStoreOpen, "The class \(Swift.type(of: self)) does not override load().", url: url)
    }

    /// Writes the metadata and all cache nodes to the store's URL.
    ///
    /// - Throws: Code 134030 in this class: a subclass must override the method, and must not call super.
    open func save() throws {
        throw CocoaError(.persistentStoreSave, "The class \(Swift.type(of: self)) does not override save().", url: url)
    }

    /// A node for a new object. By default with the object's values, set by ``updateCacheNode(_:from:)``.
    open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        let node = NSAtomicStoreCacheNode(objectID: managedObject.objectID)
        updateCacheNode(node, from: managedObject)
        return node
    }

    /// Sets the values of a node from its object. By default all persistent properties, in the form that
    /// ``NSAtomicStoreCacheNode`` describes; relationships between new objects are set after all of these have nodes.
    open func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
        setAttributes(of: node, from: managedObject)
        if unlinked != nil {
            unlinked?.append((node, managedObject))
        } else {
            setRelationships(of: node, from: managedObject)
        }
    }

    /// The unique and permanent reference object of a new object in this store, usually a string, a number or a UUID.
    /// By default a new UUID as a string.
    open func newReferenceObject(for managedObject: NSManagedObject) -> Any { UUID().uuidString }

    /// Called before the nodes of deleted objects are removed.
    open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

    // MARK: - Methods to call

    /// All nodes.
    open func cacheNodes() -> Set<NSAtomicStoreCacheNode> { locked { Set(cache.nodes) } }

    /// Adds nodes; a node replaces an existing one with the same ID.
    open func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
        locked { for node in cacheNodes { cache.add(node) } }
    }

    /// The node of an object; nil if the store has none.
    open func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? {
        locked { cache.entry(of: objectID.key.number, root: objectID.entity.rootEntity.index)?.node }
    }

    /// The ID of the object with a reference object. Equal reference objects have equal IDs.
    open func objectID(for entity: NSEntityDescription, withReferenceObject data: Any) -> NSManagedObjectID {
        referencedObjectID(for: entity, referenceObject: data)
    }

    /// The reference object of an ID that was created by this store.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any {
        ownReferences.reference(of: objectID.key.number, entity: objectID.entity) ?? NSNull()
    }

    // MARK: - Internal

    package final func loadContent() throws { try locked { try load() } }

    package final var hasRowsInMemory: Bool { true }

    /// Sets the location that the next save writes to.
    package func move(to url: URL) -> Bool {
        self.url = url
        return true
    }

    final func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }
}
