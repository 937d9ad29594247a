import Foundation

/// A store that keeps a history of its changes. Takes and returns rows, not objects.
protocol HistoryStore: RowStore {
    /// The extent of the history; nil if the store keeps none.
    func historyExtent() throws -> HistoryExtent?

    /// Calls a closure with each transaction that a query selects and its changes, in the order of their numbers, which
    /// is the order of commits. All rows are read from one state of the store. Reading stops when the closure returns
    /// false.
    ///
    /// Changes of entities that the store's model or configuration does not have are omitted.
    ///
    /// - Throws: Code 134301 if the query begins after a transaction that is older than the remaining history, or that
    ///   the store does not have.
    func readHistory(
        _ query: HistoryQuery, _ body: (HistoryTransactionRow, ContiguousArray<HistoryChangeRow>) throws -> Bool
    ) throws

    /// The number of changes of the transactions that a query selects.
    func countHistory(_ query: HistoryQuery) throws -> Int

    /// Deletes the oldest transactions and their changes.
    ///
    /// - Returns: The number of changes that were deleted.
    func deleteHistory(_ bound: HistoryDeletion) throws -> Int

    /// What a transaction has changed in an object that it has updated or deleted; nil where the store has not kept it, and
    /// for insertions.
    func oldValues(of change: HistoryChangeRow, transaction: Int64) throws -> HistoryOldValues?

    /// The followers in the store's metadata, with the number of the last transaction that each has read.
    func historyFollowers() throws -> [String: Int64]

    /// Records the last transaction that a follower has read; nil removes the follower.
    func setHistoryFollower(_ name: String, number: Int64?) throws

    /// The decoder of the masks that name changed properties.
    func propertyMasks() throws -> any PropertyMasks

    /// Calls a closure on a private queue after each commit to the store, by this or another process, until the
    /// returned observation is deallocated.
    func observeCommits(_ body: @escaping @Sendable () -> Void) throws -> AnyObject
}

/// Decodes the masks in which a history keeps the updated properties.
protocol PropertyMasks: Sendable {
    /// The properties of a mask; nil if it is not a valid mask of the entity in this model.
    func properties(in mask: Data, entityIndex: Int) -> Set<NSPropertyDescription>?
    /// False if the framework that wrote the store left random bits in its masks.
    var areReliable: Bool { get }
}

/// The extent of a store's history.
struct HistoryExtent: Sendable {
    /// The number of the oldest remaining transaction; nil if there is none.
    var first: Int64?
    /// The last number that was assigned to a transaction, which may have been deleted since; 0 if none was assigned.
    var last: Int64

    /// Whether all transactions after the given one still exist.
    func holdsEverything(after number: Int64) -> Bool {
        guard number >= 0, number <= last else { return false }
        guard let first else { return number == last }
        return number >= first || number + 1 == first
    }
}

/// The part of a store's history to read.
struct HistoryQuery: Sendable {
    enum Start: Sendable {
        case beginning
        /// After the transaction with a number.
        case after(Int64)
        /// The transactions that are later than a date.
        case later(Date)
        /// Only the transaction with a number.
        case only(Int64)
    }

    var start: Start
    /// If false, transactions have an empty list of changes.
    var includesChanges = true
    /// The conditions for changes and transactions. A transaction whose changes are all excluded is returned with an
    /// empty list.
    var filter = HistoryFilter()
}

/// The part of a store's history to delete. It is always the oldest part, so that no gap arises.
enum HistoryDeletion: Sendable {
    /// The transactions before the one with a number.
    case before(Int64)
    /// The transactions before the first one that is not earlier than a date.
    case earlier(Date)
    /// The oldest transactions, as many as are needed so that at most a number of changes remains.
    case leavingChanges(Int)
    /// The oldest transactions, as many as are needed to leave rows of at most a number of bytes.
    case leavingBytes(Int)
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
    /// The index of the changed object's entity in the model.
    var entity: UInt16
    /// The primary key of the changed object.
    var key: Int64
    /// The properties that an update has changed; see `PropertyMasks`.
    var mask: Data?
    /// The preserved values of a deleted object, with the slots of their attributes.
    var tombstone: [(slot: EntityLayout.Slot, value: Value)] = []
}
