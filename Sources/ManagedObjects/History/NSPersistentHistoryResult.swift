import Foundation

/// The kind of result of a history request.
public enum NSPersistentHistoryResultType: Int, Sendable {
    /// Whether the request succeeded: a Boolean.
    case statusOnly = 0
    /// The IDs of the changes themselves, not of the changed objects: `[NSManagedObjectID]`.
    case objectIDs = 1
    /// The number of changes: an integer.
    case count = 2
    /// `[NSPersistentHistoryTransaction]`, whose ``NSPersistentHistoryTransaction/changes`` are nil.
    case transactionsOnly = 3
    /// `[NSPersistentHistoryChange]`.
    case changesOnly = 4
    /// `[NSPersistentHistoryTransaction]` with their changes.
    case transactionsAndChanges = 5
}

/// The result of an ``NSPersistentHistoryChangeRequest``.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
    private let content: Any?
    private let type: NSPersistentHistoryResultType

    init(_ content: Any?, type: NSPersistentHistoryResultType) {
        self.content = content
        self.type = type
    }

    /// The result, as described by ``resultType``. For a request that deletes history it is a Boolean, or with
    /// ``NSPersistentHistoryResultType/count`` the number of deleted changes.
    open var result: Any? { content }

    /// The kind of ``result``.
    open var resultType: NSPersistentHistoryResultType { type }
}
