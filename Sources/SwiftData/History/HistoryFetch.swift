import CoreData
import Foundation
import ManagedObjects

extension ModelContext {
    /// The transactions that a descriptor selects, in the order in which they were written.
    ///
    /// A predicate such as `#Predicate { $0.token > token }` is read from the token on; the others are evaluated for all transactions.
    ///
    /// A ``DataStore`` with transactions of the type, as a ``HistoryProviding``, gives its own; those of several stores follow each
    /// other.
    ///
    /// - Throws: ``SwiftDataError/historyTokenExpired`` if transactions after the token have been deleted,
    ///   ``SwiftDataError/invalidTransactionFetchRequest`` if no store has transactions of the type, and the error of a ``DataStore``.
    public func fetchHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T] {
        let provided = try container.dataStores.compactMap { try $0.history(descriptor) }
        var found = provided.flatMap { $0 }
        if provided.isEmpty || T.self == DefaultHistoryTransaction.self {
            found += try container.transactions(descriptor, in: managedContext).map(\.typed)
        }
        return descriptor.fetchLimit == 0 ? found : Array(found.prefix(Int(clamping: descriptor.fetchLimit)))
    }

    /// Deletes the transactions that a descriptor selects, for example those of an author:
    ///
    ///     try context.deleteHistory(
    ///         HistoryDescriptor<DefaultHistoryTransaction>(
    ///             predicate: #Predicate { $0.author == "import" }))
    ///
    /// Later readers do not see that transactions between others are missing. If the oldest ones were deleted, a token before them
    /// has expired. A ``DataStore`` with a history has rules of its own.
    ///
    /// - Throws: ``SwiftDataError/historyTokenExpired`` if transactions after a token of the predicate have been deleted,
    ///   ``SwiftDataError/invalidTransactionFetchRequest`` if no store has transactions of the type, and the error of a ``DataStore``.
    public func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws {
        let isProvided = try container.dataStores.reduce(false) { try $1.deleteHistory(descriptor) || $0 }
        if isProvided, T.self != DefaultHistoryTransaction.self { return }
        let selected = try container.transactions(descriptor, in: managedContext).map(\.origin)
        guard !selected.isEmpty else { return }
        try managedContext.persistentStoreCoordinator?.deleteHistory(of: selected)
    }
}

extension ModelContainer {
    /// The transactions that a descriptor selects.
    ///
    /// - Parameter position: The position after which the store reads; nil means that of the predicate, or the whole history.
    func transactions<T: HistoryTransaction>(
        _ descriptor: HistoryDescriptor<T>, after position: DefaultHistoryToken? = nil,
        in context: NSManagedObjectContext
    ) throws -> [(origin: NSPersistentHistoryTransaction, typed: T)] {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(
            after: (position ?? descriptor.predicate?.historyPosition).map {
                NSPersistentHistoryToken($0.tokenValue ?? [:])
            })
        let result: NSPersistentStoreResult
        do {
            result = try context.execute(request)
        } catch let error as NSError where error.code == 134301 {
            throw SwiftDataError.historyTokenExpired.because(error.localizedDescription)
        }
        let found = (result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction] ?? []
        var typed: [(origin: NSPersistentHistoryTransaction, typed: T)] = []
        for transaction in found {
            guard let each = DefaultHistoryTransaction(transaction) as? T else {
                throw SwiftDataError.invalidTransactionFetchRequest.because(
                    "The stores have transactions of the type DefaultHistoryTransaction, not \(T.self).")
            }
            if try descriptor.predicate?.evaluate(each) == false { continue }
            typed.append((transaction, each))
        }
        if !descriptor.sortBy.isEmpty {
            typed.sort { one, other in
                for order in descriptor.sortBy {
                    switch order.compare(one.typed, other.typed) {
                    case .orderedAscending: return true
                    case .orderedDescending: return false
                    case .orderedSame: continue
                    }
                }
                return false
            }
        }
        return descriptor.fetchLimit == 0 ? typed : Array(typed.prefix(Int(clamping: descriptor.fetchLimit)))
    }
}

// MARK: - The position

// The position after which a predicate requires transactions. The store reads from there, and reports if the history no longer begins
// early enough: without it, a program would miss the changes of deleted transactions and not notice.

extension Predicate {
    /// The position in a comparison of transactions' tokens that must be true, such as `$0.token > token`; nil if there is none.
    var historyPosition: DefaultHistoryToken? { (expression as? any PositionExpression)?.position }
}

/// A part of a predicate that may require transactions after a position.
private protocol PositionExpression {
    var position: DefaultHistoryToken? { get }
}

extension PredicateExpressions.Conjunction: PositionExpression {
    fileprivate var position: DefaultHistoryToken? {
        (lhs as? any PositionExpression)?.position ?? (rhs as? any PositionExpression)?.position
    }
}

extension PredicateExpressions.Comparison: PositionExpression {
    fileprivate var position: DefaultHistoryToken? {
        switch op {
        case .greaterThan: Self.position(of: lhs, after: rhs)
        case .greaterThanOrEqual: Self.position(of: lhs, after: rhs)?.previous
        case .lessThan: Self.position(of: rhs, after: lhs)
        case .lessThanOrEqual: Self.position(of: rhs, after: lhs)?.previous
        }
    }

    private static func position(
        of transaction: some PredicateExpression, after token: some PredicateExpression
    ) -> DefaultHistoryToken? {
        guard (transaction as? any TokenExpression)?.isToken == true else { return nil }
        // An expression with the transaction itself has no value yet.
        return (try? token.evaluate(PredicateBindings())) as? DefaultHistoryToken
    }
}

private protocol TokenExpression {
    /// Whether it is the token of a transaction.
    var isToken: Bool { get }
}

extension PredicateExpressions.KeyPath: TokenExpression {
    fileprivate var isToken: Bool { (keyPath as AnyKeyPath) == \DefaultHistoryTransaction.token }
}
