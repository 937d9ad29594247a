import Foundation
import PredicateLanguage

/// The changes of one save or one batch request in a store.
open class NSPersistentHistoryTransaction: NSObject, NSCopying,
    @unchecked Sendable  // because it is immutable
{
    private let row: HistoryTransactionRow
    private let origin: HistoryOrigin
    private let ownChanges: [NSPersistentHistoryChange]?

    init(_ row: HistoryTransactionRow, changes: [NSPersistentHistoryChange]?, origin: HistoryOrigin) {
        self.row = row
        self.origin = origin
        ownChanges = changes
        super.init()
        for change in changes ?? [] { change.didEnter(self) }
    }

    // MARK: - Properties

    /// The time of the commit, by the clock of the committing process.
    open var timestamp: Date { row.timestamp }

    /// The changes, at most one for each object. Nil if the request was for transactions only.
    open var changes: [NSPersistentHistoryChange]? { ownChanges }

    /// The number of the transaction in the store: later transactions have higher numbers.
    open var transactionNumber: Int64 { row.number }

    /// The UUID of the store.
    open var storeID: String { origin.storeIdentifier }

    /// The bundle identifier of the program; empty if it has none.
    open var bundleID: String { row.bundleID ?? "" }

    /// The name of the process.
    open var processID: String { row.processID ?? "" }

    /// The name of the context, if it had one.
    open var contextName: String? { row.contextName }

    /// The context's `transactionAuthor`, if it had one.
    open var author: String? { row.author }

    /// The point in the history right after the transaction. If the request was for several stores, the token includes
    /// the points up to which their histories had been read, so that a fetch after it returns the next transactions of
    /// each of them.
    open var token: NSPersistentHistoryToken { origin.token(row.number) }

    /// A notification for `NSManagedObjectContext.mergeChanges(fromContextDidSave:)` with the IDs of the inserted,
    /// updated and deleted objects. Cost: no statement, except for a transaction that was fetched without its changes,
    /// which are then read by five statements.
    open func objectIDNotification() -> Notification {
        var ids: [NSPersistentHistoryChangeType: Set<NSManagedObjectID>] = [:]
        for change in ownChanges ?? origin.changes(of: row.number) {
            ids[change.changeType, default: []].insert(change.changedObjectID)
        }
        var userInfo: [AnyHashable: Any] = [:]
        userInfo[NSInsertedObjectIDsKey] = ids[.insert]
        userInfo[NSUpdatedObjectIDsKey] = ids[.update]
        userInfo[NSDeletedObjectIDsKey] = ids[.delete]
        return Notification(name: .NSManagedObjectContextDidSaveObjectIDs, object: nil, userInfo: userInfo)
    }

    /// The same transaction with some of its changes, or without changes.
    final func copy(with changes: [NSPersistentHistoryChange]?) -> NSPersistentHistoryTransaction {
        NSPersistentHistoryTransaction(row, changes: changes, origin: origin)
    }

    // MARK: - Fetching

    /// The entity of fetch requests for transactions, with the keys that predicates and sort descriptors may use.
    open class var entityDescription: NSEntityDescription? { HistoryEntities.shared.transaction }

    /// The entity of fetch requests for transactions, with the keys that predicates and sort descriptors may use.
    open class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
        entityDescription
    }

    /// A new request for transactions, for ``NSPersistentHistoryChangeRequest/fetchRequest``. Its predicate and sort
    /// descriptors may use `author`, `bundleID`, `contextName`, `processID`, `storeID`, `timestamp`, `token` and
    /// `transactionNumber`.
    open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = entityDescription
        return request
    }

    // MARK: - As an object

    /// Returns the transaction itself, which is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Two transactions are equal when they have the same number in the same store.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentHistoryTransaction else { return false }
        return row.number == other.row.number && storeID == other.storeID
    }

    open override var hash: Int { row.number.hashValue }

    open override var description: String {
        "<NSPersistentHistoryTransaction \(row.number) of \(storeID), \(row.timestamp), "
            + "author \(row.author ?? "none"), \(ownChanges.map { "\($0.count) changes" } ?? "without changes")>"
    }
}

extension NSPersistentHistoryTransaction: PredicateSubject {
    public func predicateValue(forKey key: String) throws -> Any? {
        switch key {
        case "author": return author
        case "bundleID": return bundleID
        case "contextName": return contextName
        case "processID": return processID
        case "storeID": return storeID
        case "timestamp": return timestamp
        // The tokens of one store are ordered as their numbers are.
        case "token", "transactionNumber": return transactionNumber
        case "self": return self
        default: throw HistoryEntities.unknownKey(key, of: "transaction")
        }
    }
}
