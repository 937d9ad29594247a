/// Reads the format language of predicates and expressions.
public enum PredicateParser {
    /// How deep parentheses, arguments, negations and chained operators may nest. What goes deeper is an error rather
    /// than a full stack, here and in everything that walks the tree afterwards; 2 MB are enough for all of them even
    /// in a debug build. `AND` and `OR` chains are flat.
    public static let depthLimit = 200

    /// Reads a predicate, such as `age > %d AND name BEGINSWITH[cd] %@`. Time grows with the length of the format.
    ///
    /// - Parameter arguments: the values of the conversions `%@ %K %d …` in their order. Besides plain values, `%@`
    ///   takes an ``ExpressionNode`` or a ``PredicateNode`` and puts it where it stands.
    /// - Throws: ``PredicateSyntaxError``.
    public static func parse(_ format: String, arguments: [Any?] = []) throws -> PredicateNode {
        var parser = try FormatParser(format, arguments: arguments)
        return try parser.wholePredicate()
    }

    /// Reads an expression, such as `pages.@count`, `now()` or `canonical:(name)`.
    ///
    /// - Throws: ``PredicateSyntaxError``.
    public static func parseExpression(_ format: String, arguments: [Any?] = []) throws -> ExpressionNode {
        var parser = try FormatParser(format, arguments: arguments)
        return try parser.wholeExpression()
    }
}
