/// Why a format could not be read, and where.
public struct PredicateSyntaxError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of mistake.
    public enum Code: String, Sendable {
        /// Something else was expected here.
        case unexpectedToken
        /// A character that begins nothing in the language.
        case unexpectedCharacter
        /// A string without its closing quote.
        case unterminatedString
        /// Digits that are no number.
        case malformedNumber
        /// A conversion such as `%q`, or a lone percent sign.
        case unknownConversion
        /// More conversions than arguments.
        case missingArgument
        /// An argument of the wrong kind for its conversion, such as a string for `%d`.
        case argumentMismatch
        /// A function that the language does not have, or with a wrong number of arguments.
        case unknownFunction
        /// Parentheses or chained operators beyond ``PredicateParser/depthLimit``.
        case tooDeep
    }

    /// The kind of mistake.
    public let code: Code
    /// What was expected, or what is wrong, in a sentence.
    public let message: String
    /// The format as it was given.
    public let format: String
    /// Where the mistake begins, in UTF-8 bytes from the start of the format.
    public let offset: Int

    /// Where the mistake begins, in characters from the start of the format.
    public var characterOffset: Int {
        prefix.count
    }

    /// The line of the format with the mistake, and under it a caret below the mistake.
    public var rendering: String {
        let before = prefix.split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
        let after = format.dropFirst(prefix.count).prefix { !$0.isNewline }
        // Tabs stay tabs, so that the caret stands right however wide they are shown.
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
