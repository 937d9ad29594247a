import Foundation

/// A deletion of many rows directly in the store: no objects are created, and contexts are not updated until they
/// refresh.
///
/// The store applies delete rules: it nullifies references or deletes related rows, and a deny rule makes the request
/// fail.
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
    private let request: NSFetchRequest<any NSFetchRequestResult>
    /// The IDs to delete, if the request was created with IDs.
    package final let objectIDs: [NSManagedObjectID]?

    /// The content of the result; by default whether the request succeeded.
    open var resultType: NSBatchDeleteRequestResultType = .resultTypeStatusOnly

    private init(
        fetchRequest: NSFetchRequest<any NSFetchRequestResult>, objectIDs: [NSManagedObjectID]?
    ) {
        request = fetchRequest
        self.objectIDs = objectIDs
    }

    /// Deletes the objects that a request would fetch, within its offset and limit.
    public init(fetchRequest fetch: NSFetchRequest<any NSFetchRequestResult>) {
        request = fetch
        objectIDs = nil
    }

    /// Deletes the objects that a request of any result type would fetch.
    public convenience init<ResultType>(fetchRequest fetch: NSFetchRequest<ResultType>) {
        self.init(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(fetch), objectIDs: nil)
    }

    /// Deletes the objects with these IDs, which must all be of one entity hierarchy.
    public convenience init(objectIDs objects: [NSManagedObjectID]) {
        let fetch = NSFetchRequest<any NSFetchRequestResult>()
        fetch.entity = objects.first?.entity.rootEntity
        self.init(fetchRequest: fetch, objectIDs: objects)
    }

    open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

    /// The request for the objects to delete. In a request created with IDs it contains only the root entity.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult> { request }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSBatchDeleteRequest(
            fetchRequest: NSFetchRequest<any NSFetchRequestResult>(request), objectIDs: objectIDs)
        copy.assign(from: self)
        copy.resultType = resultType
        return copy
    }
}

/// The content of the result of a batch deletion.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
    /// Whether it succeeded: a Boolean.
    case resultTypeStatusOnly = 0
    /// The IDs of the deleted objects.
    case resultTypeObjectIDs = 1
    /// The number of deleted objects.
    case resultTypeCount = 2
}

/// The result of a batch deletion.
open class NSBatchDeleteResult: NSPersistentStoreResult {
    private let content: Any?
    private let type: NSBatchDeleteRequestResultType

    package init(_ content: Any?, type: NSBatchDeleteRequestResultType) {
        self.content = content
        self.type = type
    }

    /// Creates a result without content, as the initial value of a variable.
    public override init() {
        content = nil
        type = .resultTypeStatusOnly
    }

    /// `Bool`, `[NSManagedObjectID]` or `Int`, according to ``resultType``.
    open var result: Any? { content }
    /// The content of ``result``.
    open var resultType: NSBatchDeleteRequestResultType { type }
}
