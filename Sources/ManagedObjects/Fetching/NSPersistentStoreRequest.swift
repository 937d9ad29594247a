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
