import Foundation
import ModelFiles

/// A lexical element of a Swift source.
struct SourceToken: Sendable {
    enum Kind: Sendable {
        /// A name, a keyword, or a name in backticks.
        case word
        case number
        case string
        /// One character of punctuation or of an operator.
        case sign
        /// `#if` with its condition, `#elseif`, `#else` or `#endif`.
        case directive
    }

    let kind: Kind
    /// The text; of a string its value, of a name in backticks the name.
    let text: String
    let line: Int
    let beginsLine: Bool
    /// Whether a space precedes the token.
    let followsSpace: Bool
    /// Whether a string is a literal on one line, without interpolation, so that ``text`` is its value.
    var isLiteral = true
    /// Whether a word is in backticks, so that it is not a keyword.
    var isQuoted = false
    /// The line of the condition on which the token depends; nil if there is none, or its value is known.
    var condition: Int?

    func isSign(_ sign: String) -> Bool { kind == .sign && text == sign }
    func isWord(_ word: String) -> Bool { kind == .word && !isQuoted && text == word }
}

/// Divides a Swift source into tokens. Comments are left out, and strings are one token with all that is in them.
struct SourceLexer {
    private let bytes: [UInt8]
    private let file: String
    private var index = 0
    private var line = 1
    private var beginsLine = true
    private var followsSpace = true
    private var tokens: [SourceToken] = []
    /// The number of strings that are open: code in a string may contain strings.
    private var depth = 0

    private init(_ text: String, file: String) {
        bytes = Array(text.utf8)
        self.file = file
    }

    /// The tokens of a text.
    ///
    /// - Throws: ``ModelError`` with the line for a comment or a string without an end.
    static func tokens(of text: String, file: String) throws -> [SourceToken] {
        var lexer = SourceLexer(text, file: file)
        try lexer.read()
        return lexer.tokens
    }

    private func byte(at offset: Int = 0) -> UInt8 { index + offset < bytes.count ? bytes[index + offset] : 0 }

