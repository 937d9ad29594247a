import Foundation

/// The code in a Swift file, without comments and strings. Lines are bytes of UTF-8: a package has a million characters, and to
/// compare one takes a hundred times as long as to compare a byte.
enum SwiftCode {
    /// The lines of a text, with comments and the contents of strings replaced by spaces. Code inside a string
    /// (`\(…)`) remains.
    static func lines(of text: String) -> [[UInt8]] {
        var scanner = Scanner()
        return texts(of: text).map { scanner.code(in: $0) }
    }

    /// The lines of a text with comments and strings. Each has as many bytes as the line of code.
    static func texts(of text: String) -> [ArraySlice<UInt8>] {
        Array(text.utf8).split(separator: newline, omittingEmptySubsequences: false).map { line in
            line.last == carriageReturn ? line.dropLast() : line
        }
    }

    /// The first type after the name of each class in a line, given the words of the line.
    static func superclasses(in words: [(column: Int, text: String)]) -> [(column: Int, text: String)] {
        zip(words, words.dropFirst(2)).compactMap { $0.text == "class" ? $1 : nil }
    }

    /// The words of a line of code with their columns, except the names of members, which follow a dot.
    static func words(of line: [UInt8]) -> [(column: Int, text: String)] {
        var words: [(column: Int, text: String)] = []
        var index = 0
        while index < line.count {
            let end = endOfWord(in: line, at: index)
            if end > index, index == 0 || line[index - 1] != UInt8(ascii: ".") {
                words.append((index, String(decoding: line[index..<end], as: UTF8.self)))
            }
            index = max(end, index + 1)
        }
        return words
    }

    /// The end of the word that begins at a position of a line; the position itself if none does.
    static func endOfWord(in line: [UInt8], at start: Int) -> Int {
        var end = start
        while end < line.count, isWord(line[end]) { end += 1 }
        return end
    }

    /// Whether a byte is part of a word: a letter, a digit, an underscore, or a part of a character outside ASCII.
    static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// Whether a text is in a line at a position.
    static func isText(_ text: [UInt8], in line: [UInt8], at start: Int) -> Bool {
        guard start + text.count <= line.count else { return false }
        for index in text.indices where line[start + index] != text[index] { return false }
        return true
    }

    private static let newline = UInt8(ascii: "\n"), carriageReturn = UInt8(ascii: "\r")

    /// Tracks the constructs that are open at the end of a line: comments, multi-line strings, and code inside strings.
    private struct Scanner {
        private enum Level {
            /// A string that ends with `"` or `"""` and the number of `#`.
            case string(isLong: Bool, pounds: Int)
            /// Code inside a string, with the number of open parentheses.
            case interpolation(parentheses: Int)
        }

        private var commentDepth = 0
        private var levels: [Level] = []
        /// The number of levels that are open from the lines before. No string on one line is among them.
        private var earlierLevels = 0

        mutating func code(in line: ArraySlice<UInt8>) -> [UInt8] {
            var code: [UInt8] = []
            code.reserveCapacity(line.count)
            var rest = line
            while !rest.isEmpty {
                let (length, isCode) = token(of: rest)
                let token = rest.prefix(length)
                if isCode {
                    code += token
                } else {
                    code.append(contentsOf: repeatElement(UInt8(ascii: " "), count: token.count))
                }
                rest = rest.dropFirst(length)
            }
            // A string that is not long ends with its line, with the code inside it.
            let short = levels[earlierLevels...].firstIndex { level in
                if case .string(isLong: false, _) = level { return true }
                return false
            }
            if let short { levels.removeSubrange(short...) }
            earlierLevels = levels.count
            return code
        }

        /// The length of the first token in the rest of a line, and whether it is code.
        private mutating func token(of rest: ArraySlice<UInt8>) -> (length: Int, isCode: Bool) {
            // Most bytes begin none of these tokens; comparing the rest of the line with each of them is expensive.
            let plain = rest.firstIndex(where: Self.beginsToken) ?? rest.endIndex
            if plain > rest.startIndex {
                if case .string? = levels.last { return (plain - rest.startIndex, false) }
                return (plain - rest.startIndex, commentDepth == 0)
            }
            if commentDepth > 0 {
                if rest.starts(with: "*/".utf8) {
                    commentDepth -= 1
                } else if rest.starts(with: "/*".utf8) {
                    commentDepth += 1
                } else {
                    return (1, false)
                }
                return (2, false)
            }
            if case .string(let isLong, let pounds)? = levels.last { return tokenOfString(rest, isLong, pounds) }
            if rest.starts(with: "//".utf8) { return (rest.count, false) }
            if rest.starts(with: "/*".utf8) {
                commentDepth = 1
                return (2, false)
            }
            let pounds = rest.prefix { $0 == UInt8(ascii: "#") }.count
            let quotes = rest.dropFirst(pounds).prefix(3).prefix { $0 == UInt8(ascii: "\"") }.count
            if quotes > 0 {
                levels.append(.string(isLong: quotes == 3, pounds: pounds))
                return (pounds + (quotes == 3 ? 3 : 1), false)
            }
            if case .interpolation(let parentheses)? = levels.last {
                if rest.first == UInt8(ascii: "(") {
                    levels[levels.count - 1] = .interpolation(parentheses: parentheses + 1)
                }
                if rest.first == UInt8(ascii: ")") {
                    levels[levels.count - 1] = .interpolation(parentheses: parentheses - 1)
                    if parentheses == 1 { closeLevel() }
                }
            }
            return (max(1, pounds), true)
        }

        private mutating func closeLevel() {
            levels.removeLast()
            earlierLevels = min(earlierLevels, levels.count)
        }

        /// Whether a byte is one of `"#/*()\`.
        private static func beginsToken(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "#"), UInt8(ascii: "/"), UInt8(ascii: "*"), UInt8(ascii: "("),
                UInt8(ascii: ")"), UInt8(ascii: "\\"):
                true
            default: false
            }
        }

        private mutating func tokenOfString(
            _ rest: ArraySlice<UInt8>, _ isLong: Bool, _ pounds: Int
        ) -> (length: Int, isCode: Bool) {
            let marks = String(repeating: "#", count: pounds)
            let end = (isLong ? "\"\"\"" : "\"") + marks
            if rest.starts(with: end.utf8) {
                closeLevel()
                return (end.utf8.count, false)
            }
            let escape = "\\" + marks
            guard rest.starts(with: escape.utf8) else { return (1, false) }
            if rest.dropFirst(escape.utf8.count).first == UInt8(ascii: "(") {
                levels.append(.interpolation(parentheses: 1))
            }
            return (escape.utf8.count + 1, false)
        }
    }
}

extension String {
    /// Whether the text, up to a character NUL, contains another one. Compared as bytes, because comparing characters takes a hundred
    /// times as long.
    package func containsBytes(of other: String) -> Bool { withCString { strstr($0, other) != nil } }
}
