import Foundation

/// Splits a format into tokens.
struct FormatScanner {
    private let format: String
    private let bytes: [UInt8]
    private var position = 0
    private var nextArgument = 0

    private init(_ format: String) {
        self.format = format
        self.bytes = Array(format.utf8)
    }

    /// All tokens of a format, with conversions in the places of arguments; the last one is the end.
    static func tokens(of format: String) throws -> [FormatToken] {
        var scanner = FormatScanner(format)
        var tokens: [FormatToken] = []
        while let token = try scanner.next() {
            tokens.append(token)
        }
        tokens.append(FormatToken(kind: .end, offset: scanner.bytes.count))
        return tokens
    }

    private mutating func next() throws -> FormatToken? {
        while let byte = peek(), byte == UInt8(ascii: " ") || (9...13).contains(byte) {
            position += 1
        }
        guard let byte = peek() else { return nil }
        let start = position
        return FormatToken(kind: try kind(startingWith: byte), offset: start)
    }

    private mutating func kind(startingWith byte: UInt8) throws -> FormatToken.Kind {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            return .string(try string())
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            return .number(try number())
        case UInt8(ascii: ".") where peek(1).map(isDigit) == true:
            return .number(try number())
        case UInt8(ascii: "$"):
            return .variable(try name(after: 1, in: "a variable’s name after “$”"))
        case UInt8(ascii: "#"):
            if let quote = peek(1), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                position += 1
                return .identifier(try string(), isEscaped: true)
            }
            return .identifier(try name(after: 1, in: "a key after “#”"), isEscaped: true)
        case UInt8(ascii: "@"):
            return .identifier("@" + (try name(after: 1, in: "a collection operator after “@”")), isEscaped: false)
        case UInt8(ascii: "%"):
            return try conversion()
        default:
            if startsName(byte) { return word() }
            return try symbol()
        }
    }

    // MARK: - Words and symbols

    private mutating func word() -> FormatToken.Kind {
        let start = position
        skipName()
        let end = position
        // A selector: words that end in colons, without anything between them.
        while peek() == UInt8(ascii: ":"), peek(1) != UInt8(ascii: "=") {
            position += 1
            let colon = position
            skipName()
            if peek() != UInt8(ascii: ":") {
                position = colon
                return .selector(text(start..<colon))
            }
        }
        return .identifier(text(start..<end), isEscaped: false)
    }

    private mutating func name(after prefix: Int, in expectation: String) throws -> String {
        let start = position + prefix
        guard start < bytes.count, startsName(bytes[start]) else {
            throw mistake(.unexpectedCharacter, "Expected \(expectation).", at: position)
        }
        position = start
        skipName()
        return text(start..<position)
    }

    private mutating func skipName() {
        guard let byte = peek(), startsName(byte) else { return }
        skipLettersAndDigits()
    }

    private mutating func symbol() throws -> FormatToken.Kind {
        for length in [2, 1] where position + length <= bytes.count {
            if let symbol = FormatScanner.symbols[text(position..<position + length)] {
                position += length
                return .symbol(symbol)
            }
        }
        let character = String(decoding: bytes[position...].prefix(4), as: UTF8.self).prefix(1)
        throw mistake(.unexpectedCharacter, "The character “\(character)” is not valid here.", at: position)
    }

    /// The symbols in a format, each with its canonical form for the parser.
    private static let symbols: [String: String] = {
        var symbols = ["&&": "&&", "||": "||", "=": "==", "=<": "<=", "=>": ">=", "<>": "!="]
        for symbol in [
            "==", "!=", "<=", ">=", "**", "<<", ">>", "<", ">", "!", "+", "-", "*", "/", "&", "|", "^", "~", "(", ")",
            "{", "}", "[", "]", ",", ".",
        ] {
            symbols[symbol] = symbol
        }
        return symbols
    }()

    // MARK: - Strings

    private mutating func string() throws -> String {
        let start = position
        let quote = bytes[position]
        var content: [UInt8] = []
        position += 1
        while let byte = peek() {
            position += 1
            if byte == quote {
                return String(decoding: content, as: UTF8.self)
            } else if byte == UInt8(ascii: "\\") {
                content += try escape()
            } else {
                content.append(byte)
            }
        }
        throw mistake(.unterminatedString, "The string has no closing quote.", at: start)
    }

    /// The result of an escape; the position is after the backslash. An unknown escape gives its character.
    private mutating func escape() throws -> [UInt8] {
        guard let byte = peek() else { return [] }
        position += 1
        switch byte {
        case UInt8(ascii: "n"): return [10]
        case UInt8(ascii: "t"): return [9]
        case UInt8(ascii: "r"): return [13]
        case UInt8(ascii: "a"): return [7]
        case UInt8(ascii: "b"): return [8]
        case UInt8(ascii: "f"): return [12]
        case UInt8(ascii: "v"): return [11]
        case UInt8(ascii: "x"): return try scalar(digits: 2)
        case UInt8(ascii: "u"): return try scalar(digits: 4)
        case UInt8(ascii: "U"): return try scalar(digits: 8)
        default: return [byte]
        }
    }

    private mutating func scalar(digits: Int) throws -> [UInt8] {
        let start = position - 2
        let hexadecimal = text(position..<min(position + digits, bytes.count))
        guard hexadecimal.utf8.count == digits, let code = UInt32(hexadecimal, radix: 16),
            let scalar = Unicode.Scalar(code)
        else {
            throw mistake(
                .unexpectedCharacter, "The escape needs \(digits) hexadecimal digits of a character.", at: start)
        }
        position += digits
        return Array(String(Character(scalar)).utf8)
    }

    // MARK: - Numbers

    private mutating func number() throws -> PredicateValue {
        let start = position
        if peek() == UInt8(ascii: "0"), let radix = peek(1).flatMap(radix(of:)) {
            position += 2
            let digits = position
            skipLettersAndDigits()
            guard let value = UInt64(text(digits..<position), radix: radix) else {
                throw mistake(.malformedNumber, "Expected digits of base \(radix), of 64 bits at most.", at: start)
            }
            return PredicateValue(value)
        }
        skipDigits()
        var isWhole = true
        if peek() == UInt8(ascii: "."), peek(1).map(isDigit) == true {
            isWhole = false
            position += 1
            skipDigits()
        }
        if let byte = peek(), byte | 0x20 == UInt8(ascii: "e") {
            let sign = peek(1) == UInt8(ascii: "+") || peek(1) == UInt8(ascii: "-") ? 1 : 0
            if peek(1 + sign).map(isDigit) == true {
                isWhole = false
                position += 1 + sign
                skipDigits()
            }
        }
        let digits = text(start..<position)
        if let byte = peek(), startsName(byte) {
            throw mistake(.malformedNumber, "A number ends before “\(character(at: position))”.", at: position)
        }
        if isWhole, let value = Int64(digits) { return .integer(value) }
        if isWhole, digits.utf8.count <= 38, let value = Decimal(string: digits) { return .decimal(value) }
        return .double(Double(digits) ?? .infinity)
    }

    private func radix(of byte: UInt8) -> Int? {
        switch byte | 0x20 {
        case UInt8(ascii: "x"): 16
        case UInt8(ascii: "o"): 8
        case UInt8(ascii: "b"): 2
        default: nil
        }
    }

    private mutating func skipDigits() {
        while let byte = peek(), isDigit(byte) {
            position += 1
        }
    }

    private mutating func skipLettersAndDigits() {
        while let byte = peek(), startsName(byte) || isDigit(byte) {
            position += 1
        }
    }

    // MARK: - Conversions

    /// `%@`, `%K`, `%d` and the other conversions of `printf`: an optional position (`1$`), flags and widths, which are
    /// ignored, a length, and the letter.
    private mutating func conversion() throws -> FormatToken.Kind {
        let start = position
        position += 1
        if peek() == UInt8(ascii: "%") {
            position += 1
            return .symbol("%%")
        }
        var number: Int?
        let digits = position
        skipDigits()
        if position > digits, peek() == UInt8(ascii: "$") {
            number = Int(text(digits..<position))
            position += 1
        }
        while let byte = peek(), isDigit(byte) || "+-#.'hlqLztj".utf8.contains(byte) {
            position += 1
        }
        guard let letter = peek(), letter < 0x80 else {
            throw mistake(.unknownConversion, "Expected a conversion such as “%@”, “%K” or “%d”.", at: start)
        }
        position += 1
        if let number, number < 1 {
            throw mistake(.missingArgument, "Arguments are counted from 1.", at: start)
        }
        let index = number.map { $0 - 1 } ?? nextArgument
        if number == nil { nextArgument += 1 }
        let character = Character(Unicode.Scalar(letter))
        guard let conversion = FormatConversion(letter: character, index: index) else {
            throw mistake(.unknownConversion, "There is no conversion “%\(character)”.", at: start)
        }
        return .conversion(conversion)
    }

    // MARK: - Bytes

    private func peek(_ distance: Int = 0) -> UInt8? {
        position + distance < bytes.count ? bytes[position + distance] : nil
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    private func character(at position: Int) -> Substring {
        String(decoding: bytes[position...].prefix(16), as: UTF8.self).prefix(1)
    }

    /// ASCII letters, the underscore, and every character outside ASCII.
    private func startsName(_ byte: UInt8) -> Bool {
        let letter = byte | 0x20
        return letter >= UInt8(ascii: "a") && letter <= UInt8(ascii: "z") || byte == UInt8(ascii: "_") || byte >= 0x80
    }

    private func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    private func mistake(_ code: PredicateSyntaxError.Code, _ message: String, at offset: Int) -> PredicateSyntaxError {
        PredicateSyntaxError(code: code, message: message, format: format, offset: offset)
    }
}
