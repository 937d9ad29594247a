import Foundation

/// Reads JSON token by token from a source in chunks: memory does not grow with the document, and nesting uses no
/// stack.
///
/// The grammar is RFC 8259, strictly: valid UTF-8, no unpaired surrogates, no duplicate keys, no comments. Any
/// violation is a `DocumentError` with its position.
package struct JSONReader {
    /// Extensions of strict JSON that a reader accepts.
    package struct Options: Sendable, Hashable {
        /// Whether a trailing comma is accepted before a closing bracket.
        package var allowsTrailingCommas: Bool
        /// Whether several values may follow each other, as in JSON Lines.
        package var allowsManyValues: Bool

        /// Creates options; strict JSON by default.
        package init(allowsTrailingCommas: Bool = false, allowsManyValues: Bool = false) {
            self.allowsTrailingCommas = allowsTrailingCommas
            self.allowsManyValues = allowsManyValues
        }
    }

    let input: ByteInput
    let limits: DocumentLimits
    let options: Options

    /// The token that was read last. Its text is in the window, or in `scratch` after escapes were resolved.
    var textStart = 0
    var textCount = 0
    var textIsInScratch = false
    let scratch = ByteScratch()
    var number = NumberScan()

    private var expectation = Expectation.firstValue
    /// The search for members that have not been read.
    var ahead = JSONMemberSearch()
    private(set) var frames: [Frame] = []
    private(set) var keys = JSONKeySet()
    /// The names in the path of the reader's position; each frame has the beginning of its own.
    let path = ByteScratch()

    var line = 1
    /// The offset of the line's first byte.
    var lineStart = 0
    var tokenOffset = 0

    /// The tokens that may come next.
    private enum Expectation {
        case firstValue, anotherValue, memberValue, firstElement, nextElement, firstKey, nextKey, nothing
    }

    /// An open array or object.
    struct Frame {
        var isObject: Bool
        /// The index of the current element, in an array.
        var index = -1
        /// The offset of the first byte after the bracket.
        var start: Int
        /// The index in `path` of the current member's name.
        var pathStart: Int
        /// The index in `keys` of this object's first key.
        var keysStart: Int
    }

    /// Creates a reader of the source's bytes. A byte order mark at the beginning is skipped.
    package init(_ source: any ByteSource, options: Options = Options(), limits: DocumentLimits = .standard) {
        input = ByteInput(source, limits: limits)
        self.limits = limits
        self.options = options
    }

    /// Creates a reader of a document in memory.
    package init(_ data: Data, options: Options = Options(), limits: DocumentLimits = .standard) {
        self.init(MemorySource(data), options: options, limits: limits)
    }

    /// The bytes read so far.
    package var bytesRead: Int { input.offset }
    /// The size of the document, if it is known.
    package var byteCount: Int? { input.byteCount }
    /// The number of open arrays and objects.
    package var depth: Int { frames.count }

    // MARK: - Tokens

    /// Reads the next token. After the end of the document it is always `.end`.
    package mutating func next() throws -> DocumentToken {
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

    /// Skips the rest of the value whose first token was read last: up to the end of an array or object. Does nothing
    /// for any other value.
    package mutating func skipValue(after token: DocumentToken) throws {
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
            throw error(.duplicateKey, "The key \"\(string())\" occurs twice in one object.")
        }
        // The colon is read with the key, and the key's text must stay in the window.
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
        frames.append(
            Frame(isObject: isObject, start: input.offset, pathStart: path.count, keysStart: keys.count))
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

// MARK: - The token's content

extension JSONReader {
    /// The text of the key, string or number that was read last, as UTF-8. Valid until the next call of `next`.
    package var text: UnsafeRawBufferPointer {
        if textIsInScratch { return UnsafeRawBufferPointer(start: scratch.base, count: textCount) }
        return UnsafeRawBufferPointer(start: input.window.pointee.base + textStart, count: textCount)
    }

    /// The text of the key, string or number that was read last.
    package func string() -> String {
        String(decoding: text, as: UTF8.self)
    }

    /// The number that was read last, if it is a 64-bit integer, in any notation (`3`, `3.0`, `3e2`).
    package var integer: Int64? { number.integer }

    /// The number that was read last as the nearest double, or nil on overflow.
    package var double: Double? {
        if number.digits == 0 { return number.isNegative ? -0.0 : 0 }
        if let value = number.fastDouble { return value }
        guard let value = Double(string()), value.isFinite else { return nil }
        return value
    }

    /// The number that was read last as the nearest float, or nil on overflow.
    package var float: Float? {
        guard let value = Float(string()), value.isFinite else { return nil }
        return value
    }

    /// The number that was read last as a decimal, or nil if it is not exact.
    package var decimal: Decimal? { DecimalText.decimal(text) }
}
