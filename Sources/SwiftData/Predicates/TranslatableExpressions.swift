import Foundation
import PredicateLanguage

// Each node of Foundation's predicates that has a form in the engine's language.

extension PredicateExpressions.Variable: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        guard let term = translation.variables[key] else {
            throw Untranslatable(node: "A variable of another predicate")
        }
        return term
    }

    func read(_ reader: inout PredicateReader, at place: NodePlace) { reader.add(key) }
}

extension PredicateExpressions.Value: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        translation.captured(value)
    }

    var isCaptured: Bool { true }
    var capturedValue: Any? { value }

    func read(_ reader: inout PredicateReader, at place: NodePlace) { reader.add(captured: value, at: place) }
}

extension PredicateExpressions.NilLiteral: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term { Term(.null) }
    func read(_ reader: inout PredicateReader, at place: NodePlace) {}
}

// MARK: - Logic

extension PredicateExpressions.Conjunction: TranslatableExpression {
    var conjuncts: (left: Any, right: Any)? { (lhs, rhs) }

    func term(_ translation: Translation) throws -> Term {
        let (one, other) = (try translation.test(lhs, 0), try translation.test(rhs, 1))
        return Term(
            .condition(.and([one.holds, other.holds]), negated: .or([one.fails, other.fails])))
    }

    func read(_ reader: inout PredicateReader, at place: NodePlace) { reader.read(lhs, rhs, at: place) }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        let (one, other) = (try translation.test(lhs, 0), try translation.test(rhs, 1))
        return Term(
            .condition(.or([one.holds, other.holds]), negated: .and([one.fails, other.fails])))
    }

    func read(_ reader: inout PredicateReader, at place: NodePlace) { reader.read(lhs, rhs, at: place) }
}

extension PredicateExpressions.Negation: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        let test = try translation.test(wrapped, 0)
        return Term(.condition(test.fails, negated: test.holds))
    }

    func read(_ reader: inout PredicateReader, at place: NodePlace) { reader.read(wrapped, at: place.part(0)) }
}

extension PredicateExpressions.Conditional: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        let (holds, fails) = try translation.test(test, 0)
        return Term(
            cases: try translation.term(trueBranch, 1).cases.map { ([holds] + $0.guards, $0.leaf) }
                + translation.term(falseBranch, 2).cases.map { ([fails] + $0.guards, $0.leaf) })
    }

    func read(_ reader: inout PredicateReader, at place: NodePlace) {
        reader.read(test, trueBranch, at: place)
        reader.read(falseBranch, at: place.part(2))
    }
}

// MARK: - Comparisons

/// The condition of two terms and its negation.
private func comparison(
    _ left: Term, _ right: Term, _ test: (Leaf, Leaf, Bool) throws -> PredicateNode
) throws -> Term {
    try left.flatMap { one in
        try right.flatMap { other in
            Term(.condition(try test(one, other, false), negated: try test(one, other, true)))
        }
    }
}

extension PredicateExpressions.Equal: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        try comparison(translation.term(lhs, 0), translation.term(rhs, 1)) {
            try SwiftData.Comparison.equal($0, $1, negated: $2)
        }
    }

    func read(_ reader: inout PredicateReader, at place: NodePlace) { reader.read(lhs, rhs, at: place) }
}

extension PredicateExpressions.NotEqual: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        try comparison(translation.term(lhs, 0), translation.term(rhs, 1)) {
            try SwiftData.Comparison.equal($0, $1, negated: !$2)
        }
    }

    func read(_ reader: inout PredicateReader, at place: NodePlace) { reader.read(lhs, rhs, at: place) }
}

