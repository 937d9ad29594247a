import Foundation

/// A request of a context to its stores: a fetch, a save, or a batch request.
open class NSPersistentStoreRequest: NSObject, NSCopying {
    /// The stores that the request is sent to; nil for all of the coordinator's.
    open var affectedStores: [NSPersistentStore]?

    /// The kind of request. The superclass itself returns a fetch.
    open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// Creates a request to all stores.
    public override init() {}

    /// The request itself if it is an asynchronous fetch, otherwise nil.
    var asynchronousFetch: (any AsynchronousFetching)? { nil }

    /// A copy of the request. Subclasses with state of their own override it.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentStoreRequest()
        copy.assign(from: self)
        return copy
    }

    /// Copies the properties that all requests have.
    final func assign(from original: NSPersistentStoreRequest) {
        affectedStores = original.affectedStores
    }
}

/// The kinds of requests.
public enum NSPersistentStoreRequestType: UInt, Sendable {
    /// A fetch.
    case fetchRequestType = 1
    /// A save.
    case saveRequestType = 2
    /// An insertion of many rows at once.
    case batchInsertRequestType = 5
    /// A change of many rows at once.
    case batchUpdateRequestType = 6
    /// A deletion of many rows at once.
    case batchDeleteRequestType = 7
}

/// A save: the objects of a context that were inserted, changed and deleted.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
    private let inserted: Set<NSManagedObject>?
    private let updated: Set<NSManagedObject>?
    private let deleted: Set<NSManagedObject>?
    private let locked: Set<NSManagedObject>?

    /// Creates a save of these objects. Locked objects are not changed, but must not have been changed in the store.
    public init(
        inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
        deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
    ) {
        inserted = insertedObjects
        updated = updatedObjects
        deleted = deletedObjects
        locked = lockedObjects
    }

    open override var requestType: NSPersistentStoreRequestType { .saveRequestType }

    /// The objects to insert.
    open var insertedObjects: Set<NSManagedObject>? { inserted }
    /// The objects whose changes are written.
    open var updatedObjects: Set<NSManagedObject>? { updated }
    /// The objects to delete.
    open var deletedObjects: Set<NSManagedObject>? { deleted }
    /// The objects that must not have changed in the store since they were read.
    open var lockedObjects: Set<NSManagedObject>? { locked }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSSaveChangesRequest(inserted: inserted, updated: updated, deleted: deleted, locked: locked)
        copy.assign(from: self)
        return copy
    }
}

/// The result of a request.
open class NSPersistentStoreResult: NSObject {}

/// The result of a request that is executed while the caller continues.
open class NSPersistentStoreAsynchronousResult: NSPersistentStoreResult {
    /// The context that executes the request.
    open var managedObjectContext: NSManagedObjectContext { context }

    /// The error of the request; nil while it runs, and when it succeeds.
    open var operationError: (any Error)? { error }

    /// The progress of the request; nil if the caller had no current progress when the request began.
    open var progress: Progress? { ownProgress }

    private let context: NSManagedObjectContext
    private let ownProgress: Progress?
    private final var error: (any Error)?

    init(context: NSManagedObjectContext, progress: Progress?) {
        self.context = context
        ownProgress = progress
    }

    /// Cancels the request. Does nothing when it has already finished.
    open func cancel() {
        progress?.cancel()
    }

    /// Sets the error of the request. Called on the context's queue.
    final func fail(with error: any Error) {
        self.error = error
    }
}
