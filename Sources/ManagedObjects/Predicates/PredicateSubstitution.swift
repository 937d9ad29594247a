import PredicateLanguage

// Replaces variables by values. Recursive: the depth of trees is limited by the parser, or chosen by the code that
// built them.

extension PredicateNode {
    /// The predicate with variables replaced by values; variables without a value are kept.
    internal func substituting(_ values: [String: Any]) -> PredicateNode {
        switch self {
        case .constant, .opaque: return self
        case .and(let parts): return .and(parts.map { $0.substituting(values) })
        case .or(let parts): return .or(parts.map { $0.substituting(values) })
        case .not(let part): return .not(part.substituting(values))
        case .comparison(var comparison):
            comparison.left = comparison.left.substituting(values)
            comparison.right = comparison.right.substituting(values)
            return .comparison(comparison)
        }
    }
}

extension ExpressionNode {
    /// The expression with variables replaced by values; variables without a value, and those of subqueries, are kept.
    internal func substituting(_ values: [String: Any]) -> ExpressionNode {
        switch self {
        case .constant, .evaluatedObject, .anyKey, .opaque: return self
        case .variable(let name):
            guard let value = values[name] else { return self }
            return (value as? NSExpression)?.node ?? .constant(value: value)
        case .keyPath(let base, let keys): return .keyPath(base: base.substituting(values), keys: keys)
        case .element(let collection, .at(let position)):
            return .element(of: collection.substituting(values), .at(position.substituting(values)))
        case .element(let collection, let index): return .element(of: collection.substituting(values), index)
        case .function(let name, let arguments):
            return .function(name, arguments: arguments.map { $0.substituting(values) })
        case .call(let receiver, let selector, let arguments):
            return .call(
                receiver: receiver.substituting(values), selector: selector,
                arguments: arguments.map { $0.substituting(values) })
        case .aggregate(let elements): return .aggregate(elements.map { $0.substituting(values) })
        case .subquery(let collection, let variable, let predicate):
            var inner = values
            inner[variable] = nil
            return .subquery(
                collection: collection.substituting(values), variable: variable,
                predicate: predicate.substituting(inner))
        case .setOperation(let operation, let left, let right):
            return .setOperation(operation, left.substituting(values), right.substituting(values))
        case .conditional(let test, let then, let otherwise):
            return .conditional(
                test.substituting(values), then: then.substituting(values), otherwise: otherwise.substituting(values))
        case .fetch(let request, let context, let countOnly):
            return .fetch(
                request: request.substituting(values), context: context.substituting(values), countOnly: countOnly)
        }
    }
}
