import Foundation

/// A store that keeps a history of its changes. Takes and returns rows, not objects.
package protocol HistoryStore: RowStore {
    /// The extent of the history; nil if the store keeps none.
    func historyExtent() throws -> HistoryExtent?

    /// Calls a closure with each transaction that a query selects and its changes, in the order of their numbers: that of commits, or
    /// one in which a transaction comes after those that it saw. All rows are read from one state of the store. Reading stops when the
    /// closure returns false.
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

    /// The number of changes that the deletion of the oldest part would delete.
    func countHistory(before deletion: OldestHistory) throws -> Int

    /// Deletes transactions and their changes.
    ///
    /// - Returns: The number of changes that were deleted.
    func deleteHistory(_ deletion: HistoryDeletion) throws -> Int

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
package protocol PropertyMasks: Sendable {
    /// The names of the properties of a mask; nil if it is not a valid mask of the entity in this model.
    func properties(in mask: Data, entityIndex: Int) -> Set<String>?
    /// False if the framework that wrote the store left random bits in its masks.
    var areReliable: Bool { get }
}

/// The extent of a store's history.
package struct HistoryExtent: Sendable {
    /// The number of the oldest remaining transaction; nil if there is none.
    package var first: Int64?
    /// The last number that was assigned to a transaction, which may have been deleted since; 0 if none was assigned.
    package var last: Int64
    /// The highest number of a deleted transaction, if numbers have gaps; nil if they are consecutive.
    package var lastDeleted: Int64?

    /// Whether all transactions after the given one still exist.
    package func holdsEverything(after number: Int64) -> Bool {
        guard number >= 0, number <= last else { return false }
        if let lastDeleted { return number >= lastDeleted }
        guard let first else { return number == last }
        return number >= first || number + 1 == first
    }

    package init(first: Int64? = nil, last: Int64, lastDeleted: Int64? = nil) {
        self.first = first
        self.last = last
        self.lastDeleted = lastDeleted
    }
}

/// The part of a store's history to read.
package struct HistoryQuery: Sendable {
    package enum Start: Sendable {
        case beginning
        /// After the transaction with a number.
        case after(Int64)
        /// The transactions that are later than a date.
        case later(Date)
        /// Only the transaction with a number.
        case only(Int64)
    }

    package var start: Start
    /// The number of the first transaction that is left out; nil if all are read.
    package var end: Int64?
    /// If false, transactions have an empty list of changes.
    package var includesChanges = true
    /// The conditions for changes and transactions. A transaction whose changes are all excluded is returned with an
    /// empty list.
    package var filter = HistoryFilter()

    package init(start: Start, includesChanges: Bool = true, filter: HistoryFilter = HistoryFilter()) {
        self.start = start
        self.includesChanges = includesChanges
        self.filter = filter
    }
}

/// The part of a store's history to delete.
package enum HistoryDeletion: Sendable {
    /// The oldest part, so that no gap arises.
    case oldest(OldestHistory)
    /// The transactions with some numbers, wherever they are.
    case transactions([Int64])
}

/// The oldest part of a store's history.
package enum OldestHistory: Sendable {
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
package struct HistoryTransactionRow: Sendable {
    package var number: Int64
    package var timestamp: Date
    package var author: String?
    package var bundleID: String?
    package var contextName: String?
    package var processID: String?

    package init(
        number: Int64, timestamp: Date, author: String? = nil, bundleID: String? = nil, contextName: String? = nil,
        processID: String? = nil
    ) {
        self.number = number
        self.timestamp = timestamp
        self.author = author
        self.bundleID = bundleID
        self.contextName = contextName
        self.processID = processID
    }
}

/// A change as a store keeps it.
package struct HistoryChangeRow: @unchecked Sendable {  // because the values of a tombstone are never changed
    package var number: Int64
    package var type: NSPersistentHistoryChangeType
    /// The index of the changed object's entity in the model.
    package var entity: UInt16
    /// The primary key of the changed object.
    package var key: Int64
    /// The properties that an update has changed; see `PropertyMasks`.
    package var mask: Data?
    /// The preserved values of a deleted object, with the slots of their attributes.
    package var tombstone: [(slot: Int, value: Value)] = []

    package init(
        number: Int64, type: NSPersistentHistoryChangeType, entity: UInt16, key: Int64, mask: Data? = nil,
        tombstone: [(slot: Int, value: Value)] = []
    ) {
        self.number = number
        self.type = type
        self.entity = entity
        self.key = key
        self.mask = mask
        self.tombstone = tombstone
    }
}

/// The old and new values of one row in one transaction.
package struct HistoryOldValues {
    /// The changed slots with their old and new values; for a deleted row, all slots that had a value.
    package var values: [(slot: Int, old: Value, new: Value)] = []
    /// The removed and added members of many-to-many relationships that have changed, by the names of these.
    package var members: [(relationship: String, removed: [ObjectKey], added: [ObjectKey])] = []

    package init() {}
}
