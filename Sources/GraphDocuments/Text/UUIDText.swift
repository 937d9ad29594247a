import Foundation

/// UUIDs in their usual form, written in upper case as Foundation does, read in either case.
enum UUIDText {
    static let length = 36

    /// Writes 36 bytes and returns the position after them.
    static func write(
        _ bytes: UnsafeRawBufferPointer, at start: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        let digits: StaticString = "0123456789ABCDEF"
        let table = digits.utf8Start
        var out = start
        for index in 0..<16 {
            if index == 4 || index == 6 || index == 8 || index == 10 {
                out.pointee = UInt8(ascii: "-")
                out += 1
            }
            let byte = Int(bytes[index])
            out[0] = table[byte >> 4]
            out[1] = table[byte & 15]
            out += 2
        }
        return out
    }

    /// The text of a UUID, as `UUID.uuidString`, which formats it with a C function for many times the cost.
    static func text(_ uuid: UUID) -> String {
        withUnsafeBytes(of: uuid.uuid) { bytes in
            String(unsafeUninitializedCapacity: length) { text in
                guard let start = text.baseAddress else { return 0 }
                return write(bytes, at: start) - start
            }
        }
    }

    /// The UUID of a text, or nil.
    static func uuid(_ text: UnsafeRawBufferPointer) -> UUID? {
        guard text.count == length else { return nil }
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        let isValid = withUnsafeMutableBytes(of: &bytes) { bytes in
            var position = 0
            for index in 0..<16 {
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    guard text[position] == UInt8(ascii: "-") else { return false }
                    position += 1
                }
                guard let high = value(text[position]), let low = value(text[position + 1]) else { return false }
                bytes[index] = high << 4 | low
                position += 2
            }
            return true
        }
        return isValid ? UUID(uuid: bytes) : nil
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 48...57: digit - 48
        case 65...70: digit - 55
        case 97...102: digit - 87
        default: nil
        }
    }
}
