import Foundation

/// What a context asks of its stores: a fetch, a save, or a change of many rows at once.
open class NSPersistentStoreRequest: NSObject, NSCopying {
    /// The stores that the request is sent to; nil for all of the coordinator's.
    open var affectedStores: [NSPersistentStore]?

    /// What is asked. The superclass of requests is none itself and answers as a fetch.
    open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// A request to all stores.
    public override init() {}

    /// A request that asks the same. Subclasses with state of their own override it.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentStoreRequest()
        copy.assign(from: self)
        return copy
    }

    /// Takes over what any request has.
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
