extension PredicateNode {
    /// Every key path that starts at the evaluated object, each once, in the order of appearance.
    ///
    /// The variable of a `SUBQUERY` represents the elements of its collection: `SUBQUERY(items, $i, $i.price > 3)` has
    /// the key paths `items` and `items.price`. Collection operators are omitted: `items.@sum.price` is `items.price`.
    public var keyPaths: [[String]] {
        var collector = KeyPathCollector()
        collector.visit(self)
        return collector.found
    }
}

extension ExpressionNode {
    /// Every key path that starts at the evaluated object, as for a predicate.
    public var keyPaths: [[String]] {
        var collector = KeyPathCollector()
        collector.visit(self)
        return collector.found
    }
}

private struct KeyPathCollector {
    var found: [[String]] = []
    /// The key paths of the variables of the enclosing subqueries; nil for a collection that is not a key path.
    private var variables: [String: [String]?] = [:]

    mutating func visit(_ predicate: PredicateNode) {
        switch predicate {
        case .constant, .opaque: break
        case .comparison(let comparison):
            visit(comparison.left)
            visit(comparison.right)
        case .and(let parts), .or(let parts):
            for part in parts { visit(part) }
        case .not(let part): visit(part)
        }
    }

    mutating func visit(_ expression: ExpressionNode) {
        if let path = path(of: expression) {
            if !path.isEmpty, !found.contains(path) { found.append(path) }
            // An index may contain key paths of its own.
            if case .keyPath(let base, _) = expression { visitIndices(of: base) }
            if case .element = expression { visitIndices(of: expression) }
            return
        }
        switch expression {
        case .constant, .evaluatedObject, .variable, .anyKey, .opaque: break
        case .keyPath(let base, _): visit(base)
        case .element(let base, let index):
            visit(base)
            if case .at(let expression) = index { visit(expression) }
        case .function(_, let arguments), .aggregate(let arguments):
            for argument in arguments { visit(argument) }
        case .call(let receiver, _, let arguments):
            for part in [receiver] + arguments { visit(part) }
        case .subquery(let collection, let variable, let predicate):
            visit(collection)
            let outer = variables
            variables[variable] = .some(path(of: collection))
            visit(predicate)
            variables = outer
        case .setOperation(_, let left, let right):
            visit(left)
            visit(right)
        case .conditional(let predicate, let then, let otherwise):
            visit(predicate)
            visit(then)
            visit(otherwise)
        case .fetch(let request, let context, _):
            visit(request)
            visit(context)
        }
    }

    private mutating func visitIndices(of expression: ExpressionNode) {
        guard case .element(let base, let index) = expression else { return }
        if case .at(let expression) = index { visit(expression) }
        visitIndices(of: base)
    }

    /// The keys from the evaluated object to the value of an expression; nil when the expression does not start there.
    private func path(of expression: ExpressionNode) -> [String]? {
        switch expression {
        case .evaluatedObject: []
        case .variable(let name): variables[name] ?? nil
        case .keyPath(let base, let keys): path(of: base).map { $0 + keys.filter { !$0.hasPrefix("@") } }
        case .element(let base, _): path(of: base)
        default: nil
        }
    }
}

/// One of several values that an attribute must have for a predicate to hold.
package struct RequiredValue {
    package let key: String
    package let values: [PredicateValue]

    /// What the comparisons of a conjunction for equality, and with lists, require.
    package static func all(of node: PredicateNode) -> [RequiredValue] {
        switch node {
        case .and(let parts): parts.flatMap(all)
        case .comparison(let comparison): RequiredValue(comparison).map { [$0] } ?? []
        case .constant, .or, .not, .opaque: []
        }
    }

    private init?(_ comparison: ComparisonNode) {
        guard comparison.modifier == .direct, comparison.options.isEmpty else { return nil }
        switch comparison.operation {
        case .equalTo:
            if let key = comparison.left.attributeKey, let value = comparison.right.constantValue {
                self.init(key: key, values: [value])
            } else if let key = comparison.right.attributeKey, let value = comparison.left.constantValue {
                self.init(key: key, values: [value])
            } else {
                return nil
            }
        case .in:
            guard let key = comparison.left.attributeKey,
                case .collection(let values, _)? = comparison.right.constantValue
            else { return nil }
            self.init(key: key, values: values)
        default: return nil
        }
    }

    private init(key: String, values: [PredicateValue]) {
        self.key = key
        self.values = values
    }
}

extension ExpressionNode {
    /// The key of a property of the evaluated object.
    fileprivate var attributeKey: String? {
        guard case .keyPath(base: .evaluatedObject, let keys) = self, keys.count == 1 else { return nil }
        return keys[0]
    }
}
