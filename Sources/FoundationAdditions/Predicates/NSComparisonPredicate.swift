import Foundation
import PredicateLanguage

/// Two expressions and the operator between them.
open class NSComparisonPredicate: NSPredicate {
    internal final let comparison: ComparisonNode

    internal init(_ comparison: ComparisonNode) {
        self.comparison = comparison
        super.init(stating: .comparison(comparison))
    }

    /// Creates a comparison of two expressions.
    public init(
        leftExpression lhs: NSExpression, rightExpression rhs: NSExpression, modifier: Modifier, type: Operator,
        options: Options = []
    ) {
        // A custom selector has no name here, so no value has the method.
        let operation = ComparisonOperator(number: type.rawValue, selector: "")
        comparison = ComparisonNode(
            lhs.node, operation ?? .equalTo, rhs.node, modifier: ComparisonModifier(modifier),
            options: ComparisonOptions(rawValue: options.rawValue))
        super.init(stating: .comparison(comparison))
    }

    /// Creates a comparison by a method of the left value, which takes the right value.
    public init(
        leftExpression lhs: NSExpression, rightExpression rhs: NSExpression, customSelector selector: Selector
    ) {
        comparison = ComparisonNode(lhs.node, .customSelector(selector.name), rhs.node)
        super.init(stating: .comparison(comparison))
    }

    /// Reads a comparison from an archive; nil if the archive contains none.
    public required init?(coder: NSCoder) {
        guard let format = PredicateCoding.format(in: coder),
            case .comparison(let comparison)? = try? PredicateParser.parse(format)
        else { return nil }
        self.comparison = comparison
        super.init(stating: .comparison(comparison))
    }

    /// How the two sides are compared.
    open var predicateOperatorType: Operator { Operator(rawValue: comparison.operation.number) ?? .customSelector }

    /// Whether the left side itself is compared, or its elements.
    open var comparisonPredicateModifier: Modifier {
        switch comparison.modifier {
        case .direct: .direct
        case .all: .all
        case .any: .any
        }
    }

    /// The expression before the operator.
    open var leftExpression: NSExpression { NSExpression.expression(stating: comparison.left) }

    /// The expression after the operator.
    open var rightExpression: NSExpression { NSExpression.expression(stating: comparison.right) }

    /// How strings are compared.
    open var options: Options { Options(rawValue: comparison.options.rawValue) }

    /// The method that compares, or nil for an operator.
    open var customSelector: Selector? {
        if case .customSelector(let name) = comparison.operation { Selector(name) } else { nil }
    }
}

extension NSComparisonPredicate {
    /// How strings are compared.
    public struct Options: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// `[c]`: case-insensitive.
        public static let caseInsensitive = Options(rawValue: 1)
        /// `[d]`: diacritic-insensitive.
        public static let diacriticInsensitive = Options(rawValue: 2)
        /// `[n]`: the strings are assumed to be normalised.
        public static let normalized = Options(rawValue: 4)
    }

    /// Whether a comparison takes its left side as one value or element by element.
    public enum Modifier: UInt, Sendable {
        /// The left side itself.
        case direct
        /// Every element of the left side.
        case all
        /// At least one element of the left side.
        case any
    }

    /// How two sides are compared.
    public enum Operator: UInt, Sendable {
        /// `<`
        case lessThan = 0
        /// `<=`
        case lessThanOrEqualTo = 1
        /// `>`
        case greaterThan = 2
        /// `>=`
        case greaterThanOrEqualTo = 3
        /// `==`
        case equalTo = 4
        /// `!=`
        case notEqualTo = 5
        /// The whole left string matches the regular expression on the right.
        case matches = 6
        /// The whole left string matches the pattern on the right, with `*` and `?`.
        case like = 7
        /// `BEGINSWITH`
        case beginsWith = 8
        /// `ENDSWITH`
        case endsWith = 9
        /// The left value is an element or a substring of the right one.
        case `in` = 10
        /// The result of a method of the left value.
        case customSelector = 11
        /// The right value is an element or a substring of the left one.
        case contains = 99
        /// The left value is between the two elements of the right one.
        case between = 100
    }
}

extension ComparisonModifier {
    fileprivate init(_ modifier: NSComparisonPredicate.Modifier) {
        switch modifier {
        case .direct: self = .direct
        case .all: self = .all
        case .any: self = .any
        }
    }
}
