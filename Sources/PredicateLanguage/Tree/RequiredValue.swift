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
