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
