import CoreData
import KeyedArchives

/// Reads the history of a coordinator's stores page by page, so that memory holds some thousand changes, or those of one
/// transaction, however long the history is. Uses Core Data's public API only.
package struct HistoryPages {
    /// The position at which reading starts.
    package enum Start {
        /// The oldest remaining transaction.
        case beginning
        /// The first transaction after a date.
        case date(Date)
        /// The first transaction after a token.
        case token(NSPersistentHistoryToken)
    }

    /// The position at which reading starts.
    package var start: Start
    /// Restricts reading to the transactions of this author; nil for all.
    package var author: String?
    /// The maximum number of transactions that are read together. It is reduced for transactions with many changes.
    package var pageSize = 256
    /// The intended number of changes of a page.
    private static let changeCount = 5000

    private let coordinator: NSPersistentStoreCoordinator

    /// The history of a coordinator's stores.
    package init(_ coordinator: NSPersistentStoreCoordinator, from start: Start = .beginning) {
        self.coordinator = coordinator
        self.start = start
    }

    /// Calls a function with each transaction and its changes; transactions of one store are in the order of their
    /// commits.
    ///
    /// Throws `CocoaError.userCancelled` if the progress is cancelled, code 134301 if the token has expired, code
    /// 134091 if no store has a history, and errors of the function.
    package func forEach(progress: Progress? = nil, _ body: (NSPersistentHistoryTransaction) throws -> Void) throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        var request: NSPersistentHistoryChangeRequest
        switch start {
        case .beginning: request = .fetchHistory(after: nil as NSPersistentHistoryToken?)
        case .date(let date): request = .fetchHistory(after: date)
        case .token(let token): request = .fetchHistory(after: token)
        }
        var size = 1
        while true {
            if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
            let page = try context.performAndWait { try fetch(request, limit: size, in: context) }
            for transaction in page { try body(transaction) }
            guard let last = page.last else { return }
            // If the next transactions have the same average size, the next page has the intended number of changes.
            let changes = page.reduce(0) { $0 + ($1.changes?.count ?? 0) }
            size = max(1, min(pageSize, size * 4, page.count * Self.changeCount / max(1, changes)))
            request = .fetchHistory(after: last.token)
        }
    }

    private func fetch(
        _ request: NSPersistentHistoryChangeRequest, limit: Int, in context: NSManagedObjectContext
    ) throws -> [NSPersistentHistoryTransaction] {
        if let entity = NSPersistentHistoryTransaction.entityDescription(with: context) {
            let narrowing = NSFetchRequest<any NSFetchRequestResult>()
            narrowing.entity = entity
            narrowing.fetchLimit = limit
            if let author { narrowing.predicate = NSPredicate(format: "author == %@", author) }
            request.fetchRequest = narrowing
        }
        let result = try context.execute(request) as? NSPersistentHistoryResult
        return result?.result as? [NSPersistentHistoryTransaction] ?? []
    }
}

extension NSPersistentHistoryToken {
    /// Parses a token: the Base64 form of an archived token, as programs store it, or the number of a transaction of a
    /// store.
    ///
    /// - Returns: Nil for any other text.
    package static func token(from text: String, storeUUID: String) throws -> NSPersistentHistoryToken? {
        let archive: Data
        if let number = Int64(text) {
            // Core Data cannot create a token from a number, but decodes an archived one.
            var builder = KeyedArchiveBuilder()
            let dictionary = builder.add(
                dictionary: [(key: builder.add(string: storeUUID), value: builder.add(value: .integer(number)))])
            let root = builder.add(
                classChain: ["_NSPersistentHistoryToken", "NSPersistentHistoryToken", "NSObject"],
                fields: PropertyListDictionary([("NSPersistentHistoryTokenDictionary", dictionary)]))
            archive = try builder.archive(root: root)
        } else if let data = Data(base64Encoded: text), !data.isEmpty {
            archive = data
        } else {
            return nil
        }
        return try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: archive)
    }
}

extension NSPersistentStoreCoordinator {
    /// Calls a function with each transaction of the stores' history and its changes, page by page: memory holds some thousand
    /// changes, however long the history is.
    ///
    ///     try coordinator.historyChanges(since: token) { transaction in
    ///         for change in transaction.changes ?? [] { print(change.changeType, change.changedObjectID) }
    ///         token = transaction.token
    ///     }
    ///
    /// Transactions of one store are in the order of their commits. `changes(since:)` gives the same history as a `GraphDelta`.
    ///
    /// Throws `CocoaError.userCancelled` if the progress is cancelled, code 134301 if the token has expired, code 134091 if no
    /// store has a history, and errors of the function.
    ///
    /// - Parameters:
    ///   - token: The last known transaction; nil for the whole history.
    ///   - author: Restricts the changes to those of an author; nil for all.
    ///   - progress: Can cancel the reading.
    ///   - body: Called with each transaction.
    public func historyChanges(
        since token: NSPersistentHistoryToken? = nil, author: String? = nil, progress: Progress? = nil,
        _ body: (NSPersistentHistoryTransaction) throws -> Void
    ) throws {
        var pages = HistoryPages(self, from: token.map(HistoryPages.Start.token) ?? .beginning)
        pages.author = author
        try pages.forEach(progress: progress, body)
    }
}
