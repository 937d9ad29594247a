import Foundation

/// Reads JSON token by token from a source, piece by piece: memory does not grow with the document, and depth costs no
/// stack.
///
/// The grammar is RFC 8259, strictly: valid UTF-8, no half surrogate pairs, no key twice in one object, no comments.
/// Whatever is wrong is a `DocumentError` with its place.
public struct JSONReader {
    /// What a reader takes beyond strict JSON.
    public struct Options: Sendable, Hashable {
        /// Whether a comma may stand before a closing bracket.
        public var allowsTrailingCommas: Bool
        /// Whether one value may follow another, as in JSON Lines.
        public var allowsManyValues: Bool

        public init(allowsTrailingCommas: Bool = false, allowsManyValues: Bool = false) {
            self.allowsTrailingCommas = allowsTrailingCommas
            self.allowsManyValues = allowsManyValues
        }
    }

    private let input: ByteInput
    private let limits: DocumentLimits
    private let options: Options

    /// The token that was read last. Its text is in the window, or in `scratch` where escapes had to be resolved.
    private var textStart = 0
    private var textCount = 0
    private var textIsInScratch = false
    private let scratch = ByteScratch()
    private(set) var number = NumberScan()

    private var expectation = Expectation.firstValue
    private var frames: [Frame] = []
    private var keys = JSONKeySet()
    /// The names on the way to where the reader stands, one after the other; frames know where theirs ends.
    private let path = ByteScratch()

    private var line = 1
    /// The offset of the line's first byte.
    private var lineStart = 0
    private var tokenOffset = 0

    /// What may come next.
    private enum Expectation {
        case firstValue, anotherValue, memberValue, firstElement, nextElement, firstKey, nextKey, nothing
    }

    /// An array or object that is open.
    private struct Frame {
        var isObject: Bool
        /// The element that is being read, in an array.
        var index = -1
        /// Where in `path` the name of the current member begins.
        var pathStart: Int
        /// Where in `keys` this object's keys begin.
        var keysStart: Int
    }

    /// A reader of the source's bytes. A byte order mark at the beginning is passed over.
    public init(_ source: any ByteSource, options: Options = Options(), limits: DocumentLimits = .standard) {
        input = ByteInput(source, limits: limits)
        self.limits = limits
        self.options = options
    }

    /// A reader of a document in memory.
    public init(_ data: Data, options: Options = Options(), limits: DocumentLimits = .standard) {
        self.init(MemorySource(data), options: options, limits: limits)
    }

    /// The bytes read so far.
    public var bytesRead: Int { input.offset }
    /// The size of the document, where it is known.
    public var byteCount: Int? { input.byteCount }
    /// The number of arrays and objects that are open.
    public var depth: Int { frames.count }

    // MARK: - Tokens

    /// Reads the next token. After the document's end it is `.end`, again and again.
    public mutating func next() throws -> DocumentToken {
        switch expectation {
        case .memberValue:
            return try value()
        case .firstKey, .nextKey:
            return try keyOrEnd()
        case .firstElement:
            if try nonSpace() == UInt8(ascii: "]") { return try end(.endArray) }
            frames[frames.count - 1].index += 1
            return try value()
        case .nextElement:
            switch try nonSpace() {
            case UInt8(ascii: "]"): return try end(.endArray)
            case UInt8(ascii: ","): input.window.pointee.position += 1
            default: throw unexpected("`,` or `]`")
            }
            if options.allowsTrailingCommas, try nonSpace() == UInt8(ascii: "]") { return try end(.endArray) }
            frames[frames.count - 1].index += 1
            return try value()
        case .firstValue:
            try skipByteOrderMark()
            guard options.allowsManyValues else { return try value() }
            expectation = .anotherValue
            return try next()
        case .anotherValue, .nothing:
            let byte = try nonSpace()
            if byte == 0, isAtEnd() {
                tokenOffset = input.offset
                expectation = .nothing
                return .end
            }
            guard options.allowsManyValues else { throw unexpected("the end of the document") }
            return try value()
        }
    }

    /// Passes over the rest of the value whose first token was read last: for a beginning all up to its end, for anything
    /// else nothing.
    public mutating func skipValue(after token: DocumentToken) throws {
        guard token == .beginArray || token == .beginObject else { return }
        let outside = frames.count - 1
        while frames.count > outside { _ = try next() }
    }

