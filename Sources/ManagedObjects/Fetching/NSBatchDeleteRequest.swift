import Foundation

/// A deletion of many rows straight in the store: no objects are made, and contexts do not see it until they refresh.
///
/// Delete rules are kept by the store: what the rows refer to is cut off or deleted along, and a rule that denies makes
/// the request fail.
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
    private let request: NSFetchRequest<any NSFetchRequestResult>
    /// The IDs to delete, where the request was made with IDs.
    final let objectIDs: [NSManagedObjectID]?

    /// What the result holds; whether the request succeeded, unless changed.
    open var resultType: NSBatchDeleteRequestResultType = .resultTypeStatusOnly

    private init(
        fetchRequest: NSFetchRequest<any NSFetchRequestResult>, objectIDs: [NSManagedObjectID]?
    ) {
        request = fetchRequest
        self.objectIDs = objectIDs
    }

    /// Deletes what a request would fetch; its offset and limit count.
    public init(fetchRequest fetch: NSFetchRequest<any NSFetchRequestResult>) {
        request = fetch
        objectIDs = nil
    }

    /// Deletes what a request of any result type would fetch.
    public convenience init<ResultType>(fetchRequest fetch: NSFetchRequest<ResultType>) {
        self.init(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(fetch), objectIDs: nil)
    }

    /// Deletes the objects of these IDs, which must all be of one entity's hierarchy.
    public convenience init(objectIDs objects: [NSManagedObjectID]) {
        let fetch = NSFetchRequest<any NSFetchRequestResult>()
        fetch.entity = objects.first?.entity.rootEntity
        self.init(fetchRequest: fetch, objectIDs: objects)
    }

    open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

    /// What is deleted. In a request made with IDs it names the hierarchy alone.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult> { request }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSBatchDeleteRequest(
            fetchRequest: NSFetchRequest<any NSFetchRequestResult>(request), objectIDs: objectIDs)
        copy.assign(from: self)
        copy.resultType = resultType
        return copy
    }
}

/// What the result of a batch deletion holds.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
    /// Whether it succeeded: a Boolean.
    case resultTypeStatusOnly = 0
    /// The IDs of the deleted objects.
    case resultTypeObjectIDs = 1
    /// The number of deleted objects.
    case resultTypeCount = 2
}

/// What a batch deletion answers.
open class NSBatchDeleteResult: NSPersistentStoreResult {
    private let content: Any?
    private let type: NSBatchDeleteRequestResultType

    init(_ content: Any?, type: NSBatchDeleteRequestResultType) {
        self.content = content
        self.type = type
    }

    /// `Bool`, `[NSManagedObjectID]` or `Int`, as ``resultType`` says.
    open var result: Any? { content }
    /// What ``result`` holds.
    open var resultType: NSBatchDeleteRequestResultType { type }
}
