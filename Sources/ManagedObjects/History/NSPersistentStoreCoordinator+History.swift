import CoreDataErrors
import Foundation

extension NSPersistentStoreCoordinator {
    /// The token of the last transaction of each store; nil if no store has a history, or one of them cannot be read: a token without
    /// that store would read its history from the beginning.
    final func historyToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
        let wanted = (stores ?? []).compactMap { $0 as? NSPersistentStore }
        if stores?.isEmpty == false, wanted.isEmpty { return nil }
        var numbers: [String: Int64] = [:]
        for (store, history) in historyStores(wanted.isEmpty ? nil : wanted) {
            do {
                if let extent = try history.historyExtent() { numbers[store.identifier] = extent.last }
            } catch {
                return nil
            }
        }
        return numbers.isEmpty ? nil : NSPersistentHistoryToken(numbers)
    }

    /// The stores that may have a history, in the order in which they were added.
    final func historyStores(_ affected: [NSPersistentStore]?) -> [(
        store: NSPersistentStore, history: any HistoryStore
    )] {
        entries.compactMap { entry in
            guard affected?.contains(where: { $0 === entry.store }) ?? true,
                let history = entry.rows as? any HistoryStore
            else { return nil }
            return (entry.store, history)
        }
    }

    /// Executes a history request.
    ///
    /// - Throws: Code 134091 if no store has a history, 134301 if the token has expired, 134060 for a predicate that
    ///   cannot be evaluated, and errors of the stores.
    final func execute(_ request: NSPersistentHistoryChangeRequest) throws -> NSPersistentHistoryResult {
        var stores: [(store: NSPersistentStore, history: any HistoryStore)] = []
        for entry in historyStores(request.affectedStores) where try entry.history.historyExtent() != nil {
            stores.append(entry)
        }
        guard !stores.isEmpty else {
            throw CocoaError.noHistory
        }
        if request.isDeletion {
            let count = try delete(request.bound, from: stores)
            return NSPersistentHistoryResult(request.resultType == .count ? count : true, type: request.resultType)
        }
        let fetch = try HistoryFetch(request, coordinator: self)
        return NSPersistentHistoryResult(try fetch.result(from: stores), type: request.resultType)
    }

    private final func delete(
        _ bound: NSPersistentHistoryChangeRequest.Bound,
        from stores: [(store: NSPersistentStore, history: any HistoryStore)]
    ) throws -> Int {
        try stores.reduce(0) { count, entry in
            switch bound {
            case .none: return count
            case .date(let date): return try count + entry.history.deleteHistory(.oldest(.earlier(date)))
            case .token(let token):
                guard let number = token?.number(ofStore: entry.store.identifier) else { return count }
                return try count + entry.history.deleteHistory(.oldest(.before(number)))
            }
        }
    }
}

extension CocoaError {
    /// No store of a coordinator has a history.
    static var noHistory: CocoaError {
        CocoaError(
            .persistentStoreUnsupportedRequestType,
            "No store has a history. Add a store with NSPersistentHistoryTrackingKey to keep one.")
    }
}
