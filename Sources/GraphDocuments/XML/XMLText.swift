/// Text inside XML.
enum XMLText {
    /// Whether XML 1.0 can represent the text at all: it excludes control characters and two others, even escaped.
    static func canHold(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte < 0x20, byte != 0x09, byte != 0x0A, byte != 0x0D { return false }
            // U+FFFE and U+FFFF
            if byte == 0xEF, index + 2 < bytes.count, bytes[index + 1] == 0xBF, bytes[index + 2] >= 0xBE {
                return false
            }
            index += 1
        }
        return true
    }

    /// Writes text as an element's content, or as the value of an XML attribute. Line ends that a parser would
    /// normalise are written as character references.
    static func write(_ text: String, to output: ByteOutput, inAttribute: Bool = false) throws {
        var text = text
        try text.withUTF8 { try write(UnsafeRawBufferPointer($0), to: output, inAttribute: inAttribute) }
    }

    static func write(_ bytes: UnsafeRawBufferPointer, to output: ByteOutput, inAttribute: Bool) throws {
        var start = 0
        for index in 0..<bytes.count {
            let replacement: StaticString
            switch bytes[index] {
            case UInt8(ascii: "&"): replacement = "&amp;"
            case UInt8(ascii: "<"): replacement = "&lt;"
            case UInt8(ascii: ">"): replacement = "&gt;"
            case 0x0D: replacement = "&#13;"
            case UInt8(ascii: "\"") where inAttribute: replacement = "&quot;"
            case 0x09 where inAttribute: replacement = "&#9;"
            case 0x0A where inAttribute: replacement = "&#10;"
            default: continue
            }
            try output.write(UnsafeRawBufferPointer(rebasing: bytes[start..<index]))
            try output.write(literal: replacement)
            start = index + 1
        }
        try output.write(UnsafeRawBufferPointer(rebasing: bytes[start...]))
    }

    /// The text with characters that XML cannot represent written as `\uXXXX`, and `\` doubled.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x5C: result += "\\\\"
            case 0x09, 0x0A, 0x0D: result.unicodeScalars.append(scalar)
            case 0..<0x20, 0xFFFE, 0xFFFF:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Reverts `escaped`, or returns nil for an invalid escape.
    static func unescaped(_ text: String) -> String? {
        var result: [UInt8] = []
        var bytes = Array(text.utf8)[...]
        while let byte = bytes.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                result.append(byte)
                continue
            }
            switch bytes.popFirst() {
            case UInt8(ascii: "\\"): result.append(UInt8(ascii: "\\"))
            case UInt8(ascii: "u"):
                let digits = String(decoding: bytes.prefix(4), as: UTF8.self)
                bytes = bytes.dropFirst(4)
                guard digits.utf8.count == 4, let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value)
                else { return nil }
                result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            default: return nil
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
