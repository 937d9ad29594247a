import Foundation

extension NSPredicate {
    /// The predicate for the transactions or changes of one store: a comparison of a transaction's token with a token compares the
    /// numbers that both have in the store.
    ///
    /// - Throws: Code 134301 for a token that precedes the first transaction of the store, as Apple's framework does.
    func comparingTokens(ofStore identifier: String) throws -> NSPredicate {
        if let compound = self as? NSCompoundPredicate {
            let parts = try compound.subpredicates.map { part in
                try (part as? NSPredicate)?.comparingTokens(ofStore: identifier)
            }
            return NSCompoundPredicate(type: compound.compoundPredicateType, subpredicates: parts.compactMap(\.self))
        }
        guard let comparison = self as? NSComparisonPredicate, comparison.leftExpression.expressionType == .keyPath,
            comparison.leftExpression.keyPath.split(separator: ".").last == "token",
            comparison.rightExpression.expressionType == .constantValue,
            let token = comparison.rightExpression.constantValue as? NSPersistentHistoryToken
        else { return self }
        let number = token.number(ofStore: identifier)
        if number == 0 {
            throw CocoaError(
                CocoaError.Code(rawValue: NSPersistentHistoryTokenExpiredError),
                "The token precedes the first transaction of the store. Use it with fetchHistory(after:).")
        }
        return NSComparisonPredicate(
            leftExpression: comparison.leftExpression,
            rightExpression: NSExpression(forConstantValue: NSNumber(value: number ?? 0)),
            modifier: comparison.comparisonPredicateModifier, type: comparison.predicateOperatorType,
            options: comparison.options)
    }
}
