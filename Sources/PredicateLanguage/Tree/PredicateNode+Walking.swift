/// A node of a tree: a predicate or an expression.
public enum PredicateTreeNode {
    case predicate(PredicateNode)
    case expression(ExpressionNode)
}

extension PredicateNode {
    /// Visits this node and its descendants in preorder, from left to right.
    public func walk(_ visit: (PredicateTreeNode) throws -> Void) rethrows {
        try visit(.predicate(self))
        switch self {
        case .constant, .opaque: break
        case .comparison(let comparison):
            try comparison.left.walk(visit)
            try comparison.right.walk(visit)
        case .and(let parts), .or(let parts):
            for part in parts { try part.walk(visit) }
        case .not(let part): try part.walk(visit)
        }
    }

    /// The tree with every expression replaced by the result of the function, children first.
    public func mapExpressions(
        _ transform: (ExpressionNode) throws -> ExpressionNode
    ) rethrows -> PredicateNode {
        try map(predicates: { $0 }, expressions: transform)
    }

    /// The tree with every predicate and every expression replaced by the results of the functions, children first.
    public func map(
        predicates: (PredicateNode) throws -> PredicateNode,
        expressions: (ExpressionNode) throws -> ExpressionNode
    ) rethrows -> PredicateNode {
        switch self {
        case .constant, .opaque: return try predicates(self)
        case .comparison(var comparison):
            comparison.left = try comparison.left.map(predicates: predicates, expressions: expressions)
            comparison.right = try comparison.right.map(predicates: predicates, expressions: expressions)
            return try predicates(.comparison(comparison))
        case .and(let parts):
            return try predicates(.and(parts.map { try $0.map(predicates: predicates, expressions: expressions) }))
        case .or(let parts):
            return try predicates(.or(parts.map { try $0.map(predicates: predicates, expressions: expressions) }))
        case .not(let part):
            return try predicates(.not(part.map(predicates: predicates, expressions: expressions)))
        }
    }
}

extension ExpressionNode {
    /// Visits this node and its descendants in preorder, from left to right.
    public func walk(_ visit: (PredicateTreeNode) throws -> Void) rethrows {
        try visit(.expression(self))
        switch self {
        case .constant, .evaluatedObject, .variable, .anyKey, .opaque: break
        case .keyPath(let base, _): try base.walk(visit)
        case .element(let base, let index):
            try base.walk(visit)
            if case .at(let expression) = index { try expression.walk(visit) }
        case .function(_, let arguments), .aggregate(let arguments):
            for argument in arguments { try argument.walk(visit) }
        case .call(let receiver, _, let arguments):
            for part in [receiver] + arguments { try part.walk(visit) }
        case .subquery(let collection, _, let predicate):
            try collection.walk(visit)
            try predicate.walk(visit)
        case .setOperation(_, let left, let right):
            try left.walk(visit)
            try right.walk(visit)
        case .conditional(let predicate, let then, let otherwise):
            try predicate.walk(visit)
            try then.walk(visit)
            try otherwise.walk(visit)
        case .fetch(let request, let context, _):
            try request.walk(visit)
            try context.walk(visit)
        }
    }

    /// The tree with every expression replaced by the result of the function, children first.
    public func mapExpressions(
        _ transform: (ExpressionNode) throws -> ExpressionNode
    ) rethrows -> ExpressionNode {
        try map(predicates: { $0 }, expressions: transform)
    }

    /// The tree with every predicate and every expression replaced by the results of the functions, children first.
    public func map(
        predicates: (PredicateNode) throws -> PredicateNode,
        expressions: (ExpressionNode) throws -> ExpressionNode
    ) rethrows -> ExpressionNode {
        switch self {
        case .constant, .evaluatedObject, .variable, .anyKey, .opaque: return try expressions(self)
        case .keyPath(let base, let keys):
            return try expressions(.keyPath(base: base.map(predicates, expressions), keys: keys))
        case .element(let base, .at(let index)):
            return try expressions(
                .element(of: base.map(predicates, expressions), .at(index.map(predicates, expressions))))
        case .element(let base, let index):
            return try expressions(.element(of: base.map(predicates, expressions), index))
        case .function(let name, let arguments):
            return try expressions(.function(name, arguments: arguments.map { try $0.map(predicates, expressions) }))
        case .aggregate(let elements):
            return try expressions(.aggregate(elements.map { try $0.map(predicates, expressions) }))
        case .call(let receiver, let selector, let arguments):
            return try expressions(
                .call(
                    receiver: receiver.map(predicates, expressions), selector: selector,
                    arguments: arguments.map { try $0.map(predicates, expressions) }))
        case .subquery(let collection, let variable, let predicate):
            let inner = try predicate.map(predicates: predicates, expressions: expressions)
            return try expressions(
                .subquery(collection: collection.map(predicates, expressions), variable: variable, predicate: inner))
        case .setOperation(let operation, let left, let right):
            return try expressions(
                .setOperation(operation, left.map(predicates, expressions), right.map(predicates, expressions)))
        case .conditional(let predicate, let then, let otherwise):
            let test = try predicate.map(predicates: predicates, expressions: expressions)
            return try expressions(
                .conditional(
                    test, then: then.map(predicates, expressions), otherwise: otherwise.map(predicates, expressions)))
        case .fetch(let request, let context, let countOnly):
            return try expressions(
                .fetch(
                    request: request.map(predicates, expressions), context: context.map(predicates, expressions),
                    countOnly: countOnly))
        }
    }

    /// The same without argument labels, for the calls above.
    private func map(
        _ predicates: (PredicateNode) throws -> PredicateNode, _ expressions: (ExpressionNode) throws -> ExpressionNode
    ) rethrows -> ExpressionNode {
        try map(predicates: predicates, expressions: expressions)
    }
}
