import Foundation

/// A store that is read and written as a whole: the superclass of a program's own classes for file formats.
///
/// Register the class for a type with ``NSPersistentStoreCoordinator/registerStoreClass(_:type:)``. A coordinator calls, in
/// this order: the initialiser; `loadMetadata()`, which sets ``NSPersistentStore/metadata``; ``load()``, which gives the
/// store a cache node for each object with ``addCacheNodes(_:)``. For a save: ``newReferenceObject(for:)`` for each new
/// object, ``newCacheNode(for:)`` for each of them, ``addCacheNodes(_:)`` once, ``updateCacheNode(_:from:)`` for each changed
/// object, ``willRemoveCacheNodes(_:)`` once for the deleted ones, ``save()``. Where ``save()`` throws, the cache is as it was
/// before.
///
/// Predicates, sort descriptors, groups and relationships are evaluated over the cache nodes: a fetch takes a step for each
/// object of its entity. Uniqueness constraints are not enforced.
open class NSAtomicStore: NSPersistentStore, ObjectStore,
    @unchecked Sendable  // because its cache lies behind a lock
{
    /// Held during each call of a context, and while the class's own methods run. They may ask the store in turn.
    final let lock = NSRecursiveLock()
    final var cache = AtomicStoreCache()
    /// New objects whose nodes get their relationships when all nodes of the save are there; nil outside of a save.
    final var unlinked: [(NSAtomicStoreCacheNode, NSManagedObject)]?
    final let entities: [NSEntityDescription]
    private let ownReferences = ObjectReferences()

    /// A store of a coordinator at a location. Called by a coordinator.
    public required init(
        persistentStoreCoordinator coordinator: NSPersistentStoreCoordinator?, configurationName: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        entities = coordinator?.entities ?? []
        super.init(
            persistentStoreCoordinator: coordinator, configurationName: configurationName, at: url, options: options)
    }

    // MARK: - What a class overrides

    /// Reads the store: makes IDs with ``objectID(for:withReferenceObject:)``, nodes of them, and hands these to
    /// ``addCacheNodes(_:)``. Called once, when the metadata are known.
    ///
    /// - Throws: Here code 134080: a class must override the method, and must not call it.
    open func load() throws {
        throw CocoaError(.persistentStoreOpen, "The class \(Swift.type(of: self)) does not override load().", url: url)
    }

    /// Writes the metadata and all cache nodes to the store's URL.
    ///
    /// - Throws: Here code 134030: a class must override the method, and must not call it.
    open func save() throws {
        throw CocoaError(.persistentStoreSave, "The class \(Swift.type(of: self)) does not override save().", url: url)
    }

    /// A node for a new object. Here: one with the object's values, by ``updateCacheNode(_:from:)``.
    open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        let node = NSAtomicStoreCacheNode(objectID: managedObject.objectID)
        updateCacheNode(node, from: managedObject)
        return node
    }

    /// Gives a node the values that its object has now. Here: all persistent properties, in the form that
    /// ``NSAtomicStoreCacheNode`` describes; relationships between new objects when all of these have nodes.
    open func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
        setAttributes(of: node, from: managedObject)
        if unlinked != nil {
            unlinked?.append((node, managedObject))
        } else {
            setRelationships(of: node, from: managedObject)
        }
    }

    /// What names a new object in this store, and never another one: a string, a number or a UUID as a rule. Here: a new
    /// UUID as a string.
    open func newReferenceObject(for managedObject: NSManagedObject) -> Any { UUID().uuidString }

    /// Called before the nodes of deleted objects are removed.
    open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

    // MARK: - What a class calls

    /// All nodes.
    open func cacheNodes() -> Set<NSAtomicStoreCacheNode> { locked { Set(cache.nodes) } }

    /// Adds nodes, or puts them in the place of those with the same IDs.
    open func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
        locked { for node in cacheNodes { cache.add(node) } }
    }

    /// The node of an object; nil where the store has none.
    open func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? {
        locked { cache.entry(of: objectID.key.number, root: objectID.entity.rootEntity.index)?.node }
    }

    /// The ID of the object that a reference object names. Equal reference objects give equal IDs.
    open func objectID(for entity: NSEntityDescription, withReferenceObject data: Any) -> NSManagedObjectID {
        referencedObjectID(for: entity, referenceObject: data)
    }

    /// The reference object of an ID that was made here.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any {
        ownReferences.reference(of: objectID.key.number, entity: objectID.entity) ?? NSNull()
    }

    // MARK: - For the engine

    final override var references: ObjectReferences? { ownReferences }

    final override func loadContent() throws { try locked { try load() } }

    /// The next save writes to another place.
    override func move(to url: URL) -> Bool {
        self.url = url
        return true
    }

    final func locked<Result>(_ body: () throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body()
    }
}
