import Coral

/// Finds text in text: without regard to case and diacritics, as `CONTAINS[cd]` does, unless the case must match; as whole words;
/// or by a regular expression.
struct TextMatcher {
    private enum Way {
        case text
        case expression(NSRegularExpression)
    }

    let text: String
    private let way: Way
    private let matchesCase: Bool
    private let isWholeWord: Bool
    /// The bytes that every matching value contains, folded unless the case must match; nil for an expression.
    private let needle: [UInt8]?
    /// The distance by which the search advances after a byte at the end of the compared part.
    private let shifts: [Int]
    private let folding: TextFolding

    /// Throws `CommandError` for an empty text and for an expression that is invalid.
    init(_ text: String, isExpression: Bool = false, matchesCase: Bool = false, isWholeWord: Bool = false) throws {
        guard !text.isEmpty else { throw CommandError("The text to find is empty.") }
        self.text = text
        self.matchesCase = matchesCase
        self.isWholeWord = isWholeWord
        if isExpression {
            let expression = isWholeWord ? "\\b(?:\(text))\\b" : text
            do {
                way = .expression(
                    try NSRegularExpression(pattern: expression, options: matchesCase ? [] : .caseInsensitive))
            } catch {
                throw CommandError("\"\(text)\" is not a valid regular expression.")
            }
        } else {
            way = .text
        }
        var bytes = Array(text.utf8)
        let folding = TextFolding()
        if !matchesCase { bytes = bytes.withUnsafeBytes { Array(folding.folded($0)) } }
        self.folding = folding
        // A text of combining marks only folds to nothing.
        needle = isExpression || bytes.isEmpty ? nil : bytes
        var shifts = [Int](repeating: bytes.count, count: 256)
        for (index, byte) in bytes.dropLast().enumerated() { shifts[Int(byte)] = bytes.count - 1 - index }
        self.shifts = shifts
    }

    /// Whether the text consists of some characters; true for an expression, which may match anything.
    func consists(of characters: String) -> Bool {
        if case .expression = way { return true }
        return text.allSatisfy(characters.contains)
    }

    // MARK: - Searching

    /// Whether UTF-8 may contain the text. If not, it does not; `range(in:)` decides.
    func mayMatch(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let needle else { return true }
        return contains(needle, matchesCase ? bytes : folding.folded(bytes))
    }

    /// Boyer, Moore and Horspool's search: most bytes are not looked at.
    private func contains(_ needle: [UInt8], _ bytes: UnsafeRawBufferPointer) -> Bool {
        var start = 0
        while start + needle.count <= bytes.count {
            var index = needle.count - 1
            while index >= 0, bytes[start + index] == needle[index] { index -= 1 }
            if index < 0 { return true }
            start += shifts[Int(bytes[start + needle.count - 1])]
        }
        return false
    }

    /// The first match; nil if there is none.
    func range(in text: String) -> Range<String.Index>? {
        switch way {
        case .expression(let expression):
            guard let match = expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)),
                match.range.length > 0
            else { return nil }
            return Range(match.range, in: text)
        case .text:
            let options: String.CompareOptions = matchesCase ? .literal : [.caseInsensitive, .diacriticInsensitive]
            var start = text.startIndex
            while let found = text.range(of: self.text, options: options, range: start..<text.endIndex) {
                if !isWholeWord || Self.isWord(found, in: text) { return found }
                start = text.index(after: found.lowerBound)
            }
            return nil
        }
    }

    private static func isWord(_ range: Range<String.Index>, in text: String) -> Bool {
        let isLetter = { (character: Character) in character.isLetter || character.isNumber || character == "_" }
        let startsInside = range.lowerBound > text.startIndex && isLetter(text[text.index(before: range.lowerBound)])
        let endsInside = range.upperBound < text.endIndex && isLetter(text[range.upperBound])
        return !startsInside && !endsInside
    }
}

/// A part of a text around a match, on one line.
struct Excerpt: Equatable {
    let before: String
    let match: String
    let after: String
    /// The number of characters on each side of the match.
    private static let length = 40

    init(_ text: String, _ range: Range<String.Index>) {
        let start = text.index(range.lowerBound, offsetBy: -Self.length, limitedBy: text.startIndex) ?? text.startIndex
        let end = text.index(range.upperBound, offsetBy: Self.length, limitedBy: text.endIndex) ?? text.endIndex
        before = (start > text.startIndex ? "…" : "") + Self.line(text[start..<range.lowerBound])
        match = Self.line(text[range].prefix(Self.length * 3))
        after = Self.line(text[range.upperBound..<end]) + (end < text.endIndex ? "…" : "")
    }

    var text: String { before + match + after }

    private static func line(_ text: Substring) -> String {
        String(text.map { $0.isNewline || $0 == "\t" ? " " : $0 })
    }
}