    private mutating func keyOrEnd() throws -> DocumentToken {
        var byte = try nonSpace()
        if byte == UInt8(ascii: "}") { return try end(.endObject) }
        if expectation == .nextKey {
            guard byte == UInt8(ascii: ",") else { throw unexpected("`,` or `}`") }
            input.window.pointee.position += 1
            byte = try nonSpace()
            if options.allowsTrailingCommas, byte == UInt8(ascii: "}") { return try end(.endObject) }
        }
        guard byte == UInt8(ascii: "\"") else { throw unexpected("a key") }
        tokenOffset = input.offset
        try string(limit: limits.keyLength, name: "key")
        let top = frames.count - 1
        let start = frames[top].pathStart
        path.truncate(to: start)
        path.append(text)
        guard keys.insert(text, from: frames[top].keysStart) else {
            throw error(.duplicateKey, "The key \"\(string())\" stands twice in one object.")
        }
        // The colon is read with the key, while the key's text must stay in the window.
        let window = input.window
        if window.pointee.base[window.pointee.position] == UInt8(ascii: ":") {
            window.pointee.position += 1
        } else {
            moveTextToScratch()
            guard try nonSpace() == UInt8(ascii: ":") else { throw unexpected("`:`") }
            window.pointee.position += 1
        }
        expectation = .memberValue
        return .key
    }

    private mutating func value() throws -> DocumentToken {
        let byte = try nonSpace()
        tokenOffset = input.offset
        switch byte {
        case UInt8(ascii: "\""):
            try string(limit: limits.stringLength, name: "string")
            afterValue()
            return .string
        case UInt8(ascii: "{"):
            try begin(isObject: true)
            expectation = .firstKey
            return .beginObject
        case UInt8(ascii: "["):
            try begin(isObject: false)
            expectation = .firstElement
            return .beginArray
        case UInt8(ascii: "t"): return try word("true", .true)
        case UInt8(ascii: "f"): return try word("false", .false)
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), 48...57:
            try readNumber()
            afterValue()
            return .number
        default:
            throw unexpected("a value")
        }
    }

    private mutating func begin(isObject: Bool) throws {
        guard frames.count < limits.depth else {
            throw error(.limit, "The document nests deeper than \(limits.depth) levels.")
        }
        input.window.pointee.position += 1
        frames.append(Frame(isObject: isObject, pathStart: path.count, keysStart: keys.count))
    }

    private mutating func end(_ token: DocumentToken) throws -> DocumentToken {
        tokenOffset = input.offset
        input.window.pointee.position += 1
        let frame = frames.removeLast()
        if frame.isObject {
            path.truncate(to: frame.pathStart)
            keys.removeAll(from: frame.keysStart)
        }
        afterValue()
        return token
    }

    @inline(__always)
    private mutating func afterValue() {
        guard let frame = frames.last else {
            expectation = .anotherValue
            return
        }
        expectation = frame.isObject ? .nextKey : .nextElement
    }

    private mutating func word(_ word: StaticString, _ token: DocumentToken) throws -> DocumentToken {
        for index in 0..<word.utf8CodeUnitCount {
            let position = input.window.pointee.position
            if position == input.window.pointee.end { _ = try input.refill(keepingFrom: position) }
            guard try currentByte() == word.utf8Start[index] else { throw unexpected("`\(word)`") }
            input.window.pointee.position += 1
        }
        afterValue()
        return token
    }
}

// MARK: - Strings and numbers

