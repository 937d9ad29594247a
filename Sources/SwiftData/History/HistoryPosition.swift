import Foundation

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
