/// The variable-length integers of SQLite's format.
enum Varint {
    /// Reads an integer and advances the position; nil if it does not end before `end`.
    static func read(_ bytes: [UInt8], _ position: inout Int, end: Int) -> Int64? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard position < end else { return nil }
            let byte = bytes[position]
            position += 1
            if index == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte < 0x80 { break }
        }
        return Int64(bitPattern: value)
    }
}
