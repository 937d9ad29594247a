/// A token of the format language, and its offset.
struct FormatToken {
    enum Kind {
        /// A key, a keyword or the name of a function; may begin with `@`. An escaped one follows `#`.
        case identifier(String, isEscaped: Bool)
        /// Words that end in colons, such as `add:to:`.
        case selector(String)
        /// `$name`, without the dollar sign.
        case variable(String)
        /// A string between quotes, its escapes resolved.
        case string(String)
        /// A number: an integer that fits 64 bits, a decimal for a longer one, or a double.
        case number(PredicateValue)
        /// An operator or a bracket.
        case symbol(String)
        /// A conversion without its argument.
        case conversion(FormatConversion)
        /// The argument of a conversion.
        case argument(Any?)
        /// The argument of `%K`, key by key.
        case keyArgument([String])
        /// The end of the format.
        case end
    }

    let kind: Kind
    /// The offset in UTF-8 bytes from the start of the format.
    let offset: Int
    /// The keyword, when this is an identifier and a keyword.
    let keyword: ReservedWord?

    init(kind: Kind, offset: Int) {
        self.kind = kind
        self.offset = offset
        if case .identifier(let text, isEscaped: false) = kind {
            keyword = ReservedWord(text: text)
        } else {
            keyword = nil
        }
    }

    /// Whether this is one of the given symbols.
    func isSymbol(_ symbols: String...) -> Bool {
        guard case .symbol(let text) = kind else { return false }
        return symbols.contains(text)
    }

    /// A description of the token, for messages.
    var inWords: String {
        switch kind {
        case .identifier(let text, _), .selector(let text), .symbol(let text): "“\(text)”"
        case .variable(let name): "“$\(name)”"
        case .string: "a string"
        case .number: "a number"
        case .conversion, .argument: "an argument"
        case .keyArgument: "the key path of an argument"
        case .end: "the end of the format"
        }
    }
}
