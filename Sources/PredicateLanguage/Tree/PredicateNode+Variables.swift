extension PredicateNode {
    /// The predicate with variables replaced by values. Variables without a value are kept. A variable that a
    /// `SUBQUERY` declares is local and not replaced inside it.
    ///
    /// - Parameter values: by names without the dollar sign; an ``ExpressionNode`` is inserted as it is.
    public func substitutingVariables(_ values: [String: Any?]) -> PredicateNode {
        switch self {
        case .constant, .opaque: return self
        case .comparison(var comparison):
            comparison.left = comparison.left.substitutingVariables(values)
            comparison.right = comparison.right.substitutingVariables(values)
            return .comparison(comparison)
        case .and(let parts): return .and(parts.map { $0.substitutingVariables(values) })
        case .or(let parts): return .or(parts.map { $0.substitutingVariables(values) })
        case .not(let part): return .not(part.substitutingVariables(values))
        }
    }

    /// The names of the variables that need a value, without those that a `SUBQUERY` declares.
    public var variables: Set<String> {
        switch self {
        case .constant, .opaque: []
        case .comparison(let comparison): comparison.left.variables.union(comparison.right.variables)
        case .and(let parts), .or(let parts): parts.reduce(into: []) { $0.formUnion($1.variables) }
        case .not(let part): part.variables
        }
    }
}

extension ExpressionNode {
    /// The expression with variables replaced by values, as for a predicate.
    public func substitutingVariables(_ values: [String: Any?]) -> ExpressionNode {
        let substitute = { (node: ExpressionNode) in node.substitutingVariables(values) }
        switch self {
        case .constant, .evaluatedObject, .anyKey, .opaque: return self
        case .variable(let name):
            guard let value = values[name] else { return self }
            return value as? ExpressionNode ?? .constant(value: value)
        case .keyPath(let base, let keys): return .keyPath(base: substitute(base), keys: keys)
        case .element(let base, .at(let index)): return .element(of: substitute(base), .at(substitute(index)))
        case .element(let base, let index): return .element(of: substitute(base), index)
        case .function(let name, let arguments): return .function(name, arguments: arguments.map(substitute))
        case .call(let receiver, let selector, let arguments):
            return .call(receiver: substitute(receiver), selector: selector, arguments: arguments.map(substitute))
        case .aggregate(let elements): return .aggregate(elements.map(substitute))
        case .subquery(let collection, let variable, let predicate):
            let inner = predicate.substitutingVariables(values.filter { $0.key != variable })
            return .subquery(collection: substitute(collection), variable: variable, predicate: inner)
        case .setOperation(let operation, let left, let right):
            return .setOperation(operation, substitute(left), substitute(right))
        case .conditional(let predicate, let then, let otherwise):
            let test = predicate.substitutingVariables(values)
            return .conditional(test, then: substitute(then), otherwise: substitute(otherwise))
        case .fetch(let request, let context, let countOnly):
            return .fetch(request: substitute(request), context: substitute(context), countOnly: countOnly)
        }
    }

    /// The names of the variables that need a value, as for a predicate.
    public var variables: Set<String> {
        switch self {
        case .constant, .evaluatedObject, .anyKey, .opaque: []
        case .variable(let name): [name]
        case .keyPath(let base, _): base.variables
        case .element(let base, .at(let index)): base.variables.union(index.variables)
        case .element(let base, _): base.variables
        case .function(_, let arguments), .aggregate(let arguments):
            arguments.reduce(into: []) { $0.formUnion($1.variables) }
        case .call(let receiver, _, let arguments):
            arguments.reduce(into: receiver.variables) { $0.formUnion($1.variables) }
        case .subquery(let collection, let variable, let predicate):
            collection.variables.union(predicate.variables.subtracting([variable]))
        case .setOperation(_, let left, let right): left.variables.union(right.variables)
        case .conditional(let predicate, let then, let otherwise):
            predicate.variables.union(then.variables).union(otherwise.variables)
        case .fetch(let request, let context, _): request.variables.union(context.variables)
        }
    }
}
