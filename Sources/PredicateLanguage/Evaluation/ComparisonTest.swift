/// Evaluates the operators: each is prepared with its right side once and then applied to any number of left sides.
enum ComparisonTest {
    /// Whether the comparison holds for a left side.
    typealias Test = (PredicateValue) throws -> Bool

    /// The test of a comparison's operator against a right side, ignoring the modifier.
    static func test(_ comparison: ComparisonNode, against right: PredicateValue) throws -> Test {
        let options = comparison.options
        switch comparison.operation {
        case .equalTo: return try equality(right, options)
        case .notEqualTo:
            let isEqual = try equality(right, options)
            return { !(try isEqual($0)) }
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
            let operation = comparison.operation
            return { try isOrdered($0, operation, right, options) }
        case .between: return try range(right, options)
        case .in: return try membership(in: right, options)
        case .contains: return try containment(of: right, options)
        case .beginsWith, .endsWith, .like, .matches: return try match(comparison.operation, right, options)
        case .customSelector(let selector):
            return { left in
                let result = try MethodCall.value(of: left, calling: selector, with: [right])
                return try !result.isNull && Arithmetic.double(result) != 0
            }
        }
    }

    // MARK: - Equality and order

    private static func equality(_ right: PredicateValue, _ options: ComparisonOptions) throws -> Test {
        guard case .string(let text) = right else { return { $0 == right } }
        let matcher = try StringMatcher(.equalTo, text, options: options)
        return { left in
            if case .string(let text) = left { try matcher.matches(text) } else { false }
        }
    }

    /// Whether the operator accepts the order of two values; nil has no order with any value.
    static func isOrdered(
        _ left: PredicateValue, _ operation: ComparisonOperator, _ right: PredicateValue, _ options: ComparisonOptions
    ) throws -> Bool {
        if left.isNull || right.isNull { return false }
        if !options.isEmpty, case .string(let left) = left, case .string(let right) = right {
            return accepts(StringFolding.order(left, right, options: options), operation)
        }
        guard let order = PredicateValue.order(left, right) else {
            throw PredicateEvaluationError(.typeMismatch, "There is no order between \(left.kind) and \(right.kind).")
        }
        return accepts(order, operation)
    }

    private static func accepts(_ order: Order, _ operation: ComparisonOperator) -> Bool {
        switch operation {
        case .lessThan: order == .ascending
        case .lessThanOrEqualTo: order == .ascending || order == .same
        case .greaterThan: order == .descending
        case .greaterThanOrEqualTo: order == .descending || order == .same
        default: false
        }
    }

    private static func range(_ right: PredicateValue, _ options: ComparisonOptions) throws -> Test {
        guard case .collection(let bounds, _) = right, bounds.count == 2 else {
            throw PredicateEvaluationError(
                .typeMismatch, "BETWEEN needs a collection of two bounds, found \(right.kind).")
        }
        return { left in
            try isOrdered(left, .greaterThanOrEqualTo, bounds[0], options)
                && isOrdered(left, .lessThanOrEqualTo, bounds[1], options)
        }
    }

    // MARK: - Collections and pieces of text

    private static func membership(in right: PredicateValue, _ options: ComparisonOptions) throws -> Test {
        switch right {
        case .null: return { _ in false }
        case .string(let text):
            return { left in
                if left.isNull { return false }
                guard case .string(let piece) = left else {
                    throw PredicateEvaluationError(.typeMismatch, "\(left.kind) cannot be searched for in a string.")
                }
                return try StringMatcher(.contains, piece, options: options).matches(text)
            }
        case .collection(let elements, _):
            let folded = { fold($0, options) }
            let set = Set(elements.map(folded))
            return { set.contains(folded($0)) }
        case .object(let subject):
            if let dictionary = subject as? [AnyHashable: Any] {
                let set = Set(dictionary.values.map { PredicateValue($0) })
                return { set.contains($0) }
            }
        default: break
        }
        throw PredicateEvaluationError(.typeMismatch, "IN needs a collection or a string, found \(right.kind).")
    }

    private static func containment(of right: PredicateValue, _ options: ComparisonOptions) throws -> Test {
        var matcher: StringMatcher?
        if case .string(let piece) = right { matcher = try StringMatcher(.contains, piece, options: options) }
        let element = fold(right, options)
        return { left in
            switch left {
            case .null: return false
            case .collection(let elements, _): return elements.contains { fold($0, options) == element }
            case .string(let text):
                if let matcher { return try matcher.matches(text) }
                if right.isNull { return false }
                throw PredicateEvaluationError(.typeMismatch, "\(right.kind) cannot be searched for in a string.")
            default:
                throw PredicateEvaluationError(
                    .typeMismatch, "CONTAINS needs a collection or a string, found \(left.kind).")
            }
        }
    }

    private static func fold(_ value: PredicateValue, _ options: ComparisonOptions) -> PredicateValue {
        guard !options.isEmpty, case .string(let text) = value else { return value }
        return .string(StringFolding.fold(text, options: options))
    }

    private static func match(
        _ operation: ComparisonOperator, _ right: PredicateValue, _ options: ComparisonOptions
    ) throws -> Test {
        if right.isNull { return { _ in false } }
        guard case .string(let pattern) = right else {
            throw PredicateEvaluationError(.typeMismatch, "\(operation.symbol) needs a string, found \(right.kind).")
        }
        let matcher = try StringMatcher(operation, pattern, options: options)
        return { left in
            switch left {
            case .string(let text): return try matcher.matches(text)
            case .null: return false
            default:
                throw PredicateEvaluationError(.typeMismatch, "\(operation.symbol) needs a string, found \(left.kind).")
            }
        }
    }
}
