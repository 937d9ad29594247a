import Foundation

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

/// The casts that represent constants. The language has no literals for dates, UUIDs and similar values, so they are
/// written as a cast of a number or a string, and parsed as the constant itself.
enum ConstantCast {
    /// The constant that a cast with these arguments represents; nil when the cast is evaluated at run time.
    static func value(of arguments: [ExpressionNode]) -> Any? {
        guard arguments.count == 2, case .constant(let constant) = arguments[0],
            case .constant(let type) = arguments[1], let type = type.value as? String
        else { return nil }
        switch (PredicateValue(constant.value), type) {
        case (.integer(let seconds), "NSDate"): return Date(timeIntervalSinceReferenceDate: Double(seconds))
        case (.double(let seconds), "NSDate"): return Date(timeIntervalSinceReferenceDate: seconds)
        case (.string(let text), "NSUUID"): return UUID(uuidString: text)
        case (.string(let text), "NSURL"): return URL(string: text)
        case (.string(let text), decimal): return Decimal(string: text)
        case (.string(let text), "NSData"): return Data(base64Encoded: text)
        case (.string("nan"), "NSNumber"): return Double.nan
        case (.string("inf"), "NSNumber"): return Double.infinity
        case (.string("-inf"), "NSNumber"): return -Double.infinity
        default: return nil
        }
    }

    /// The type of decimal numbers in archives. Unlike `NSDecimalNumber`, to which a program's own format may cast, it has no other use.
    static let decimal = "NSDecimal"

    /// The text of a value as a cast.
    static func text(_ value: String, as type: String) -> String {
        "CAST(\(value), \"\(type)\")"
    }
}

/// The reason why a format could not be parsed, and the position.
public struct PredicateSyntaxError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Code: String, Sendable {
        /// Another token was expected here.
        case unexpectedToken
        /// A character that cannot begin a token.
        case unexpectedCharacter
        /// A string without its closing quote.
        case unterminatedString
        /// An invalid number.
        case malformedNumber
        /// A conversion such as `%q`, or a lone percent sign.
        case unknownConversion
        /// More conversions than arguments.
        case missingArgument
        /// An argument of the wrong kind for its conversion, such as a string for `%d`.
        case argumentMismatch
        /// An unknown function, or a known one with a wrong number of arguments.
        case unknownFunction
        /// Parentheses or chained operators beyond ``PredicateParser/depthLimit``.
        case tooDeep
    }

    /// The kind of error.
    public let code: Code
    /// A description of the error, in one sentence.
    public let message: String
    /// The format as it was given.
    public let format: String
    /// The position of the error, in UTF-8 bytes from the start of the format.
    public let offset: Int

    /// The position of the error, in characters from the start of the format.
    public var characterOffset: Int {
        prefix.count
    }

    /// The line of the format with the error, and a second line with a caret below it.
    public var rendering: String {
        let before = prefix.split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
        let after = format.dropFirst(prefix.count).prefix { !$0.isNewline }
        // Tabs are kept, so that the caret is aligned for any tab width.
        let indentation = before.map { $0 == "\t" ? "\t" : " " }.joined()
        return "\(before)\(after)\n\(indentation)^"
    }

    public var description: String {
        "\(message)\n\(rendering)"
    }

    private var prefix: String {
        String(decoding: format.utf8.prefix(offset), as: UTF8.self)
    }
}
