extension JSONReader {
    /// The longest distance that is looked ahead, in bytes.
    private static let longestDistance = 16 << 20

    /// The string under a key of the innermost open object, found before it is read. Nil if the rest of the object has no such
    /// member, or none within 16 MB, or if the string contains escapes. Cost: the rest of the object up to the member is
    /// searched, and stays in the window.
    mutating func stringAhead(under key: [UInt8]) throws -> String? {
        var distance = 0
        var depth = 0
        while let byte = try byteAhead(distance) {
            distance += 1
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth < 0 { return nil }
            case UInt8(ascii: "\""):
                let start = distance
                guard let end = try endOfStringAhead(start) else { return nil }
                distance = end + 1
                guard depth == 0, end - start == key.count, try bytesAhead(start..<end) == key,
                    let colon = try nonSpaceAhead(distance), try byteAhead(colon) == UInt8(ascii: ":"),
                    let quote = try nonSpaceAhead(colon + 1), try byteAhead(quote) == UInt8(ascii: "\"")
                else { continue }
                guard let last = try endOfStringAhead(quote + 1) else { return nil }
                let text = try bytesAhead((quote + 1)..<last)
                return text.contains(UInt8(ascii: "\\")) ? nil : String(decoding: text, as: UTF8.self)
            default: break
            }
        }
        return nil
    }

    /// The position of the quotation mark that ends a string.
    private mutating func endOfStringAhead(_ start: Int) throws -> Int? {
        var distance = start
        while let byte = try byteAhead(distance) {
            if byte == UInt8(ascii: "\"") { return distance }
            distance += byte == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }

    private mutating func nonSpaceAhead(_ start: Int) throws -> Int? {
        var distance = start
        while let byte = try byteAhead(distance) {
            if ![0x20, 0x09, 0x0A, 0x0D].contains(byte) { return distance }
            distance += 1
        }
        return nil
    }

    private mutating func bytesAhead(_ range: Range<Int>) throws -> [UInt8] {
        try range.map { try byteAhead($0) ?? 0 }
    }

    /// The byte at a distance from the next one. The text of the token that was read last stays valid.
    private mutating func byteAhead(_ distance: Int) throws -> UInt8? {
        let window = input.window
        while window.pointee.position + distance >= window.pointee.end {
            let start = textIsInScratch ? window.pointee.position : min(textStart, window.pointee.position)
            guard distance < Self.longestDistance, let moved = try input.refill(keepingFrom: start) else { return nil }
            if !textIsInScratch { textStart -= moved }
        }
        return window.pointee.base[window.pointee.position + distance]
    }
}
