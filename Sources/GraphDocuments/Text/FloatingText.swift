/// Doubles and floats with the shortest digits that identify them.
enum FloatingText {
    /// The maximum number of bytes of a double.
    static let longest = 32

    /// The word for a number that is not finite: `NaN`, `Infinity`, `-Infinity`.
    static func word(for value: Double) -> StaticString {
        if value.isNaN { return "NaN" }
        return value < 0 ? "-Infinity" : "Infinity"
    }

    /// The number of a word, or nil.
    static func number(for word: String) -> Double? {
        switch word {
        case "NaN": .nan
        case "Infinity": .infinity
        case "-Infinity": -.infinity
        // Only for formats whose zero has no sign.
        case "-0.0": -0.0
        default: nil
        }
    }

    /// Writes a finite double in the form of Swift's description, and returns the position after it.
    static func write(_ value: Double, at start: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        // Most numbers in databases have a few decimals. If m / 10^k is the number and m has at most 15 digits, then m's
        // digits are the shortest ones: two decimals of 15 digits never share a double.
        let magnitude = value.magnitude
        if magnitude < 1e12, magnitude >= 1e-3 || (value == 0 && value.sign == .plus) {
            let thousandths = (magnitude * 1e3).rounded()
            if thousandths / 1e3 == magnitude { return write(UInt64(thousandths), decimals: 3, of: value, at: start) }
            let millionths = (magnitude * 1e6).rounded()
            if millionths < 1e15, millionths / 1e6 == magnitude {
                return write(UInt64(millionths), decimals: 6, of: value, at: start)
            }
        }
        return copy(value.description, to: start)
    }

    /// Writes a finite float in the form of Swift's description, and returns the position after it.
    static func write(_ value: Float, at start: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        copy(value.description, to: start)
    }

    private static func write(
        _ digits: UInt64, decimals: Int, of value: Double, at start: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        var out = start
        if value < 0 {
            out.pointee = UInt8(ascii: "-")
            out += 1
        }
        let scale: UInt64 = decimals == 3 ? 1000 : 1_000_000
        out = IntegerText.write(digits / scale, at: out)
        out.pointee = UInt8(ascii: ".")
        IntegerText.write(digits % scale, digits: decimals, at: out + 1)
        out += 1 + decimals
        while out[-1] == UInt8(ascii: "0"), out[-2] != UInt8(ascii: ".") { out -= 1 }
        return out
    }

    private static func copy(_ text: String, to start: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        var text = text
        return text.withUTF8 { bytes in
            guard let base = bytes.baseAddress else { return start }
            start.update(from: base, count: bytes.count)
            return start + bytes.count
        }
    }
}
