/// Escapes in JSON strings.
enum JSONEscape {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let tops: UInt64 = 0x8080_8080_8080_8080

    /// Marks, with the top bit of each byte, the bytes of a word that need special treatment: `"`, `\` and control
    /// characters. The lowest mark is exact; those above it may be false positives.
    @inline(__always)
    static func special(_ word: UInt64) -> UInt64 {
        let quote = word ^ (ones &* 0x22)
        let backslash = word ^ (ones &* 0x5C)
        let control = (word &- ones &* 0x20) & ~word
        return (control | ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash)) & tops
    }

    /// Writes valid UTF-8 with the necessary escapes.
    static func write(_ bytes: UnsafeRawBufferPointer, to output: ByteOutput) throws {
        guard let base = bytes.baseAddress else { return }
        let source = base.assumingMemoryBound(to: UInt8.self)
        var index = 0
        while index < bytes.count {
            let end = min(bytes.count, index + 2048)
            var out = try output.reserve(6 * 2048 + 8)
            while index < end {
                if end - index >= 8 {
                    let word = UnsafeRawPointer(source + index).loadUnaligned(as: UInt64.self).littleEndian
                    // The whole word is stored; bytes that need an escape are overwritten afterwards.
                    UnsafeMutableRawPointer(out).storeBytes(of: word.littleEndian, as: UInt64.self)
                    let marks = special(word)
                    if marks == 0 {
                        index += 8
                        out += 8
                        continue
                    }
                    let plain = marks.trailingZeroBitCount >> 3
                    index += plain
                    out += plain
                    out = escape(source[index], at: out)
                } else {
                    let byte = source[index]
                    if byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
                        out.pointee = byte
                        out += 1
                    } else {
                        out = escape(byte, at: out)
                    }
                }
                index += 1
            }
            output.cursor.pointee.next = out
        }
    }

    private static func escape(_ byte: UInt8, at out: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        out[0] = UInt8(ascii: "\\")
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): out[1] = byte
        case 0x08: out[1] = UInt8(ascii: "b")
        case 0x09: out[1] = UInt8(ascii: "t")
        case 0x0A: out[1] = UInt8(ascii: "n")
        case 0x0C: out[1] = UInt8(ascii: "f")
        case 0x0D: out[1] = UInt8(ascii: "r")
        default:
            let digits: StaticString = "0123456789abcdef"
            out[1] = UInt8(ascii: "u")
            out[2] = UInt8(ascii: "0")
            out[3] = UInt8(ascii: "0")
            out[4] = digits.utf8Start[Int(byte >> 4)]
            out[5] = digits.utf8Start[Int(byte & 15)]
            return out + 6
        }
        return out + 2
    }
}
