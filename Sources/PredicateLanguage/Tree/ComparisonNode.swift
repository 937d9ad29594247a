/// Two expressions and the operator between them: the content of an `NSComparisonPredicate`.
public struct ComparisonNode: Sendable, Equatable {
    /// The expression before the operator.
    public var left: ExpressionNode
    /// How the two sides are compared.
    public var operation: ComparisonOperator
    /// The expression after the operator.
    public var right: ExpressionNode
    /// Whether the left side itself is compared, or its elements.
    public var modifier: ComparisonModifier
    /// How strings are compared: the letters in brackets after the operator.
    public var options: ComparisonOptions

    /// Creates a comparison; by default direct and without options.
    public init(
        _ left: ExpressionNode,
        _ operation: ComparisonOperator,
        _ right: ExpressionNode,
        modifier: ComparisonModifier = .direct,
        options: ComparisonOptions = []
    ) {
        self.left = left
        self.operation = operation
        self.right = right
        self.modifier = modifier
        self.options = options
    }
}

/// Whether a comparison takes its left side as one value or element by element. `NONE` is the negation of `any`.
public enum ComparisonModifier: UInt, Sendable, Hashable, CaseIterable {
    /// The left side itself.
    case direct = 0
    /// Every element of the left side; true when there is none.
    case all = 1
    /// At least one element of the left side.
    case any = 2
}

/// How strings are compared. The raw values are those of `NSComparisonPredicate.Options`.
public struct ComparisonOptions: OptionSet, Sendable, Hashable {
    public let rawValue: UInt

    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// `[c]`: case-insensitive.
    public static let caseInsensitive = ComparisonOptions(rawValue: 1)
    /// `[d]`: diacritic-insensitive.
    public static let diacriticInsensitive = ComparisonOptions(rawValue: 2)
    /// `[n]`: the strings are assumed to be normalised, and compared by their code points.
    public static let normalized = ComparisonOptions(rawValue: 4)
    /// `[l]`: order and equality are those of the current locale.
    public static let localeSensitive = ComparisonOptions(rawValue: 8)
}
