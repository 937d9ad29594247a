import CoreData

/// The predicates that the service supports: equalities of attributes with constants, joined by `AND`.
enum ServiceQuery {
    static func items(_ predicate: NSPredicate) throws -> [URLQueryItem] {
        if let compound = predicate as? NSCompoundPredicate, compound.compoundPredicateType == .and {
            return try compound.subpredicates.flatMap { subpredicate -> [URLQueryItem] in
                guard let subpredicate = subpredicate as? NSPredicate else { throw refusal(predicate) }
                return try items(subpredicate)
            }
        }
        guard let comparison = predicate as? NSComparisonPredicate, comparison.predicateOperatorType == .equalTo,
            comparison.leftExpression.expressionType == .keyPath,
            comparison.rightExpression.expressionType == .constantValue,
            !comparison.leftExpression.keyPath.contains("."), let value = comparison.rightExpression.constantValue
        else { throw refusal(predicate) }
        return [URLQueryItem(name: comparison.leftExpression.keyPath, value: "\(value)")]
    }

    private static func refusal(_ predicate: NSPredicate) -> CocoaError {
        StoreFailure.notCarriedOut("The service cannot carry out “\(predicate.predicateFormat)”.")
    }
}
