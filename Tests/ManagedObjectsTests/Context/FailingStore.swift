import Foundation
import Testing

@testable import EngineTesting

@testable import ManagedObjects

/// A store of which one call fails: a read, a write, or a step of a save's transaction. It counts its calls.
final class FailingStore: HistoryStore, BatchStore {
    private let base: any RowStore
    /// The number of the call that fails, counted from 1; nil for none.
    private var failing: Int?
    private(set) var callCount = 0
    /// Whether all plans of saves are refused.
    var refusesPlans = false

    struct Failure: Error {}

    init(_ base: any RowStore) { self.base = base }

    /// Puts a failing store in the place of one of a coordinator's stores.
    static func replacing(_ index: Int = 0, of coordinator: NSPersistentStoreCoordinator) throws -> FailingStore {
        let store = FailingStore(try #require(coordinator.rowStores.dropFirst(index).first))
        nonisolated(unsafe) let rows = store  // because a test uses the store on one thread
        coordinator.state.withLock { state in
            let entry = state.entries[index]
            state.entries[index] = .init(number: entry.number, store: entry.store, rows: rows)
        }
        return store
    }

    /// Runs work of which the n-th call of the store fails.
    func failing<Result>(at number: Int?, _ work: () throws -> Result) rethrows -> Result {
        (failing, callCount) = (number, 0)
        defer { failing = nil }
        return try work()
    }

    private func call() throws {
        callCount += 1
        if callCount == failing { throw Failure() }
    }

    // MARK: - Writing

    var number: UInt16 {
        get { base.number }
        set { base.number = newValue }
    }

    func reserveKeys(entity: NSEntityDescription, count: Int) throws -> ClosedRange<Int64> {
        try call()
        return try base.reserveKeys(entity: entity, count: count)
    }

    func write(_ plan: SavePlan) throws -> SaveOutcome {
        try call()
        if refusesPlans { throw Failure() }
        return try base.write(plan)
    }

    func executeBatch(
        _ request: NSPersistentStoreRequest, for context: NSManagedObjectContext
    ) throws -> NSPersistentStoreResult? {
        try call()
        return try base.batchStore?.executeBatch(request, for: context)
    }

    /// The transaction itself fails before it begins, or when it is committed.
    func inSaveTransaction<Result>(_ body: (any SaveTransaction) throws -> Result) throws -> Result {
        try call()
        return try base.inSaveTransaction { transaction in
            let result = try body(Transaction(self, transaction))
            try call()
            return result
        }
    }

    private final class Transaction: SaveTransaction {
        private let store: FailingStore
        private let base: any SaveTransaction
        var number: UInt16 { base.number }

        init(_ store: FailingStore, _ base: any SaveTransaction) { (self.store, self.base) = (store, base) }

        func reserveKeys(entity: NSEntityDescription, count: Int) throws -> ClosedRange<Int64> {
            try store.call()
            return try base.reserveKeys(entity: entity, count: count)
        }

        func write(_ plan: SavePlan) throws -> SaveOutcome {
            try store.call()
            if store.refusesPlans { throw Failure() }
            return try base.write(plan)
        }

        func conflicts(of plan: SavePlan) throws -> SaveConflicts {
            try store.call()
            return try base.conflicts(of: plan)
        }
    }

    // MARK: - Reading

    var readsRowsTogether: Bool { base.readsRowsTogether }
    var faultBatchLimit: Int { base.faultBatchLimit }
    var reservesKeysInTransaction: Bool { base.reservesKeysInTransaction }

    func pinGeneration() throws -> any StoreGeneration {
        try call()
        return try base.pinGeneration()
    }

    func withGeneration<Result>(
        _ generation: (any StoreGeneration)?, _ body: (any StoreGeneration) throws -> Result
    ) throws -> Result {
        try call()
        return try base.withGeneration(generation, body)
    }

    func rows(matching query: RowQuery, generation: (any StoreGeneration)?) throws -> RowResult {
        try call()
        return try base.rows(matching: query, generation: generation)
    }

    func keys(matching query: RowQuery, generation: (any StoreGeneration)?) throws -> [ObjectKey] {
        try call()
        return try base.keys(matching: query, generation: generation)
    }

    func count(matching query: RowQuery, generation: (any StoreGeneration)?) throws -> Int {
        try call()
        return try base.count(matching: query, generation: generation)
    }

    func dictionaries(matching query: ValueQuery, generation: (any StoreGeneration)?) throws -> [NSDictionary] {
        try call()
        return try base.dictionaries(matching: query, generation: generation)
    }

    func rows(
        withKeys keys: [Int64], entity: NSEntityDescription, generation: (any StoreGeneration)?
    ) throws -> [RowPage] {
        try call()
        return try base.rows(withKeys: keys, entity: entity, generation: generation)
    }

    func members(
        of relationship: NSRelationshipDescription, owners: [Int64], ownerEntity: NSEntityDescription,
        includesRows: Bool, isKnown: (ObjectKey) -> Bool, generation: (any StoreGeneration)?
    ) throws -> MemberResult {
        try call()
        return try base.members(
            of: relationship, owners: owners, ownerEntity: ownerEntity, includesRows: includesRows, isKnown: isKnown,
            generation: generation)
    }

    // MARK: - History

    private func history() throws -> (any HistoryStore)? {
        try call()
        return base as? any HistoryStore
    }

    func historyExtent() throws -> HistoryExtent? { try history()?.historyExtent() }

    /// Reading fails before its first transaction, or before one of the others.
    func readHistory(
        _ query: HistoryQuery, _ body: (HistoryTransactionRow, ContiguousArray<HistoryChangeRow>) throws -> Bool
    ) throws {
        try history()?.readHistory(query) { transaction, changes in
            try call()
            return try body(transaction, changes)
        }
    }

    func countHistory(_ query: HistoryQuery) throws -> Int { try history()?.countHistory(query) ?? 0 }

    func countHistory(before deletion: OldestHistory) throws -> Int {
        try history()?.countHistory(before: deletion) ?? 0
    }

    func deleteHistory(_ deletion: HistoryDeletion) throws -> Int {
        try history()?.deleteHistory(deletion) ?? 0
    }

    func oldValues(of change: HistoryChangeRow, transaction: Int64) throws -> HistoryOldValues? {
        try history()?.oldValues(of: change, transaction: transaction)
    }

    func historyFollowers() throws -> [String: Int64] { try history()?.historyFollowers() ?? [:] }

    func setHistoryFollower(_ name: String, number: Int64?) throws {
        try history()?.setHistoryFollower(name, number: number)
    }

    func propertyMasks() throws -> any PropertyMasks {
        guard let history = try history() else { throw Failure() }
        return try history.propertyMasks()
    }

    func observeCommits(_ body: @escaping @Sendable () -> Void) throws -> AnyObject {
        guard let history = try history() else { throw Failure() }
        return try history.observeCommits(body)
    }
}