extension JSONReader {
    /// Reads a string whose opening quote is next.
    private mutating func string(limit: Int, name: StaticString) throws {
        let window = input.window
        window.pointee.position += 1
        var start = window.pointee.position
        var position = start
        var isASCII = true
        textIsInScratch = false
        while true {
            // Bytes after the window are zero, and zero is special, so whole words may be loaded up to its end.
            let word = UnsafeRawPointer(window.pointee.base + position).loadUnaligned(as: UInt64.self).littleEndian
            let marks = JSONEscape.special(word)
            if marks == 0 {
                if word & 0x8080_8080_8080_8080 != 0 { isASCII = false }
                position += 8
                continue
            }
            let plain = marks.trailingZeroBitCount >> 3
            if plain > 0, word & (0x8080_8080_8080_8080 >> UInt64(64 - 8 * plain)) != 0 { isASCII = false }
            position += plain
            let byte = window.pointee.base[position]
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\") {
                try copyToScratch(from: start, to: position, isASCII: isASCII)
                window.pointee.position = position
                try escape()
                start = window.pointee.position
                position = start
                isASCII = true
                if scratch.count > limit { throw tooLong(name, limit) }
                continue
            }
            if position >= window.pointee.end {
                position = window.pointee.end
                guard let moved = try input.refill(keepingFrom: start) else {
                    window.pointee.position = window.pointee.end
                    throw error(.truncated, "The document ends inside a string.", at: input.offset)
                }
                start -= moved
                position -= moved
                if position - start > limit { throw tooLong(name, limit) }
                continue
            }
            throw error(
                .syntax, "A control character in a string must be written as an escape.",
                at: window.pointee.offset + position)
        }
        if textIsInScratch {
            try copyToScratch(from: start, to: position, isASCII: isASCII)
            textStart = 0
            textCount = scratch.count
        } else {
            try check(from: start, to: position, isASCII: isASCII)
            textStart = start
            textCount = position - start
        }
        if textCount > limit { throw tooLong(name, limit) }
        window.pointee.position = position + 1
    }

    private func tooLong(_ name: StaticString, _ limit: Int) -> DocumentError {
        error(.limit, "A \(name) is longer than \(limit) bytes.")
    }

    private func check(from start: Int, to end: Int, isASCII: Bool) throws {
        if isASCII { return }
        let bytes = UnsafeRawBufferPointer(start: input.window.pointee.base + start, count: end - start)
        if let invalid = UTF8Check.firstInvalid(in: bytes) {
            throw error(.invalidText, "The text is not valid UTF-8.", at: input.window.pointee.offset + start + invalid)
        }
    }

    private mutating func copyToScratch(from start: Int, to end: Int, isASCII: Bool) throws {
        try check(from: start, to: end, isASCII: isASCII)
        if !textIsInScratch {
            scratch.removeAll()
            textIsInScratch = true
        }
        scratch.append(UnsafeRawBufferPointer(start: input.window.pointee.base + start, count: end - start))
    }

    private mutating func moveTextToScratch() {
        guard !textIsInScratch else { return }
        scratch.removeAll()
        scratch.append(text)
        textIsInScratch = true
        textStart = 0
    }

    /// Reads an escape whose backslash is next, into the scratch.
    private mutating func escape() throws {
        let start = input.offset
        input.window.pointee.position += 1
        let byte = try takeByte()
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): scratch.append(byte)
        case UInt8(ascii: "b"): scratch.append(0x08)
        case UInt8(ascii: "f"): scratch.append(0x0C)
        case UInt8(ascii: "n"): scratch.append(0x0A)
        case UInt8(ascii: "r"): scratch.append(0x0D)
        case UInt8(ascii: "t"): scratch.append(0x09)
        case UInt8(ascii: "u"):
            var code = try hexadecimal(from: start)
            if code & 0xFC00 == 0xD800 {
                guard try takeByte() == UInt8(ascii: "\\"), try takeByte() == UInt8(ascii: "u") else {
                    throw halfPair(at: start)
                }
                let low = try hexadecimal(from: start)
                guard low & 0xFC00 == 0xDC00 else { throw halfPair(at: start) }
                code = 0x10000 + (code & 0x3FF) << 10 + low & 0x3FF
            }
            guard let scalar = Unicode.Scalar(code) else { throw halfPair(at: start) }
            for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { scratch.append(byte) }
        default:
            throw error(.syntax, "There is no such escape in JSON.", at: start)
        }
    }

    private func halfPair(at offset: Int) -> DocumentError {
        error(.invalidText, "An escape names half of a surrogate pair.", at: offset)
    }

    private mutating func hexadecimal(from start: Int) throws -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            let byte = try takeByte()
            switch byte {
            case 48...57: value = value << 4 | UInt32(byte - 48)
            case 65...70: value = value << 4 | UInt32(byte - 55)
            case 97...102: value = value << 4 | UInt32(byte - 87)
            default: throw error(.syntax, "`\\u` wants four hexadecimal digits.", at: start)
            }
        }
        return value
    }

    private static let longestNumber = 1024

    private mutating func readNumber() throws {
        let window = input.window
        // A number that reaches the window's end may go on behind it.
        while true {
            let start = window.pointee.position
            let length = NumberScan.scan(window.pointee.base + start, into: &number)
            let reaches = length.map { start + $0 >= window.pointee.end } ?? true
            if reaches, window.pointee.end - start <= JSONReader.longestNumber, !window.pointee.isLast {
                _ = try input.refill(keepingFrom: start)
                continue
            }
            guard let length else {
                throw endsInNumber(from: start) ? truncated() : error(.syntax, "This is no number by JSON's grammar.")
            }
            guard length <= JSONReader.longestNumber else {
                throw error(.limit, "A number has more than \(JSONReader.longestNumber) digits.")
            }
            textIsInScratch = false
            textStart = start
            textCount = length
            window.pointee.position = start + length
            return
        }
    }
}

// MARK: - The token's content

extension JSONReader {
    /// The text of the key, string or number that was read last, as UTF-8. Valid until the next call of `next`.
    public var text: UnsafeRawBufferPointer {
        if textIsInScratch { return UnsafeRawBufferPointer(start: scratch.base, count: textCount) }
        return UnsafeRawBufferPointer(start: input.window.pointee.base + textStart, count: textCount)
    }

    /// The text of the key, string or number that was read last.
    public func string() -> String {
        String(decoding: text, as: UTF8.self)
    }

