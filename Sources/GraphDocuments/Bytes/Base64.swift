import Foundation

/// Base64 with the standard alphabet and padding (RFC 4648), written directly into an output's buffer.
enum Base64 {
    private static let alphabet: [UInt8] = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The value of each byte, or 255 for bytes outside the alphabet.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (index, byte) in alphabet.enumerated() { values[Int(byte)] = UInt8(index) }
        return values
    }()

    /// Writes the encoding of the bytes.
    static func write(_ bytes: UnsafeRawBufferPointer, to output: ByteOutput) throws {
        try alphabet.withUnsafeBufferPointer { alphabet in
            var index = 0
            while index < bytes.count {
                let end = min(bytes.count, index + 3 * 4096)
                let start = try output.reserve(4 * 4096)
                var out = start
                while index + 3 <= end {
                    let bits = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
                    out[0] = alphabet[Int(bits >> 18)]
                    out[1] = alphabet[Int(bits >> 12 & 63)]
                    out[2] = alphabet[Int(bits >> 6 & 63)]
                    out[3] = alphabet[Int(bits & 63)]
                    out += 4
                    index += 3
                }
                if index < end {
                    let isPair = end - index == 2
                    let bits = UInt32(bytes[index]) << 16 | (isPair ? UInt32(bytes[index + 1]) << 8 : 0)
                    out[0] = alphabet[Int(bits >> 18)]
                    out[1] = alphabet[Int(bits >> 12 & 63)]
                    out[2] = isPair ? alphabet[Int(bits >> 6 & 63)] : UInt8(ascii: "=")
                    out[3] = UInt8(ascii: "=")
                    out += 4
                    index = end
                }
                output.cursor.pointee.next = out
            }
        }
    }

    /// The bytes of a Base64 text, or nil if it is not valid. White space between groups is ignored, since property
    /// lists and XML break lines; padding at the end is required.
    static func decode(_ text: UnsafeRawBufferPointer) -> Data? {
        var data = Data(capacity: text.count / 4 * 3)
        var isValid = true
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 3 * 1024) { piece in
            var count = 0
            var bits: UInt32 = 0
            var digits = 0
            var padding = 0
            values.withUnsafeBufferPointer { values in
                for byte in text {
                    let value = values[Int(byte)]
                    if value != 255 {
                        guard padding == 0 else {
                            isValid = false
                            return
                        }
                        bits = bits << 6 | UInt32(value)
                        digits += 1
                    } else if byte == UInt8(ascii: "=") {
                        padding += 1
                        bits <<= 6
                        digits += 1
                    } else if byte == 0x20 || (0x09...0x0D).contains(byte) {
                        continue
                    } else {
                        isValid = false
                        return
                    }
                    if digits == 4 {
                        guard padding <= 2 else {
                            isValid = false
                            return
                        }
                        piece[count] = UInt8(truncatingIfNeeded: bits >> 16)
                        if padding < 2 { piece[count + 1] = UInt8(truncatingIfNeeded: bits >> 8) }
                        if padding < 1 { piece[count + 2] = UInt8(truncatingIfNeeded: bits) }
                        count += 3 - padding
                        bits = 0
                        digits = 0
                        if count > piece.count - 3 {
                            data.append(contentsOf: piece[..<count])
                            count = 0
                        }
                    }
                }
            }
            if digits != 0 || padding > 2 { isValid = false }
            data.append(contentsOf: piece[..<count])
        }
        return isValid ? data : nil
    }
}
