/// The classes of characters of XML 1.0, fifth edition.
enum XMLCharacters {
    /// By ASCII byte: whether a name may begin with it (1), and whether it may be inside one (2).
    private static let nameBytes: [UInt8] = (0..<128).map { byte in
        switch UInt8(byte) {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: ":"),
            UInt8(ascii: "_"):
            3
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): 2
        default: 0
        }
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    /// The end of a name in valid UTF-8, or of its part before the end of the bytes. Returns the start if no name
    /// begins there.
    static func endOfName(in bytes: UnsafeBufferPointer<UInt8>, from start: Int, isStart: Bool) -> Int {
        nameBytes.withUnsafeBufferPointer { table in
            var index = start
            while index < bytes.count {
                let mayBegin = isStart && index == start
                let byte = bytes[index]
                if byte < 0x80 {
                    guard table[Int(byte)] & (mayBegin ? 1 : 2) != 0 else { return index }
                    index += 1
                } else {
                    let (scalar, length) = scalar(in: bytes, at: index)
                    guard isNameStart(scalar) || !mayBegin && isNamePart(scalar) else { return index }
                    index += length
                }
            }
            return index
        }
    }

    /// A character of more than one byte in valid UTF-8, and the number of its bytes.
    private static func scalar(in bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> (UInt32, Int) {
        let first = bytes[index]
        let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        var value = UInt32(first) & (0x7F >> UInt32(length))
        for following in 1..<length { value = value << 6 | UInt32(bytes[index + following] & 0x3F) }
        return (value, length)
    }

    private static func isNameStart(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF, 0x370...0x37D, 0x37F...0x1FFF, 0x200C...0x200D, 0x2070...0x218F,
            0x2C00...0x2FEF, 0x3001...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFFD, 0x10000...0xEFFFF:
            true
        default: false
        }
    }

    private static func isNamePart(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0xB7, 0x300...0x36F, 0x203F...0x2040: true
        default: false
        }
    }

    /// Whether a document may contain the character at all, even as a reference.
    static func isAllowed(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x09, 0x0A, 0x0D, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }

    /// The bytes that stand for themselves in content (1) and in the value of an attribute (2). The others end a run of
    /// text, or must be looked at: 0xEF begins the two characters U+FFFE and U+FFFF, which are not allowed.
    static let plainBytes: [UInt8] = (0..<256).map { byte in
        switch UInt8(byte) {
        case UInt8(ascii: "<"), UInt8(ascii: "&"), 0xEF: 0
        case UInt8(ascii: "]"): 2
        case UInt8(ascii: "\""), UInt8(ascii: "'"), 0x09, 0x0A: 1
        case 0..<0x20: 0
        default: 3
        }
    }
}