    private func starts(with text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[index...].starts(with: $0) }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: "$"), 0x80...:
            true
        default: isDigit(byte)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private mutating func append(
        _ kind: SourceToken.Kind, _ text: String, line: Int? = nil, isLiteral: Bool = true, isQuoted: Bool = false
    ) {
        tokens.append(
            SourceToken(
                kind: kind, text: text, line: line ?? self.line, beginsLine: beginsLine, followsSpace: followsSpace,
                isLiteral: isLiteral, isQuoted: isQuoted))
        (beginsLine, followsSpace) = (false, false)
    }

    private mutating func read() throws {
        if starts(with: "#!") { skipLine() }
        if starts(with: "\u{FEFF}") { index += 3 }
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\n"):
                (line, beginsLine, followsSpace) = (line + 1, true, true)
                index += 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), 0x0B, 0x0C:
                followsSpace = true
                index += 1
            case UInt8(ascii: "/"): try readSlash()
            case UInt8(ascii: "\""): try readString(pounds: 0)
            case UInt8(ascii: "#"): try readPound()
            case UInt8(ascii: "`"): readQuotedName()
            case _ where Self.isDigit(byte): readNumber()
            case _ where Self.isWord(byte): readWord()
            default:
                append(.sign, String(UnicodeScalar(byte)))
                index += 1
            }
        }
    }

    private mutating func skipLine() {
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private mutating func readWord() {
        let start = index
        while index < bytes.count, Self.isWord(bytes[index]) { index += 1 }
        append(.word, text(start..<index))
    }

    private mutating func readNumber() {
        let start = index
        while Self.isWord(byte()) || byte() == UInt8(ascii: ".") && Self.isDigit(byte(at: 1))
            || [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(byte()) && isExponent(bytes[start..<index])
        {
            index += 1
        }
        append(.number, text(start..<index))
    }

    /// Whether a number ends with the letter before an exponent's sign.
    private func isExponent(_ number: ArraySlice<UInt8>) -> Bool {
        let isHexadecimal = number.starts(with: "0x".utf8)
        return number.last.map { (isHexadecimal ? "pP" : "eE").utf8.contains($0) } ?? false
    }

    private mutating func readQuotedName() {
        let start = index + 1
        guard let end = bytes[start...].firstIndex(where: { [UInt8(ascii: "`"), UInt8(ascii: "\n")].contains($0) }),
            bytes[end] == UInt8(ascii: "`")
        else {
            append(.sign, "`")
            index += 1
            return
        }
        index = end + 1
        append(.word, text(start..<end), isQuoted: true)
    }

    // MARK: - Comments and regular expressions

    private mutating func readSlash() throws {
        if starts(with: "//") { return skipLine() }
        if starts(with: "/*") { return try skipComment() }
        if let end = endOfExpression() {
            index = end
            return append(.string, "", isLiteral: false)
        }
        append(.sign, "/")
        index += 1
    }

    private mutating func skipComment() throws {
        let start = line
        var depth = 0
        repeat {
            if starts(with: "/*") {
                (depth, index) = (depth + 1, index + 2)
            } else if starts(with: "*/") {
                (depth, index) = (depth - 1, index + 2)
            } else {
                guard index < bytes.count else { throw unclosed("comment", start) }
                if bytes[index] == UInt8(ascii: "\n") { (line, beginsLine) = (line + 1, true) }
                index += 1
            }
        } while depth > 0
        followsSpace = true
    }

    private func unclosed(_ part: String, _ line: Int) -> ModelError {
        ModelError(.malformedFile, "The \(part) that begins here has no end.", file: file, line: line)
    }

    /// The end of a regular expression `/…/` that begins here; nil if the slash is an operator.
    private func endOfExpression() -> Int? {
        if let last = tokens.last {
            guard last.kind == .sign, "=(,:[{&|?!".contains(last.text) else { return nil }
        }
        guard ![UInt8(ascii: " "), UInt8(ascii: "\n"), 0].contains(byte(at: 1)) else { return nil }
        var end = index + 1
        while end < bytes.count, bytes[end] != UInt8(ascii: "\n") {
            if bytes[end] == UInt8(ascii: "/") { return end + 1 }
            end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }

    // MARK: - Strings

    private mutating func readPound() throws {
        var pounds = 0
        while byte(at: pounds) == UInt8(ascii: "#") { pounds += 1 }
        if byte(at: pounds) == UInt8(ascii: "\"") { return try readString(pounds: pounds) }
        if byte(at: pounds) == UInt8(ascii: "/") { return try readLongExpression(pounds) }
        if beginsLine, ["#if", "#elseif", "#else", "#endif"].contains(where: { word(is: $0) }) {
            let start = index
            skipLine()
            let code = text(start..<index).components(separatedBy: "//")[0]
            return append(.directive, code.trimmingCharacters(in: .whitespaces))
        }
        // All of them: a search from each for the quote after the last would cost the square of their number.
        for _ in 0..<pounds { append(.sign, "#") }
        index += pounds
    }

    /// Whether a directive of this name, and not a longer one, is here.
    private func word(is text: String) -> Bool {
        bytes[index...].starts(with: text.utf8) && !Self.isWord(byte(at: text.utf8.count))
    }

    private mutating func readLongExpression(_ pounds: Int) throws {
        let (start, end) = (line, Array(("/" + String(repeating: "#", count: pounds)).utf8))
        index += pounds + 1
        while !bytes[index...].starts(with: end) {
            guard index < bytes.count else { throw unclosed("regular expression", start) }
            if bytes[index] == UInt8(ascii: "\n") { line += 1 }
            index += 1
        }
        index += end.count
        append(.string, "", line: start, isLiteral: false)
    }

    private mutating func readString(pounds: Int) throws {
        let start = line
        depth += 1
        defer { depth -= 1 }
        guard depth <= 64 else {
            throw ModelError(.malformedFile, "Strings are nested more than 64 levels deep.", file: file, line: line)
        }
        index += pounds
        let isLong = starts(with: "\"\"\"")
        index += isLong ? 3 : 1
        let end = Array(((isLong ? "\"\"\"" : "\"") + String(repeating: "#", count: pounds)).utf8)
        let escape = Array(("\\" + String(repeating: "#", count: pounds)).utf8)
        var value: [UInt8] = []
        var isLiteral = !isLong
        while !bytes[index...].starts(with: end) {
            guard index < bytes.count, isLong || bytes[index] != UInt8(ascii: "\n") else {
                throw unclosed("string", start)
            }
            if bytes[index...].starts(with: escape) {
                index += escape.count
                if byte() == UInt8(ascii: "(") {
                    isLiteral = false
                    try skipInterpolation(start)
                } else {
                    appendEscape(to: &value)
                }
                continue
            }
            if bytes[index] == UInt8(ascii: "\n") { line += 1 }
            value.append(bytes[index])
            index += 1
        }
        index += end.count
        append(.string, String(decoding: value, as: UTF8.self), line: start, isLiteral: isLiteral)
    }

    private mutating func appendEscape(to value: inout [UInt8]) {
        // A source may end after the backslash; the string without an end is then the error.
        guard index < bytes.count else { return }
        let escaped = byte()
        if escaped == UInt8(ascii: "\n") { line += 1 }
        index += 1
        switch escaped {
        case UInt8(ascii: "n"): value.append(0x0A)
        case UInt8(ascii: "t"): value.append(0x09)
        case UInt8(ascii: "r"): value.append(0x0D)
        case UInt8(ascii: "0"): value.append(0)
        case UInt8(ascii: "u"):
            guard let close = bytes[index...].prefix(12).firstIndex(of: UInt8(ascii: "}")), close > index,
                let scalar = UInt32(text(index + 1..<close), radix: 16).flatMap(UnicodeScalar.init)
            else { return }
            value += Array(String(Character(scalar)).utf8)
            index = close + 1
        default: value.append(escaped)
        }
    }

    /// Skips the code in a string. It may contain strings, whose parentheses do not count.
    private mutating func skipInterpolation(_ start: Int) throws {
        // The strings in it are removed again. A copy of the tokens would cost all of them for each string.
        let count = tokens.count
        var depth = 0
        repeat {
            guard index < bytes.count else { throw unclosed("string", start) }
            switch bytes[index] {
            case UInt8(ascii: "("): (depth, index) = (depth + 1, index + 1)
            case UInt8(ascii: ")"): (depth, index) = (depth - 1, index + 1)
            case UInt8(ascii: "\""): try readString(pounds: 0)
            case UInt8(ascii: "#"): try readPound()
            case UInt8(ascii: "\n"): (line, index) = (line + 1, index + 1)
            default: index += 1
            }
        } while depth > 0
        tokens.removeSubrange(count...)
    }
}
