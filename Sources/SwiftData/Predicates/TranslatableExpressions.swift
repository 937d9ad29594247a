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
}

extension PredicateExpressions.Value: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        Term(unwrapped(value).map { .constant($0) } ?? .null)
    }
}

extension PredicateExpressions.NilLiteral: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term { Term(.null) }
}

// MARK: - Logic

extension PredicateExpressions.Conjunction: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        Term(
            .condition(
                .and([try translation.condition(lhs), try translation.condition(rhs)]),
                negated: .or([
                    try translation.condition(lhs, negated: true), try translation.condition(rhs, negated: true),
                ])))
    }
}

extension PredicateExpressions.Disjunction: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        Term(
            .condition(
                .or([try translation.condition(lhs), try translation.condition(rhs)]),
                negated: .and([
                    try translation.condition(lhs, negated: true), try translation.condition(rhs, negated: true),
                ])))
    }
}

extension PredicateExpressions.Negation: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        Term(
            .condition(
                try translation.condition(wrapped, negated: true), negated: try translation.condition(wrapped)))
    }
}

extension PredicateExpressions.Conditional: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        let (holds, fails) = (try translation.condition(test), try translation.condition(test, negated: true))
        return Term(
            cases: try translation.term(trueBranch).cases.map { ([holds] + $0.guards, $0.leaf) }
                + translation.term(falseBranch).cases.map { ([fails] + $0.guards, $0.leaf) })
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
        try comparison(translation.term(lhs), translation.term(rhs)) { try Comparison.equal($0, $1, negated: $2) }
    }
}

extension PredicateExpressions.NotEqual: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        try comparison(translation.term(lhs), translation.term(rhs)) { try Comparison.equal($0, $1, negated: !$2) }
    }
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
        return try comparison(translation.term(lhs), translation.term(rhs)) {
            try SwiftData.Comparison.ordered($0, operation, $1, negated: $2)
        }
    }
}

extension PredicateExpressions.RangeExpressionContains: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        let bounds = try RangeBounds(range, translation)
        return try translation.term(element).flatMap { element in
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
}

/// The bounds of a range that a predicate builds or captures.
private struct RangeBounds {
    let lower: Term
    let upper: Term
    let isClosed: Bool

    init(_ range: Any, _ translation: Translation) throws {
        if let built = range as? any BuiltRange {
            (lower, upper) = (try translation.term(built.lowerPart), try translation.term(built.upperPart))
            isClosed = built.isClosed
        } else if let captured = try translation.term(range).cases.first?.leaf, case .constant(let value) = captured,
            let range = value as? any CapturedRange
        {
            (lower, upper, isClosed) = (
                Term(.constant(range.lowerValue)), Term(.constant(range.upperValue)), range.isClosed
            )
        } else {
            throw Untranslatable(node: "A range of this kind")
        }
    }
}

private protocol BuiltRange {
    var lowerPart: Any { get }
    var upperPart: Any { get }
    var isClosed: Bool { get }
}

extension PredicateExpressions.ClosedRange: BuiltRange {
    var lowerPart: Any { lower }
    var upperPart: Any { upper }
    var isClosed: Bool { true }
}

extension PredicateExpressions.Range: BuiltRange {
    var lowerPart: Any { lower }
    var upperPart: Any { upper }
    var isClosed: Bool { false }
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
    func term(_ translation: Translation) throws -> Term { try translation.term(inner) }
}

extension PredicateExpressions.NilCoalesce: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        try translation.term(lhs).flatMap { leaf in
            switch leaf {
            case .null: return try translation.term(rhs)
            case .constant, .condition, .models: return Term(leaf)
            default:
                guard leaf.canBeNull else { return Term(leaf) }
                let (isThere, isMissing) = (
                    try SwiftData.Comparison.isNotNull(leaf), try SwiftData.Comparison.isNull(leaf)
                )
                return Term(
                    cases: [([isThere], leaf.withoutNull)]
                        + (try translation.term(rhs).cases.map { ([isMissing] + $0.guards, $0.leaf) }))
            }
        }
    }
}

extension PredicateExpressions.OptionalFlatMap: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        try translation.term(wrapped).flatMap { leaf in
            if case .null = leaf { return Term(.null) }
            let inner = try translation.binding(variable.key, to: Term(leaf.withoutNull)).term(transform)
            guard leaf.canBeNull else { return inner }
            let (isThere, isMissing) = (try SwiftData.Comparison.isNotNull(leaf), try SwiftData.Comparison.isNull(leaf))
            return Term(cases: inner.cases.map { ([isThere] + $0.guards, $0.leaf) } + [([isMissing], .null)])
        }
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

extension PredicateExpressions.Arithmetic: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        let selector =
            switch op {
            case .add: "add:to:"
            case .subtract: "from:subtract:"
            case .multiply: "multiply:by:"
            @unknown default: throw Untranslatable(node: "This operator")
            }
        return try translation.term(lhs).flatMap { one in
            try translation.term(rhs).flatMap { other in
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
}

extension PredicateExpressions.UnaryMinus: TranslatableExpression {
    func term(_ translation: Translation) throws -> Term {
        try translation.term(wrapped).flatMap { leaf in
            let operand = try SwiftData.Comparison.operand(leaf, for: nil)
            let expression = ExpressionNode.function(
                "from:subtract:", arguments: [.constant(value: 0), operand.expression])
            return Term(.value(Operand(expression: expression, canBeNull: operand.canBeNull)))
        }
    }
}
