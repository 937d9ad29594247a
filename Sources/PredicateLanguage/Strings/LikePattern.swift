/// A pattern of `LIKE`: `*` matches any text, `?` any character; a backslash escapes either.
public struct LikePattern: Sendable {
    private enum Part: Sendable, Equatable {
        case anyText, anyCharacter
        case character(Character)
    }

    private let parts: [Part]
    // Set if the pattern has stars at its ends only, so that a plain search is enough.
    private let search: TextSearch?

    /// Parses a pattern.
    public init(_ pattern: String) {
        var parts: [Part] = []
        var isEscaped = false
        for character in pattern {
            switch character {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "*" where !isEscaped:
                if parts.last != .anyText { parts.append(.anyText) }
            case "?" where !isEscaped:
                parts.append(.anyCharacter)
            default:
                parts.append(.character(character))
            }
            isEscaped = false
        }
        if isEscaped { parts.append(.character("\\")) }
        self.parts = parts
        self.search = LikePattern.search(for: parts)
    }

    private static func search(for parts: [Part]) -> TextSearch? {
        let startsOpen = parts.first == .anyText
        let endsOpen = parts.last == .anyText
        var piece = ""
        for part in parts.dropFirst(startsOpen ? 1 : 0).dropLast(endsOpen && parts.count > 1 ? 1 : 0) {
            guard case .character(let character) = part else { return nil }
            piece.append(character)
        }
        return switch (startsOpen, endsOpen) {
        case (false, false): TextSearch(piece, at: .whole)
        case (false, true): TextSearch(piece, at: .start)
        case (true, false): TextSearch(piece, at: .end)
        case (true, true): TextSearch(piece, at: .anywhere)
        }
    }

    /// Whether the whole text matches the pattern. Cost: the length of the text, times that of the pattern in the worst
    /// case.
    public func matches(_ text: String) -> Bool {
        if let search { return search.isFound(in: text) }
        let characters = Array(text)
        var character = 0
        var part = 0
        // The position at which matching continues after a mismatch behind the last star: one character further.
        var star: Int?
        var resume = 0
        while character < characters.count {
            if part < parts.count, parts[part] == .anyText {
                star = part
                resume = character
                part += 1
            } else if part < parts.count,
                parts[part] == .anyCharacter || parts[part] == .character(characters[character])
            {
                character += 1
                part += 1
            } else if let star {
                resume += 1
                character = resume
                part = star + 1
            } else {
                return false
            }
        }
        return parts[part...].allSatisfy { $0 == .anyText }
    }
}
