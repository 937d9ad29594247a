/// Validates UTF-8, with a fast path for ASCII.
package enum UTF8Check {
    /// The position of the first byte that is not part of valid UTF-8, or nil. Surrogates, overlong forms and values
    /// above U+10FFFF are invalid.
    package static func firstInvalid(in bytes: UnsafeRawBufferPointer) -> Int? {
        let count = bytes.count
        var index = 0
        while index < count {
            if index + 8 <= count {
                let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                if word & 0x8080_8080_8080_8080 == 0 {
                    index += 8
                    continue
                }
            }
            let first = bytes[index]
            if first < 0x80 {
                index += 1
                continue
            }
            let length: Int
            let lowest: UInt8
            let highest: UInt8
            switch first {
            case 0xC2...0xDF: (length, lowest, highest) = (2, 0x80, 0xBF)
            case 0xE0: (length, lowest, highest) = (3, 0xA0, 0xBF)
            case 0xED: (length, lowest, highest) = (3, 0x80, 0x9F)
            case 0xE1...0xEF: (length, lowest, highest) = (3, 0x80, 0xBF)
            case 0xF0: (length, lowest, highest) = (4, 0x90, 0xBF)
            case 0xF1...0xF3: (length, lowest, highest) = (4, 0x80, 0xBF)
            case 0xF4: (length, lowest, highest) = (4, 0x80, 0x8F)
            default: return index
            }
            guard index + length <= count, (lowest...highest).contains(bytes[index + 1]) else { return index }
            for following in 2..<max(length, 2) where bytes[index + following] & 0xC0 != 0x80 { return index }
            index += length
        }
        return nil
    }
}
