/// The arguments of a format's conversions.
struct FormatArguments {
    var values: [Any?]

    /// The reason why an argument does not fit its conversion.
    struct Problem: Error {
        var code: PredicateSyntaxError.Code
        var message: String
    }

    /// The token of a conversion with its argument.
    func token(for conversion: FormatConversion) throws -> FormatToken.Kind {
        let index = conversion.index
        guard values.indices.contains(index) else {
            throw Problem(
                code: .missingArgument, message: "There is no argument \(index + 1) for “%\(conversion.letter)”.")
        }
        let argument = values[index]
        if conversion.kind == .object { return .argument(argument) }
        let value = PredicateValue(argument)
        switch conversion.kind {
        case .object: break
        case .keyPath:
            guard case .string(let path) = value else { break }
            let keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            if !keys.contains("") { return .keyArgument(keys) }
        case .number:
            if value.isNumber { return .argument(argument) }
        case .character:
            if value.isNumber { return .argument(argument) }
            if case .string = value { return .argument(argument) }
        case .string:
            if case .string = value { return .argument(argument) }
        }
        let message =
            "Argument \(index + 1) of “%\(conversion.letter)” must be \(conversion.kind.rawValue), found \(value.kind)."
        throw Problem(code: .argumentMismatch, message: message)
    }
}

/// A conversion of a format, such as `%@`, `%K` or `%d`: it represents an argument.
struct FormatConversion: Sendable {
    /// The kind of argument that a conversion requires.
    enum Kind: String {
        case object = "an object"
        case keyPath = "a key path"
        case number = "a number"
        case character = "a character or its number"
        case string = "a string"
    }

    let letter: Character
    let kind: Kind
    /// The zero-based index of the argument.
    let index: Int

    /// The conversion with a letter; nil for an unknown letter.
    init?(letter: Character, index: Int) {
        guard let kind = Self.kinds[letter] else { return nil }
        (self.letter, self.kind, self.index) = (letter, kind, index)
    }

    private static let kinds: [Character: Kind] = {
        var kinds: [Character: Kind] = ["@": .object, "K": .keyPath, "s": .string, "S": .string]
        for letter in "diouxXDOUfFeEgGaA" { kinds[letter] = .number }
        for letter in "cC" { kinds[letter] = .character }
        return kinds
    }()
}
