import CoreData
import Foundation

/// Reads the persistent history: what other contexts and processes have saved.
public final class HistoryReader {
    private let stack: CoreDataStack
    private(set) var token: NSPersistentHistoryToken?

    public init(stack: CoreDataStack) {
        self.stack = stack
    }

    /// The transactions since the last call.
    public func newTransactions() throws -> [NSPersistentHistoryTransaction] {
        let context = stack.newBackgroundContext()
        return try context.performAndWait {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
            token = transactions.last?.token ?? token
            return transactions
        }
    }

    /// The names of the entities that were changed since the last call, by kind of change.
    public func changedEntities() throws -> [NSPersistentHistoryChangeType: Set<String>] {
        var result: [NSPersistentHistoryChangeType: Set<String>] = [:]
        for transaction in try newTransactions() {
            for change in transaction.changes ?? [] {
                result[change.changeType, default: []].insert(change.changedObjectID.entity.name ?? "")
            }
        }
        return result
    }
}
