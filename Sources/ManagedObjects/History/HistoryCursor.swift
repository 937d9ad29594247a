import CoreDataErrors
import Foundation

/// A position in the histories of a coordinator's stores that advances batch by batch. No statement or transaction
/// stays open between two batches.
struct HistoryCursor: Sendable {
    private let coordinator: NSPersistentStoreCoordinator
    private let excludedAuthor: String?
    /// The number of the last transaction that was read, by the UUID of its store.
    private(set) var numbers: [String: Int64]

    /// A batch ends with the transaction that brings the number of its changes to this size.
    private static let batchSize = 5000

    init(_ coordinator: NSPersistentStoreCoordinator, after token: NSPersistentHistoryToken?, excluding author: String?)
    {
        self.coordinator = coordinator
        excludedAuthor = author
        numbers = token?.numbers ?? [:]
    }

    /// The next transactions, store by store, with tokens that contain all stores; empty when everything has been read.
    ///
    /// - Throws: Code 134091 if no store has a history, 134301 if the token has expired.
    mutating func nextBatch() throws -> [NSPersistentHistoryTransaction] {
        var transactions: [NSPersistentHistoryTransaction] = []
        var hasHistory = false
        var room = Self.batchSize
        for (store, history) in coordinator.historyStores(nil) {
            guard room > 0 else { break }
            do {
                guard let identifier = store.identifier, try history.historyExtent() != nil else { continue }
                hasHistory = true
                transactions += try read(history, identifier, &room)
            } catch let error as CocoaError where error.code == .persistentStoreOperation {
                // The store has been closed since the coordinator listed it, because it is being removed: it has no more
                // transactions.
                hasHistory = true
            }
        }
        guard hasHistory || coordinator.entries.isEmpty else { throw CocoaError.noHistory }
        return transactions
    }

    /// The next transactions of one store.
    private mutating func read(
        _ history: any HistoryStore, _ identifier: String, _ room: inout Int
    ) throws -> [NSPersistentHistoryTransaction] {
        var transactions: [NSPersistentHistoryTransaction] = []
        let origin = try HistoryOrigin(history, identifier: identifier, coordinator: coordinator)
        origin.setOthers(numbers)
        let start = numbers[identifier].map { HistoryQuery.Start.after($0) } ?? .beginning
        var (number, rest) = (numbers[identifier], room)
        try history.readHistory(HistoryQuery(start: start)) { row, changes in
            number = row.number
            // An excluded transaction counts as read.
            if excludedAuthor == nil || row.author != excludedAuthor {
                let own = changes.map { NSPersistentHistoryChange($0, of: row, origin: origin) }
                transactions.append(NSPersistentHistoryTransaction(row, changes: own, origin: origin))
            }
            rest -= max(1, changes.count)
            return rest > 0
        }
        (numbers[identifier], room) = (number, rest)
        return transactions
    }
}
