import Foundation

/// What the result of a history request holds.
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

    /// What ``resultType`` says. A request that deletes history gives a Boolean, or with
    /// ``NSPersistentHistoryResultType/count`` the number of deleted changes.
    open var result: Any? { content }

    /// What ``result`` holds.
    open var resultType: NSPersistentHistoryResultType { type }
}
