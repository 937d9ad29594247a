import CoreDataErrors
import Foundation
import Synchronization

// Each context accesses an incremental store through an `IncrementalStoreRows` of its own, which converts nodes to pages.

/// A store that executes one request after the other: the superclass of a program's own classes for services and
/// formats that are not read completely.
///
/// Register the class for a type with ``NSPersistentStoreCoordinator/registerStoreClass(_:type:)``. A class overrides
/// ``loadMetadata()``, ``execute(_:with:)``, ``newValuesForObject(with:with:)``,
/// ``newValue(forRelationship:forObjectWith:with:)`` and, if objects can be inserted, ``obtainPermanentIDs(for:)``. All
/// are called on the queue of the requesting context; two contexts may call them concurrently.
///
/// The store evaluates requests itself: predicates, sort descriptors, limits. A row is requested when a fault fires, a
/// to-many relationship when it is first read; a context requests each once as long as it retains the object. A class
/// that conforms to ``IncrementalStoreBatching`` receives requests for many objects at once.
open class NSIncrementalStore: NSPersistentStore,
    @unchecked Sendable  // because locks guard its state
{
    private let ownReferences = ObjectReferences()

    /// Creates a store of a coordinator at a location. Called by a coordinator.
    public required init(
        persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
        options: [AnyHashable: Any]? = nil
    ) {
        super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
        references = ownReferences
    }

    // MARK: - Methods to override

    /// Sets ``NSPersistentStore/metadata`` to a dictionary that has at least ``NSStoreTypeKey`` and ``NSStoreUUIDKey``.
    /// The UUID must be the same each time that the same store is added, because the URIs of its objects contain it. An
    /// empty file at the store's URL is a new store.
    ///
    /// - Throws: Code 134080 in this class: a subclass must override the method, and must not call super.
    open override func loadMetadata() throws {
        throw CocoaError(
            .persistentStoreOpen, "The class \(Swift.type(of: self)) does not override loadMetadata().", url: url)
    }

    /// Executes a request of a context.
    ///
    /// - Parameters:
    ///   - request: An `NSFetchRequest`, an ``NSSaveChangesRequest``, or any other request that a program passes to a
    ///     context. A save request whose sets are nil saves only the metadata.
    ///   - context: The requesting context.
    /// - Returns: For a fetch, according to its result type: an array of objects of the context, usually from
    ///   ``NSManagedObjectContext/object(with:)``; of IDs; of dictionaries; or of one number, the count. For a save an
    ///   empty array. For other requests an `NSPersistentStoreResult`.
    /// - Throws: Code 134091 for a request that the store does not support; always in this class.
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        throw CocoaError(
            .persistentStoreUnsupportedRequestType,
            "The class \(Swift.type(of: self)) does not support a \(Swift.type(of: request)).", url: url)
    }

    /// The values of an object's row.
    ///
    /// - Throws: Code 133000 if the store has no such object; always in this class.
    open func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        throw CocoaError.missingRow(objectID)
    }

    /// The destination of an object's relationship.
    ///
    /// - Returns: For a to-one relationship an ID or `NSNull`; for a to-many relationship a set or an array of IDs, for
    ///   an ordered one an array or an ordered set.
    /// - Throws: Code 134060 in this class.
    open func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        throw CocoaError(
            .coreData, "The class \(Swift.type(of: self)) returns no value for “\(relationship.name)”.", url: url)
    }

    /// IDs for new objects, in their order, created with ``newObjectID(for:referenceObject:)``. Called before the save
    /// request that inserts the objects.
    ///
    /// - Throws: Code 134030 in this class.
    open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        throw CocoaError(
            .persistentStoreSave, "The class \(Swift.type(of: self)) assigns no IDs to new objects.", url: url)
    }

    /// An identifier for a new store. By default a new UUID as a string.
    open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

    /// Called when a context begins to use the rows of objects that it has read or inserted.
    open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// Called when a context no longer uses the rows of objects: they were deallocated, or the context was reset or
    /// deallocated.
    open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

    // MARK: - Methods to call

    /// The ID of the object with a reference object, usually a string or a number. Equal reference objects have equal
    /// IDs. The ID's URI contains the reference object's description, escaped as the path of a URL. If a coordinator
    /// creates an ID from a URI, its reference object is the escaped text of the URI.
    open func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
        referencedObjectID(for: entity, referenceObject: data)
    }

    /// The reference object of an ID that was created by this store.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any {
        key(of: objectID).flatMap { ownReferences.reference(of: $0.number, entity: objectID.entity) } ?? NSNull()
    }
}

/// An incremental store that supports requests for many objects at once: an addition to Core Data's API.
///
/// A loop over fetched objects and their relationships then costs one call for each batch of objects, instead of one
/// for each object and relationship. Batches begin small and grow during a loop.
public protocol IncrementalStoreBatching: NSIncrementalStore {
    /// The values of objects of one entity hierarchy, in any order. Missing objects are omitted.
    func newValuesForObjects(
        with objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
    ) throws -> [NSIncrementalStoreNode]

    /// The destinations of a to-many relationship of many objects, by object, as returned by
    /// ``NSIncrementalStore/newValue(forRelationship:forObjectWith:with:)``.
    func newValues(
        forRelationship relationship: NSRelationshipDescription, forObjectsWith objectIDs: [NSManagedObjectID],
        with context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID: Any]
}

/// The values of one object in an incremental store, and their version.
open class NSIncrementalStoreNode: NSObject, @unchecked Sendable {  // because a lock guards its state
    private struct State: @unchecked Sendable {  // because the dictionary is replaced, never changed in place
        var values: [String: Any]
        var version: UInt64
    }

    private let id: NSManagedObjectID
    private let state: Mutex<State>

    /// Creates a node.
    ///
    /// - Parameters:
    ///   - objectID: The object.
    ///   - values: By property name: the values of attributes, an ID or `NSNull` for to-one relationships. A to-one
    ///     relationship without an entry is requested with
    ///     ``NSIncrementalStore/newValue(forRelationship:forObjectWith:with:)``. An attribute without an entry is nil.
    ///   - version: A number that increases with each change of the object in the store.
    public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
        id = objectID
        let initial = State(values: values, version: version)
        state = Mutex(initial)
    }

    /// The object.
    open var objectID: NSManagedObjectID { id }

    /// The version of the values.
    open var version: UInt64 { state.withLock { $0.version } }

    /// Replaces values and version.
    open func update(withValues values: [String: Any], version: UInt64) {
        let changed = State(values: values, version: version)
        state.withLock { $0 = changed }
    }

    /// The value of a property: nil if none was passed, `NSNull` if that was passed.
    open func value(for prop: NSPropertyDescription) -> Any? { state.withLock { $0 }.values[prop.name] }
}
