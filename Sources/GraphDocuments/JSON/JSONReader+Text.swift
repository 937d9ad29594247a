import Foundation
import XMLReading

extension JSONReader {
    /// Reads a string whose opening quote is next.
    mutating func string(limit: Int, name: StaticString) throws {
        let window = input.window
        window.pointee.position += 1
        var start = window.pointee.position
        var position = start
        var isASCII = true
        textIsInScratch = false
        while true {
            // The bytes after the window are zero, at which the scan stops, so that whole words may be loaded up to its
            // end.
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

    func tooLong(_ name: StaticString, _ limit: Int) -> DocumentError {
        error(.limit, "A \(name) is longer than \(limit) bytes.")
    }

    func check(from start: Int, to end: Int, isASCII: Bool) throws {
        if isASCII { return }
        let bytes = UnsafeRawBufferPointer(start: input.window.pointee.base + start, count: end - start)
        if let invalid = UTF8Check.firstInvalid(in: bytes) {
            throw error(.invalidText, "The text is not valid UTF-8.", at: input.window.pointee.offset + start + invalid)
        }
    }

    mutating func copyToScratch(from start: Int, to end: Int, isASCII: Bool) throws {
        try check(from: start, to: end, isASCII: isASCII)
        if !textIsInScratch {
            scratch.removeAll()
            textIsInScratch = true
        }
        scratch.append(UnsafeRawBufferPointer(start: input.window.pointee.base + start, count: end - start))
    }

    mutating func moveTextToScratch() {
        guard !textIsInScratch else { return }
        scratch.removeAll()
        scratch.append(text)
        textIsInScratch = true
        textStart = 0
    }

    /// Reads an escape, starting at the backslash, into the scratch buffer.
    mutating func escape() throws {
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
            throw error(.syntax, "The escape is not valid in JSON.", at: start)
        }
    }

    func halfPair(at offset: Int) -> DocumentError {
        error(.invalidText, "An escape is half of a surrogate pair.", at: offset)
    }

    mutating func hexadecimal(from start: Int) throws -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            let byte = try takeByte()
            switch byte {
            case 48...57: value = value << 4 | UInt32(byte - 48)
            case 65...70: value = value << 4 | UInt32(byte - 55)
            case 97...102: value = value << 4 | UInt32(byte - 87)
            default: throw error(.syntax, "`\\u` requires four hexadecimal digits.", at: start)
            }
        }
        return value
    }

    static let longestNumber = 1024

    mutating func readNumber() throws {
        let window = input.window
        // A number that ends at the window's end may continue after it.
        while true {
            let start = window.pointee.position
            let length = NumberScan.scan(window.pointee.base + start, into: &number)
            let reaches = length.map { start + $0 >= window.pointee.end } ?? true
            if reaches, window.pointee.end - start <= JSONReader.longestNumber, !window.pointee.isLast {
                _ = try input.refill(keepingFrom: start)
                continue
            }
            guard let length else {
                throw endsInNumber(from: start) ? truncated() : error(.syntax, "The number is not valid in JSON.")
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
