import Foundation

/// A store that answers one request after the other: the superclass of a program's own classes for services and formats that
/// are not read as a whole.
///
/// Register the class for a type with ``NSPersistentStoreCoordinator/registerStoreClass(_:type:)``. A class overrides
/// ``loadMetadata()``, ``execute(_:with:)``, ``newValuesForObject(with:with:)``,
/// ``newValue(forRelationship:forObjectWith:with:)`` and, where objects can be inserted, ``obtainPermanentIDs(for:)``. All are
/// called on the queue of the context that asks; two contexts may ask at once.
///
/// What a request means is the store's to carry out: predicates, sort descriptors, limits. A row is asked for when a fault
/// fires, a to-many relationship when it is first read; a context asks once for each as long as it keeps the object. A class
/// that conforms to ``IncrementalStoreBatching`` is asked for many at once.
open class NSIncrementalStore: NSPersistentStore,
    @unchecked Sendable  // because its own state lies behind locks
{
    private let ownReferences = ObjectReferences()

    /// A store of a coordinator at a location. Called by a coordinator.
    public required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
    }

    // MARK: - What a class overrides

    /// Sets ``NSPersistentStore/metadata`` to a dictionary that has ``NSStoreTypeKey`` and ``NSStoreUUIDKey`` at least. The
    /// UUID must be the same each time that the same store is added: the URIs of its objects hold it. An empty file at the
    /// store's URL is a new store.
    ///
    /// - Throws: Here code 134080: a class must override the method, and must not call it.
    open override func loadMetadata() throws {
        throw CocoaError(
            .persistentStoreOpen, "The class \(Swift.type(of: self)) does not override loadMetadata().", url: url)
    }

    /// Carries out a request of a context.
    ///
    /// - Parameters:
    ///   - request: An `NSFetchRequest`, an ``NSSaveChangesRequest``, or any other request that a program gives a context. A
    ///     save request whose sets are nil is for the metadata alone.
    ///   - context: The context that asks.
    /// - Returns: For a fetch, by its result type: an array of objects of the context, mostly from
    ///   ``NSManagedObjectContext/object(with:)``; of IDs; of dictionaries; of one number, the count. For a save an empty array.
    ///   For other requests an `NSPersistentStoreResult`.
    /// - Throws: Code 134091 for a request that the store does not carry out; here always.
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        throw CocoaError(
            .persistentStoreUnsupportedRequestType,
            "The class \(Swift.type(of: self)) does not carry out a \(Swift.type(of: request)).", url: url)
    }

    /// The values of an object: its row.
    ///
    /// - Throws: Code 133000 where the store has no such object; here always.
    open func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        throw CocoaError.missingRow(objectID)
    }

    /// Where a relationship of an object leads to.
    ///
    /// - Returns: Of a to-one relationship an ID or `NSNull`; of a to-many relationship a set or an array of IDs, of an ordered
    ///   one an array or an ordered set.
    /// - Throws: Here code 134060.
    open func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        throw CocoaError(
            .coreData, "The class \(Swift.type(of: self)) gives no value for “\(relationship.name)”.", url: url)
    }

    /// IDs for new objects, in their order, made with ``newObjectID(for:referenceObject:)``. Called before the save request
    /// that inserts the objects.
    ///
    /// - Throws: Here code 134030.
    open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        throw CocoaError(
            .persistentStoreSave, "The class \(Swift.type(of: self)) gives no IDs to new objects.", url: url)
    }

    /// An identifier for a store that has none yet. Here: a new UUID as a string.
    open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

    /// Called when a context begins to use the rows of objects: those that it has read, and those that it has inserted.
    open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// Called when a context no longer uses the rows of objects: it has let go of them, was reset, or does not exist any more.
    open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

    // MARK: - What a class calls

    /// The ID of the object that a reference object names, mostly a string or a number. Equal reference objects give equal
    /// IDs. The ID's URI holds the reference object's description, escaped as the path of a URL; an ID that a coordinator makes
    /// of a URI has what stands there, still escaped, as its reference object.
    open func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
        referencedObjectID(for: entity, referenceObject: data)
    }

    /// The reference object of an ID that was made here.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any {
        key(of: objectID).flatMap { ownReferences.reference(of: $0.number, entity: objectID.entity) } ?? NSNull()
    }

    // MARK: - For the engine

    final override var references: ObjectReferences? { ownReferences }
}

/// An incremental store that answers for many objects at once: an addition to Core Data's API.
///
/// A loop over fetched objects and their relationships then costs one call for a batch of objects, where it otherwise costs
/// one for each object and relationship. Batches begin small and grow as a loop goes on.
public protocol IncrementalStoreBatching: NSIncrementalStore {
    /// The values of objects of one entity hierarchy, in any order. Objects that the store does not have are left out.
    func newValuesForObjects(
        with objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
    ) throws -> [NSIncrementalStoreNode]

    /// Where a to-many relationship of many objects leads to: by object, as
    /// ``NSIncrementalStore/newValue(forRelationship:forObjectWith:with:)`` gives it.
    func newValues(
        forRelationship relationship: NSRelationshipDescription, forObjectsWith objectIDs: [NSManagedObjectID],
        with context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID: Any]
}
