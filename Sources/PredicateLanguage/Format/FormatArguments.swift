/// The arguments of a format's conversions.
struct FormatArguments {
    var values: [Any?]

    /// The reason why an argument does not fit its conversion.
    struct Problem: Error {
        var code: PredicateSyntaxError.Code
        var message: String
    }

    /// The token of the conversion with a letter, made from the argument at a zero-based index.
    func token(for letter: Character, at index: Int) throws -> FormatToken.Kind {
        guard let kinds = FormatArguments.kinds[letter] else {
            throw Problem(code: .unknownConversion, message: "There is no conversion “%\(letter)”.")
        }
        guard values.indices.contains(index) else {
            throw Problem(code: .missingArgument, message: "There is no argument \(index + 1) for “%\(letter)”.")
        }
        let argument = values[index]
        let value = PredicateValue(argument)
        switch kinds {
        case .object:
            return .argument(argument)
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
        let message = "Argument \(index + 1) of “%\(letter)” must be \(kinds.rawValue), found \(value.kind)."
        throw Problem(code: .argumentMismatch, message: message)
    }

    private enum Kind: String {
        case object = "an object"
        case keyPath = "a key path"
        case number = "a number"
        case character = "a character or its number"
        case string = "a string"
    }

    private static let kinds: [Character: Kind] = {
        var kinds: [Character: Kind] = ["@": .object, "K": .keyPath, "s": .string, "S": .string]
        for letter in "diouxXDOUfFeEgGaA" { kinds[letter] = .number }
        for letter in "cC" { kinds[letter] = .character }
        return kinds
    }()
}
