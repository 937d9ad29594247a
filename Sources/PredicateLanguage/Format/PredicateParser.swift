/// Parses the format language of predicates and expressions.
public enum PredicateParser {
    /// The maximum nesting depth of parentheses, arguments, negations and chained operators. A deeper format is an
    /// error rather than a stack overflow, here and in everything that traverses the tree afterwards; 2 MB of stack are
    /// enough for all levels even in a debug build. `AND` and `OR` chains are flat.
    public static let depthLimit = 200

    /// Parses a predicate, such as `age > %d AND name BEGINSWITH[cd] %@`. Cost: proportional to the length of the
    /// format; if it was parsed before with other arguments, that of a copy of the tree.
    ///
    /// - Parameter arguments: the values of the conversions `%@ %K %d …` in their order. Besides plain values, `%@`
    ///   takes an ``ExpressionNode`` or a ``PredicateNode`` and inserts it into the tree.
    /// - Throws: ``PredicateSyntaxError``.
    public static func parse(_ format: String, arguments: [Any?] = []) throws -> PredicateNode {
        if let tree = FormatTemplates.shared.tree(of: format, arguments: arguments) { return tree }
        var parser = try FormatParser(format, arguments: arguments)
        return try parser.wholePredicate()
    }

    /// Parses an expression, such as `pages.@count`, `now()` or `canonical:(name)`.
    ///
    /// - Throws: ``PredicateSyntaxError``.
    public static func parseExpression(_ format: String, arguments: [Any?] = []) throws -> ExpressionNode {
        var parser = try FormatParser(format, arguments: arguments)
        return try parser.wholeExpression()
    }
}
