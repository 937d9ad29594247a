/// Compiles a tree to closures: values that are the same for all subjects are computed once. Expressions are in an
/// extension.
struct PredicateCompiler {
    /// Whether a predicate holds.
    typealias Test = (EvaluationScope) throws -> Bool
    /// The value of an expression.
    typealias Read = (EvaluationScope) throws -> PredicateValue

    private var depth = 0

    mutating func compile(_ predicate: PredicateNode) throws -> Test {
        try descend { compiler in
            switch predicate {
            case .constant(let value): return { _ in value }
            case .comparison(let comparison): return try compiler.compile(comparison)
            case .not(let part):
                let test = try compiler.compile(part)
                return { try !test($0) }
            case .and(let parts):
                let tests = try parts.map { try compiler.compile($0) }
                return { scope in try tests.allSatisfy { try $0(scope) } }
            case .or(let parts):
                let tests = try parts.map { try compiler.compile($0) }
                return { scope in try tests.contains { try $0(scope) } }
            case .opaque(let predicate):
                return { try predicate.evaluate(with: $0.subject.value, variables: $0.plainVariables) }
            }
        }
    }

    private mutating func compile(_ comparison: ComparisonNode) throws -> Test {
        let test: Test
        do { test = try compileSides(of: comparison) } catch { throw PredicateCompiler.placed(error, in: comparison) }
        return { scope in
            do { return try test(scope) } catch { throw PredicateCompiler.placed(error, in: comparison) }
        }
    }

    private mutating func compileSides(of comparison: ComparisonNode) throws -> Test {
        let left = try compile(comparison.left)
        if let right = comparison.right.constantValue {
            let test = try quantified(comparison, ComparisonTest.test(comparison, against: right))
            return { try test(left($0)) }
        }
        return try compile(comparison, left, compile(comparison.right))
    }

    private func compile(_ comparison: ComparisonNode, _ left: @escaping Read, _ right: @escaping Read) throws -> Test {
        // Equality and order need no preparation, and direct comparisons are by far the most frequent.
        if comparison.modifier == .direct, comparison.options.isEmpty {
            let operation = comparison.operation
            switch operation {
            case .equalTo: return { try left($0) == right($0) }
            case .notEqualTo: return { try left($0) != right($0) }
            case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
                return { try ComparisonTest.isOrdered(left($0), operation, right($0), []) }
            default: break
            }
        }
        return { scope in
            let test = try ComparisonTest.test(comparison, against: right(scope))
            return try quantified(comparison, test)(left(scope))
        }
    }

    /// The test of the left side, composed of tests of single values: for the value itself, for every element, or for at
    /// least one.
    private func quantified(
        _ comparison: ComparisonNode, _ test: @escaping ComparisonTest.Test
    ) -> ComparisonTest.Test {
        switch comparison.modifier {
        case .direct: test
        case .any: { try PredicateCompiler.elements(of: $0).contains(where: test) }
        case .all: { try PredicateCompiler.elements(of: $0).allSatisfy(test) }
        }
    }

    /// The elements that ANY and ALL iterate over: none for nil, and the value itself for a single value.
    private static func elements(of value: PredicateValue) -> [PredicateValue] {
        switch value {
        case .collection(let elements, _): elements
        case .null: []
        default: [value]
        }
    }

    /// The error with the text of the comparison, if it has no place yet.
    private static func placed(_ error: any Error, in comparison: ComparisonNode) -> any Error {
        guard var placed = error as? PredicateEvaluationError, placed.place.isEmpty else { return error }
        placed.place = comparison.predicateFormat
        return placed
    }

    /// Compiles a part of the tree one level deeper, and throws beyond the depth limit.
    mutating func descend<Result>(_ body: (inout PredicateCompiler) throws -> Result) throws -> Result {
        depth += 1
        defer { depth -= 1 }
        if depth > PredicateEvaluator.depthLimit {
            throw PredicateEvaluationError(
                .tooDeep, "The predicate is deeper than \(PredicateEvaluator.depthLimit) levels.")
        }
        return try body(&self)
    }
}
