import Foundation

/// Fetches a part of the history of a coordinator's stores, or deletes one.
///
/// Execute it with `NSManagedObjectContext.execute(_:)`; the result is an ``NSPersistentHistoryResult``. A fetch costs
/// five statements in each store that has a history. It fails with code 134301 if its token is older than the remaining
/// history, or names a transaction that the store does not have; with code 134091 if no store has a history.
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
    /// The part of the history that the request applies to.
    enum Bound {
        case token(NSPersistentHistoryToken?)
        case date(Date)
        /// The whole history.
        case none
    }

    final let bound: Bound
    /// Whether the request deletes the transactions before its bound; otherwise it fetches those after it.
    final let isDeletion: Bool

    /// The kind of result. The default is ``NSPersistentHistoryResultType/transactionsAndChanges`` for a fetch and the
    /// status for a deletion.
    open var resultType: NSPersistentHistoryResultType

    /// Filters and orders a fetch, by predicate, sort descriptors, offset and limit: a request made from
    /// ``NSPersistentHistoryTransaction/fetchRequest`` or ``NSPersistentHistoryChange/fetchRequest``. With a request
    /// for changes, transactions contain only their matching changes, and transactions without a matching change are
    /// omitted. Offset and limit count transactions or changes, according to the entity of the request.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

    /// The token that the request was made with.
    open var token: NSPersistentHistoryToken? {
        if case .token(let token) = bound { token } else { nil }
    }

    init(_ bound: Bound, isDeletion: Bool) {
        self.bound = bound
        self.isDeletion = isDeletion
        resultType = isDeletion ? .statusOnly : .transactionsAndChanges
    }

    // A factory method must return `Self`; a subclass has no initialiser that the method could call.
    private static func made(_ bound: Bound, isDeletion: Bool) -> Self {
        let request = NSPersistentHistoryChangeRequest(bound, isDeletion: isDeletion)
        guard let request = request as? Self else {
            preconditionFailure("A subclass of NSPersistentHistoryChangeRequest cannot be made by a factory method.")
        }
        return request
    }

    /// Fetches the transactions that are later than a date.
    open class func fetchHistory(after date: Date) -> Self { made(.date(date), isDeletion: false) }

    /// Fetches the transactions after a token; nil fetches from the beginning.
    open class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self {
        made(.token(token), isDeletion: false)
    }

    /// Fetches the transactions after another one; nil fetches from the beginning.
    open class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> Self {
        made(.token(transaction?.token), isDeletion: false)
    }

    /// Fetches what a request for transactions or changes describes; see ``fetchRequest``.
    open class func fetchHistory(withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>) -> Self {
        let request = made(.none, isDeletion: false)
        request.fetchRequest = fetchRequest
        return request
    }

    /// Deletes the history before a date: the oldest transactions, up to the first that is not earlier than the date.
    open class func deleteHistory(before date: Date) -> Self { made(.date(date), isDeletion: true) }

    /// Deletes the transactions before the one that a token names, which is kept; nil deletes nothing.
    open class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self {
        made(.token(token), isDeletion: true)
    }

    /// Deletes the transactions before another one, which is kept; nil deletes nothing.
    open class func deleteHistory(before transaction: NSPersistentHistoryTransaction?) -> Self {
        made(.token(transaction?.token), isDeletion: true)
    }

    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentHistoryChangeRequest(bound, isDeletion: isDeletion)
        copy.assign(from: self)
        copy.resultType = resultType
        copy.fetchRequest = fetchRequest.map { NSFetchRequest<any NSFetchRequestResult>($0) }
        return copy
    }
}

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
