import Foundation

/// The part of a history that ``NSPersistentStoreCoordinator/purgeHistory(_:)`` deletes. It is always the oldest part.
public enum HistoryPurge: Sendable {
    /// The transactions before the first one that is not earlier than a date.
    case before(Date)
    /// The transactions before those that a token names; the named ones are kept.
    case beforeToken(NSPersistentHistoryToken)
    /// The oldest transactions, as many as are needed so that each store keeps at most a number of changes.
    case keepingChanges(Int)
    /// The oldest transactions, as many as are needed so that the history of each store takes at most a number of bytes of
    /// its file: transactions, changes, tombstones and old values, with their indexes, as estimated from the rows. A change
    /// takes some 40 bytes, a transaction some 100. The file itself becomes smaller when it is vacuumed
    /// (``NSSQLiteManualVacuumOption``). Cost: the whole history is read.
    case keepingBytes(Int)
    /// The transactions that every named follower has read: see
    /// ``NSPersistentStoreCoordinator/setHistoryToken(_:ofFollower:)``. Without a follower nothing is deleted.
    case readByAllFollowers
}

extension NSPersistentStoreCoordinator {
    /// Deletes a part of the history of all stores: an addition to Core Data's API. Tokens of deleted transactions
    /// expire.
    ///
    /// Cost: some ten statements for each store, in one transaction that deletes all rows.
    ///
    /// - Returns: The number of changes that were deleted.
    /// - Throws: Code 134091 if no store has a history, and errors of the stores.
    @discardableResult
    public final func purgeHistory(_ purge: HistoryPurge) throws -> Int {
        try purging(purge) { try $0.deleteHistory(.oldest($1)) }
    }

    /// The number of changes that `purgeHistory` would delete. The stores may be opened for reading only. Throws as it does.
    package final func countHistory(of purge: HistoryPurge) throws -> Int {
        try purging(purge) { try $0.countHistory(before: $1) }
    }

    /// The sum of what a function returns for each store that has a history, given the part that a purge deletes.
    private final func purging(
        _ purge: HistoryPurge, _ body: (any HistoryStore, OldestHistory) throws -> Int
    ) throws -> Int {
        let stores = try historyStores(nil).filter { try $0.history.historyExtent() != nil }
        guard !stores.isEmpty else { throw CocoaError.noHistory }
        return try stores.reduce(0) { count, entry in
            guard let oldest = try oldest(purge, entry.store, entry.history) else { return count }
            return try count + body(entry.history, oldest)
        }
    }

    private final func oldest(
        _ purge: HistoryPurge, _ store: NSPersistentStore, _ history: any HistoryStore
    ) throws -> OldestHistory? {
        switch purge {
        case .before(let date): return .earlier(date)
        case .beforeToken(let token): return token.number(ofStore: store.identifier).map { .before($0) }
        case .keepingChanges(let count): return .leavingChanges(count)
        case .keepingBytes(let count): return .leavingBytes(count)
        case .readByAllFollowers:
            guard let slowest = try history.historyFollowers().values.min(), slowest < .max else { return nil }
            return .before(slowest + 1)
        }
    }

    /// Deletes transactions, wherever they are in the histories of their stores. A reader whose token is older than a deleted one does
    /// not see that it is missing, unless it was the oldest of its store.
    ///
    /// Cost: some seven statements for each store, in one transaction.
    package final func deleteHistory(of transactions: [NSPersistentHistoryTransaction]) throws {
        let numbers = Dictionary(grouping: transactions, by: \.storeID).mapValues { $0.map(\.transactionNumber) }
        for (store, history) in historyStores(nil) {
            guard let numbers = numbers[store.identifier] else { continue }
            _ = try history.deleteHistory(.transactions(numbers))
        }
    }

    // MARK: - Followers

    /// The named followers of the stores' histories, and the point up to which each has read them: an addition to Core
    /// Data's API. They are kept in the metadata of the stores. Cost: one statement for each store.
    public final func historyFollowers() throws -> [String: NSPersistentHistoryToken] {
        var numbers: [String: [String: Int64]] = [:]
        for (store, history) in historyStores(nil) {
            for (name, number) in try history.historyFollowers() {
                numbers[name, default: [:]][store.identifier] = number
            }
        }
        return numbers.mapValues(NSPersistentHistoryToken.init)
    }

    /// Records in the stores' metadata, immediately, up to which point a follower has read their histories.
    /// ``HistoryPurge/readByAllFollowers`` keeps the transactions after that point. An addition to Core Data's API.
    ///
    /// - Parameters:
    /// The point; stores that it does not name are not changed. Nil removes the follower.
    /// The name of the follower: a device or program, for example.
    public final func setHistoryToken(_ token: NSPersistentHistoryToken?, ofFollower name: String) throws {
        for (store, history) in historyStores(nil) {
            let number = token?.number(ofStore: store.identifier)
            if number == nil, token != nil { continue }
            try history.setHistoryFollower(name, number: number)
        }
    }
}