extension PredicateExpressions.Comparison: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        let operation: ComparisonOperator =
            switch op {
            case .lessThan: .lessThan
            case .lessThanOrEqual: .lessThanOrEqualTo
            case .greaterThan: .greaterThan
            case .greaterThanOrEqual: .greaterThanOrEqualTo
            @unknown default: throw Untranslatable(node: "This comparison")
            }
        return try comparison(translation.term(lhs, 0), translation.term(rhs, 1)) {
            try SwiftData.Comparison.ordered($0, operation, $1, negated: $2)
        }
    }

    func read(_ reader: inout PredicateReader, at place: NodePlace) {
        let number: UInt =
            switch op {
            case .lessThan: 0
            case .lessThanOrEqual: 1
            case .greaterThan: 2
            case .greaterThanOrEqual: 3
            @unknown default: 4
            }
        reader.add(operator: number)
        reader.read(lhs, rhs, at: place)
    }
}

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        let bounds = try RangeBounds(range, translation.part(0))
        return try translation.term(element, 1).flatMap { element in
            try bounds.lower.flatMap { lower in
                try bounds.upper.flatMap { upper in
                    let upperTest: ComparisonOperator = bounds.isClosed ? .lessThanOrEqualTo : .lessThan
                    func test(_ negated: Bool) throws -> PredicateNode {
                        let parts = [
                            try SwiftData.Comparison.ordered(element, .greaterThanOrEqualTo, lower, negated: negated),
                            try SwiftData.Comparison.ordered(element, upperTest, upper, negated: negated),
                        ]
                        return negated ? .or(parts) : .and(parts)
                    }
                    return Term(.condition(try test(false), negated: try test(true)))
                }
            }
        }
    }

    func read(_ reader: inout PredicateReader, at place: NodePlace) { reader.read(range, element, at: place) }
}

/// The bounds of a range that a predicate builds or captures.
private struct RangeBounds {
    let lower: Term
    let upper: Term
    let isClosed: Bool

    init(_ range: Any, _ translation: Translation) throws {
        if let built = (range as? any TranslatableExpression)?.builtRange {
            (lower, upper) = (try translation.term(built.lowerPart, 0), try translation.term(built.upperPart, 1))
            isClosed = built.isClosed
        } else if case let cases = try translation.term(range).cases, cases.count == 1, cases[0].guards.isEmpty,
            case .constant(let captured) = cases[0].leaf, let range = captured.value as? any CapturedRange
        {
            isClosed = range.isClosed
            lower = Term(.constant(captured.derived { ($0 as? any CapturedRange)?.lowerValue ?? $0 }))
            upper = Term(.constant(captured.derived { ($0 as? any CapturedRange)?.upperValue ?? $0 }))
        } else {
            throw Untranslatable(node: "A range of this kind")
        }
    }
}

/// The node of a range with its bounds.
protocol BuiltRange: PartialExpression {
    var lowerPart: Any { get }
    var upperPart: Any { get }
    var isClosed: Bool { get }
}

extension BuiltRange {
    var builtRange: (any BuiltRange)? { self }
}

extension PredicateExpressions.ClosedRange: BuiltRange {
    var lowerPart: Any { lower }
    var upperPart: Any { upper }
    var isClosed: Bool { true }
    func read(_ reader: inout PredicateReader, at place: NodePlace) { reader.read(lower, upper, at: place) }
}

extension PredicateExpressions.Range: BuiltRange {
    var lowerPart: Any { lower }
    var upperPart: Any { upper }
    var isClosed: Bool { false }
    func read(_ reader: inout PredicateReader, at place: NodePlace) { reader.read(lower, upper, at: place) }
}

private protocol CapturedRange {
    var lowerValue: Any { get }
    var upperValue: Any { get }
    var isClosed: Bool { get }
}

extension ClosedRange: CapturedRange {
    var lowerValue: Any { lowerBound }
    var upperValue: Any { upperBound }
    var isClosed: Bool { true }
}

extension Range: CapturedRange {
    var lowerValue: Any { lowerBound }
    var upperValue: Any { upperBound }
    var isClosed: Bool { false }
}

// MARK: - Optionals

