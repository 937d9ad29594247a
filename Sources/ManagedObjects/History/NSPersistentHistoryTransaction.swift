import Foundation
import PredicateLanguage

/// What one save or one batch request has changed in a store.
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

    // MARK: - What it tells

    /// When it was committed, to the clock of the process that did it.
    open var timestamp: Date { row.timestamp }

    /// Its changes; an object occurs once. Nil where the request asked for transactions only.
    open var changes: [NSPersistentHistoryChange]? { ownChanges }

    /// Its number in the store: later transactions have higher ones.
    open var transactionNumber: Int64 { row.number }

    /// The UUID of the store.
    open var storeID: String { origin.storeIdentifier }

    /// The bundle identifier of the program; empty where it has none.
    open var bundleID: String { row.bundleID ?? "" }

    /// The name of the process.
    open var processID: String { row.processID ?? "" }

    /// The name of the context, if it had one.
    open var contextName: String? { row.contextName }

    /// The context's `transactionAuthor`, if it had one.
    open var author: String? { row.author }

    /// The point in the history right after the transaction. Where the request was for several stores, it includes the
    /// points that their histories had been read to, so that a fetch after it gives what comes next in each of them.
    open var token: NSPersistentHistoryToken { origin.token(row.number) }

    /// What `NSManagedObjectContext.mergeChanges(fromContextDidSave:)` of any context merges: the IDs of the inserted,
    /// updated and deleted objects. Cost: no statement, but for a transaction that came without its changes, which are
    /// then read by five.
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

    /// The same transaction with some of its changes, or without any.
    final func copy(with changes: [NSPersistentHistoryChange]?) -> NSPersistentHistoryTransaction {
        NSPersistentHistoryTransaction(row, changes: changes, origin: origin)
    }

    // MARK: - Fetching

    /// An entity with the keys by which fetch requests know transactions.
    open class var entityDescription: NSEntityDescription? { HistoryEntities.shared.transaction }

    /// An entity with the keys by which fetch requests know transactions.
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

    /// Itself: a transaction never changes.
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
        // Tokens of one store have the order of their numbers.
        case "token", "transactionNumber": return transactionNumber
        case "self": return self
        default: throw HistoryEntities.unknownKey(key, of: "transaction")
        }
    }
}
