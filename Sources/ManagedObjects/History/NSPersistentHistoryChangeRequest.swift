import Foundation

/// Fetches a part of the history of a coordinator's stores, or deletes one.
///
/// Execute it by `NSManagedObjectContext.execute(_:)`; the result is an ``NSPersistentHistoryResult``. A fetch costs five
/// statements in each store that has a history. It fails with code 134301 where its token is older than the history that
/// is left, or names a transaction that the store does not have; with code 134091 where no store has a history.
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
    /// Which part of the history the request is for.
    enum Bound {
        case token(NSPersistentHistoryToken?)
        case date(Date)
        /// All of it.
        case none
    }

    final let bound: Bound
    /// Whether the request deletes what lies before its bound; else it fetches what lies after it.
    final let isDeletion: Bool

    /// What the result holds: ``NSPersistentHistoryResultType/transactionsAndChanges`` for a fetch unless changed, the
    /// status for a deletion.
    open var resultType: NSPersistentHistoryResultType

    /// Narrows a fetch, by predicate, sort descriptors, offset and limit: a request made from
    /// ``NSPersistentHistoryTransaction/fetchRequest`` or ``NSPersistentHistoryChange/fetchRequest``. Where it is for
    /// changes, transactions come with those of their changes that match, and without any they do not come. Offset and
    /// limit count what the request is for.
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

    // A factory has to give `Self`; a subclass has no initialiser of its own that it could be made by.
    private static func made(_ bound: Bound, isDeletion: Bool) -> Self {
        let request = NSPersistentHistoryChangeRequest(bound, isDeletion: isDeletion)
        guard let request = request as? Self else {
            preconditionFailure("A subclass of NSPersistentHistoryChangeRequest cannot be made by a factory method.")
        }
        return request
    }

    /// Fetches the transactions that are later than a date.
    open class func fetchHistory(after date: Date) -> Self { made(.date(date), isDeletion: false) }

    /// Fetches the transactions after a token; nil is from the beginning.
    open class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self {
        made(.token(token), isDeletion: false)
    }

    /// Fetches the transactions after one; nil is from the beginning.
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

    /// Deletes the transactions before the one that a token names, which stays; nil deletes nothing.
    open class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self {
        made(.token(token), isDeletion: true)
    }

    /// Deletes the transactions before one, which stays; nil deletes nothing.
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