extension PredicateExpressions.ForcedUnwrap: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term { try translation.term(inner, 0) }
    func read(_ reader: inout PredicateReader, at place: NodePlace) { reader.read(inner, at: place.part(0)) }
}

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        try translation.term(lhs, 0).flatMap { leaf in
            switch leaf {
            case .null: return try translation.term(rhs, 1)
            case .constant, .condition, .models: return Term(leaf)
            default:
                guard leaf.canBeNull else { return Term(leaf) }
                let (isThere, isMissing) = (
                    try SwiftData.Comparison.isNotNull(leaf), try SwiftData.Comparison.isNull(leaf)
                )
                return Term(
                    cases: [([isThere], leaf.withoutNull)]
                        + (try translation.term(rhs, 1).cases.map { ([isMissing] + $0.guards, $0.leaf) }))
            }
        }
    }

    func read(_ reader: inout PredicateReader, at place: NodePlace) { reader.read(lhs, rhs, at: place) }
}

extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        try translation.term(wrapped, 0).flatMap { leaf in
            if case .null = leaf { return Term(.null) }
            let inner = try translation.binding(variable.key, to: Term(leaf.withoutNull)).term(transform, 1)
            guard leaf.canBeNull else { return inner }
            let (isThere, isMissing) = (try SwiftData.Comparison.isNotNull(leaf), try SwiftData.Comparison.isNull(leaf))
            return Term(cases: inner.cases.map { ([isThere] + $0.guards, $0.leaf) } + [([isMissing], .null)])
        }
    }

    func read(_ reader: inout PredicateReader, at place: NodePlace) {
        reader.add(variable.key)
        reader.read(wrapped, transform, at: place)
    }
}

extension Leaf {
    var canBeNull: Bool {
        switch self {
        case .null: true
        case .value(let operand): operand.canBeNull
        case .model(_, _, let canBeNull), .composite(_, _, _, let canBeNull): canBeNull
        default: false
        }
    }

    /// The leaf where it is known not to be nil.
    var withoutNull: Leaf {
        switch self {
        case .value(let operand):
            .value(
                Operand(expression: operand.expression, canBeNull: false, form: operand.form, isText: operand.isText))
        case .model(let expression, let modelClass, _): .model(expression, modelClass, canBeNull: false)
        case .composite(let base, let path, let form, _):
            .composite(base: base, path: path, form: form, canBeNull: false)
        default: self
        }
    }
}

// MARK: - Arithmetic

/// Leaves arithmetic of `Decimal` and `Float` to Swift. SQL computes with doubles: 0.1 + 0.2 is not 0.3 there.
private func checkArithmetic(of type: Any.Type) throws {
    if type is Decimal.Type || type is Float.Type { throw Untranslatable(node: "Arithmetic of \(type)") }
}

extension PredicateExpressions.Arithmetic: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        try checkArithmetic(of: LHS.Output.self)
        let selector =
            switch op {
            case .add: "add:to:"
            case .subtract: "from:subtract:"
            case .multiply: "multiply:by:"
            @unknown default: throw Untranslatable(node: "This operator")
            }
        return try translation.term(lhs, 0).flatMap { one in
            try translation.term(rhs, 1).flatMap { other in
                let (left, right) = (
                    try SwiftData.Comparison.operand(one, for: other), try SwiftData.Comparison.operand(other, for: one)
                )
                return Term(
                    .value(
                        Operand(
                            expression: .function(selector, arguments: [left.expression, right.expression]),
                            canBeNull: left.canBeNull || right.canBeNull)))
            }
        }
    }

    func read(_ reader: inout PredicateReader, at place: NodePlace) {
        let number: UInt =
            switch op {
            case .add: 0
            case .subtract: 1
            case .multiply: 2
            @unknown default: 3
            }
        reader.add(operator: number)
        reader.read(lhs, rhs, at: place)
    }
}

extension PredicateExpressions.UnaryMinus: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        try checkArithmetic(of: Wrapped.Output.self)
        return try translation.term(wrapped, 0).flatMap { leaf in
            let operand = try SwiftData.Comparison.operand(leaf, for: nil)
            let expression = ExpressionNode.function(
                "from:subtract:", arguments: [.constant(value: 0), operand.expression])
            return Term(.value(Operand(expression: expression, canBeNull: operand.canBeNull)))
        }
    }

    func read(_ reader: inout PredicateReader, at place: NodePlace) { reader.read(wrapped, at: place.part(0)) }
}
