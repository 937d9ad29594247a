/// Integers as decimal digits, written directly into a buffer.
enum IntegerText {
    /// The maximum number of bytes of an integer.
    static let longest = 20

    /// Writes an integer and returns the position after it.
    @inline(__always)
    static func write(_ value: Int64, at start: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        if value < 0 {
            start.pointee = UInt8(ascii: "-")
            return write(value.magnitude, at: start + 1)
        }
        return write(value.magnitude, at: start)
    }

    /// Writes a number without a sign and returns the position after it.
    static func write(_ value: UInt64, at start: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        let count = digitCount(value)
        write(value, digits: count, at: start)
        return start + count
    }

    /// Writes the last `digits` digits, with leading zeros.
    static func write(_ value: UInt64, digits: Int, at start: UnsafeMutablePointer<UInt8>) {
        let pairs: StaticString = """
            0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
            5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899
            """
        let table = pairs.utf8Start
        var rest = value
        var index = digits
        while index >= 2 {
            index -= 2
            let pair = Int(rest % 100) * 2
            rest /= 100
            start[index] = table[pair]
            start[index + 1] = table[pair + 1]
        }
        if index == 1 { start[0] = UInt8(truncatingIfNeeded: rest % 10) + UInt8(ascii: "0") }
    }

    static func digitCount(_ value: UInt64) -> Int {
        var count = 1
        var rest = value
        while rest >= 10000 {
            rest /= 10000
            count += 4
        }
        if rest >= 1000 { return count + 3 }
        if rest >= 100 { return count + 2 }
        return rest >= 10 ? count + 1 : count
    }
}