    /// The number that was read last, where it is an integer of 64 bits, however it is written (`3`, `3.0`, `3e2`).
    public var integer: Int64? { number.integer }

    /// Whether the number that was read last is written without a fraction and an exponent.
    public var isWrittenAsInteger: Bool { number.isInteger }

    /// The number that was read last as the nearest double, or nil where it is beyond all doubles.
    public var double: Double? {
        if number.digits == 0 { return number.isNegative ? -0.0 : 0 }
        if let value = number.fastDouble { return value }
        guard let value = Double(string()), value.isFinite else { return nil }
        return value
    }

    /// The number that was read last as the nearest float, or nil where it is beyond all floats.
    public var float: Float? {
        guard let value = Float(string()), value.isFinite else { return nil }
        return value
    }

    /// The number that was read last as a decimal, or nil where a decimal cannot hold it exactly.
    public var decimal: Decimal? { DecimalText.decimal(text) }
}

// MARK: - Bytes

extension JSONReader {
    /// The next byte that is no white space, which stays the next; 0 at the end.
    @inline(__always)
    private mutating func nonSpace() throws -> UInt8 {
        let window = input.window
        while true {
            let byte = window.pointee.base[window.pointee.position]
            if byte > 0x20 { return byte }
            switch byte {
            case 0x20, 0x09, 0x0D:
                window.pointee.position += 1
            case 0x0A:
                window.pointee.position += 1
                line += 1
                lineStart = window.pointee.offset + window.pointee.position
            default:
                guard window.pointee.position >= window.pointee.end else { return byte }
                if try input.refill(keepingFrom: window.pointee.position) == nil { return 0 }
            }
        }
    }

    /// The next byte, which stays the next; 0 at the end.
    private func currentByte() throws -> UInt8 {
        input.window.pointee.base[input.window.pointee.position]
    }

    /// The next byte of a string, taken.
    private mutating func takeByte() throws -> UInt8 {
        let window = input.window
        if window.pointee.position >= window.pointee.end {
            guard try input.refill(keepingFrom: window.pointee.position) != nil,
                window.pointee.position < window.pointee.end
            else { throw error(.truncated, "The document ends inside a string.", at: input.offset) }
        }
        window.pointee.position += 1
        return window.pointee.base[window.pointee.position - 1]
    }

    private func isAtEnd() -> Bool {
        input.window.pointee.isLast && input.window.pointee.position >= input.window.pointee.end
    }

    /// Whether all that is left could begin a number.
    private func endsInNumber(from start: Int) -> Bool {
        let window = input.window.pointee
        let rest = UnsafeBufferPointer(start: window.base + start, count: window.end - start)
        return window.isLast && rest.count < 64 && rest.allSatisfy { "+-.eE0123456789".utf8.contains($0) }
    }

    private mutating func skipByteOrderMark() throws {
        let window = input.window
        while window.pointee.end < 3, try input.refill(keepingFrom: 0) != nil {}
        let base = window.pointee.base
        if base[0] == 0xEF, base[1] == 0xBB, base[2] == 0xBF { window.pointee.position = 3 }
    }
}

// MARK: - Places

extension JSONReader {
    /// Where the token that was read last begins.
    public var place: DocumentPlace { place(at: tokenOffset) }

    var mark: PlaceMark {
        PlaceMark(offset: tokenOffset, line: line, column: tokenOffset - lineStart + 1)
    }

    private func place(at offset: Int) -> DocumentPlace {
        DocumentPlace(offset: offset, line: line, column: offset - lineStart + 1, pointer: pointer)
    }

    /// The way to where the reader stands, as a JSON pointer.
    var pointer: String {
        var text = ""
        var shown = frames[...]
        if shown.count > 64 {
            shown = shown.suffix(64)
            text = "…"
        }
        for (position, frame) in zip(shown.indices, shown) {
            if frame.isObject {
                let end = position + 1 < frames.count ? frames[position + 1].pathStart : path.count
                // An object that has just been opened has no current member.
                guard end > frame.pathStart || keys.count > frame.keysStart else { continue }
                text += "/" + DocumentPlace.escaped(path.string(from: frame.pathStart, to: end))
            } else if frame.index >= 0 {
                text += "/\(frame.index)"
            }
        }
        return text
    }

    private func error(_ code: DocumentError.Code, _ message: String, at offset: Int? = nil) -> DocumentError {
        DocumentError(code, message, at: place(at: offset ?? tokenOffset))
    }

    private func truncated() -> DocumentError {
        error(
            .truncated, "The document ends in the middle.", at: input.window.pointee.offset + input.window.pointee.end)
    }

    private mutating func unexpected(_ expected: String) -> DocumentError {
        let window = input.window
        if window.pointee.position >= window.pointee.end { return truncated() }
        return error(.syntax, "Expected \(expected) here.", at: input.offset)
    }
}
