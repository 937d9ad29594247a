import Foundation

extension JSONReader: TokenSource {
    @inline(__always)
    mutating func textIs(_ other: [UInt8]) -> Bool {
        text.count == other.count
            && other.withUnsafeBytes { other in
                guard let left = text.baseAddress, let right = other.baseAddress else { return true }
                return memcmp(left, right, other.count) == 0
            }
    }

    mutating func tokenText() -> String { String(decoding: text, as: UTF8.self) }

    mutating func value(_ token: DocumentToken, as type: GraphValueType) throws -> GraphValue {
        switch token {
        case .null: return .null
        case .true: return .bool(true)
        case .false: return .bool(false)
        case .number: return numberValue(as: type)
        default: return TextValue.value(text, as: type) ?? .string(string())
        }
    }

    private mutating func numberValue(as type: GraphValueType) -> GraphValue {
        switch type {
        case .double: if let double { return .double(double) }
        case .float: if let float { return .float(float) }
        case .decimal: return decimal.map { .decimal($0) } ?? .string(string())
        case .integer16, .integer32, .integer64:
            if let integer { return .integer(integer) }
            // The nearest double may be an integer that the document does not state.
            if let double, Int64(exactly: double) != nil { return decimal.map { .decimal($0) } ?? .string(string()) }
        default: break
        }
        // The number's type without a declaration: an integer if it is written as one and fits, a decimal if a
        // double would lose digits of an integer, else a double.
        if number.isInteger {
            if let integer { return integer == 0 && number.isNegative ? .double(-0.0) : .integer(integer) }
            if let decimal { return .decimal(decimal) }
        }
        if let double { return .double(double) }
        return decimal.map { .decimal($0) } ?? .string(string())
    }
}

extension JSONReader {
    /// Skips white space and peeks at the next byte; 0 at the end.
    @inline(__always)
    mutating func nonSpace() throws -> UInt8 {
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

    /// Peeks at the next byte; 0 at the end.
    func currentByte() throws -> UInt8 {
        input.window.pointee.base[input.window.pointee.position]
    }

    /// Consumes the next byte of a string.
    mutating func takeByte() throws -> UInt8 {
        let window = input.window
        if window.pointee.position >= window.pointee.end {
            guard try input.refill(keepingFrom: window.pointee.position) != nil,
                window.pointee.position < window.pointee.end
            else { throw error(.truncated, "The document ends inside a string.", at: input.offset) }
        }
        window.pointee.position += 1
        return window.pointee.base[window.pointee.position - 1]
    }

    func isAtEnd() -> Bool {
        input.window.pointee.isLast && input.window.pointee.position >= input.window.pointee.end
    }

    /// Whether the rest of the document could be the beginning of a number.
    func endsInNumber(from start: Int) -> Bool {
        let window = input.window.pointee
        let rest = UnsafeBufferPointer(start: window.base + start, count: window.end - start)
        return window.isLast && rest.count < 64 && rest.allSatisfy { "+-.eE0123456789".utf8.contains($0) }
    }

    mutating func skipByteOrderMark() throws {
        let window = input.window
        while window.pointee.end < 3, try input.refill(keepingFrom: 0) != nil {}
        let base = window.pointee.base
        if base[0] == 0xEF, base[1] == 0xBB, base[2] == 0xBF { window.pointee.position = 3 }
    }
}

// MARK: - Places

extension JSONReader {
    /// The position of the token that was read last.
    package var place: DocumentPlace { place(at: tokenOffset) }

    var mark: PlaceMark {
        mutating get { PlaceMark(offset: tokenOffset, line: line, column: tokenOffset - lineStart + 1) }
    }

    func place(at offset: Int) -> DocumentPlace {
        DocumentPlace(offset: offset, line: line, column: offset - lineStart + 1, pointer: pointer)
    }

    /// The path of the reader's position, as a JSON pointer.
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

    func error(_ code: DocumentError.Code, _ message: String, at offset: Int? = nil) -> DocumentError {
        DocumentError(code, message, at: place(at: offset ?? tokenOffset))
    }

    func truncated() -> DocumentError {
        error(
            .truncated, "The document ends in the middle.", at: input.window.pointee.offset + input.window.pointee.end)
    }

    mutating func unexpected(_ expected: String) -> DocumentError {
        let window = input.window
        if window.pointee.position >= window.pointee.end { return truncated() }
        return error(.syntax, "Expected \(expected) here.", at: input.offset)
    }
}
