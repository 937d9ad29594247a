import Foundation

/// A store that keeps a history of its changes: transactions in, rows out. Knows no objects.
protocol HistoryStore: RowStore {
    /// How far the history goes; nil where the store keeps none.
    func historyExtent() throws -> HistoryExtent?

    /// Calls a closure with each transaction that a query selects and its changes, in the order of their numbers, which
    /// is the order of commits. All are read from one state of the store. The closure returns false to stop.
    ///
    /// Changes of entities that the store's model or configuration does not have are left out.
    ///
    /// - Throws: Code 134301 where the query begins after a transaction that is older than the history that is left, or
    ///   that the store does not have.
    func readHistory(
        _ query: HistoryQuery, _ body: (HistoryTransactionRow, ContiguousArray<HistoryChangeRow>) throws -> Bool
    ) throws

    /// The number of changes of the transactions that a query selects.
    func countHistory(_ query: HistoryQuery) throws -> Int

    /// Deletes the oldest transactions and their changes.
    ///
    /// - Returns: The number of changes that were deleted.
    func deleteHistory(_ bound: HistoryDeletion) throws -> Int

    /// The followers that the store's metadata name, with the number of the last transaction that each has read.
    func historyFollowers() throws -> [String: Int64]

    /// Notes how far a follower has read, or with nil that it does not follow any more.
    func setHistoryFollower(_ name: String, number: Int64?) throws

    /// What tells which properties a change's mask names.
    func propertyMasks() throws -> any PropertyMasks

    /// Calls a closure after each commit to the store, by this or another process, for as long as the observation lives.
    /// It is called on a queue of the store's.
    func observeCommits(_ body: @escaping @Sendable () -> Void) throws -> AnyObject
}

/// Decodes the masks in which a history keeps the updated properties.
protocol PropertyMasks: Sendable {
    /// The properties of a mask; nil where it is not a mask of the entity as the model has it.
    func properties(in mask: Data, entityIndex: Int) -> Set<NSPropertyDescription>?
    /// False where the framework that wrote the store left random bits in its masks.
    var areReliable: Bool { get }
}

/// How far a store's history goes.
struct HistoryExtent: Sendable {
    /// The number of the oldest transaction that is left; nil where none is.
    var first: Int64?
    /// The last number that was given to a transaction, whether it is left or not; 0 where there was none.
    var last: Int64

    /// Whether everything that came after a transaction is still there.
    func holdsEverything(after number: Int64) -> Bool {
        guard number >= 0, number <= last else { return false }
        guard let first else { return number == last }
        return number >= first || number + 1 == first
    }
}

/// Which part of a store's history to read.
struct HistoryQuery: Sendable {
    enum Start: Sendable {
        case beginning
        /// After the transaction of a number.
        case after(Int64)
        /// What is later than a date.
        case later(Date)
        /// The one transaction of a number.
        case only(Int64)
    }

    var start: Start
    /// Without them, transactions come with an empty list of changes.
    var includesChanges = true
    /// What must hold for a change or transaction to be of interest. A transaction whose changes are all left out comes
    /// with an empty list.
    var filter = HistoryFilter()
}

/// Which part of a store's history to delete. Always the oldest part, so that no gap arises.
enum HistoryDeletion: Sendable {
    /// The transactions before the one of a number.
    case before(Int64)
    /// The transactions before the first that is not earlier than a date.
    case earlier(Date)
    /// As many of the oldest transactions as leave at most a number of changes.
    case leavingChanges(Int)
}

/// A transaction as a store keeps it.
struct HistoryTransactionRow: Sendable {
    var number: Int64
    var timestamp: Date
    var author: String?
    var bundleID: String?
    var contextName: String?
    var processID: String?
}

/// A change as a store keeps it.
struct HistoryChangeRow: @unchecked Sendable {  // because the values of a tombstone are never changed
    var number: Int64
    var type: NSPersistentHistoryChangeType
    /// The position of the changed object's entity in the model.
    var entity: UInt16
    /// The primary key of the changed object.
    var key: Int64
    /// Which properties an update has changed; see `PropertyMasks`.
    var mask: Data?
    /// What is kept of a deleted object: names of attributes and their values.
    var tombstone: [(slot: EntityLayout.Slot, value: Value)] = []
}
