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
