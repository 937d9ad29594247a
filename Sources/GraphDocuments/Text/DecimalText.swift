import Foundation

/// Exact conversion between decimals and plain digits.
enum DecimalText {
    /// The maximum number of bytes of a decimal: sign, 38 digits and up to 128 zeros, point.
    static let longest = 192

    /// Writes a decimal without an exponent (`-0.01`, `1200`; `NaN`) and returns the position after it.
    static func write(_ value: Decimal, at start: UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8> {
        var out = start
        if value.isNaN {
            for byte in "NaN".utf8 {
                out.pointee = byte
                out += 1
            }
            return out
        }
        if value.sign == .minus, !value.isZero {
            out.pointee = UInt8(ascii: "-")
            out += 1
        }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longest) { digits in
            guard let base = digits.baseAddress else { return out }
            var (count, exponent) = writeDigits(of: value, at: base)
            // One number has one form: without trailing zeros in the fraction.
            while exponent < 0, count > 1, base[count - 1] == UInt8(ascii: "0") {
                count -= 1
                exponent += 1
            }
            let whole = count + exponent
            if whole <= 0 {
                out[0] = UInt8(ascii: "0")
                out[1] = UInt8(ascii: ".")
                out += 2
                (out).update(repeating: UInt8(ascii: "0"), count: -whole)
                out += -whole
                out.update(from: base, count: count)
                return out + count
            }
            let taken = min(whole, count)
            out.update(from: base, count: taken)
            out += taken
            if exponent > 0 {
                out.update(repeating: UInt8(ascii: "0"), count: exponent)
                return out + exponent
            }
            if taken < count {
                out.pointee = UInt8(ascii: ".")
                (out + 1).update(from: base + taken, count: count - taken)
                out += 1 + count - taken
            }
            return out
        }
    }

    /// A decimal as text.
    static func text(_ value: Decimal) -> String {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longest) { buffer in
            guard let base = buffer.baseAddress else { return "" }
            let end = write(value, at: base)
            return String(decoding: UnsafeBufferPointer(start: base, count: end - base), as: UTF8.self)
        }
    }

    /// The decimal of a text, or nil if it is not a number or not exact as a `Decimal`.
    static func decimal(_ text: UnsafeRawBufferPointer) -> Decimal? {
        if text.elementsEqual("NaN".utf8) { return Decimal.nan }
        guard let scan = NumberScan.scan(text: text) else { return nil }
        if scan.digits == 0 { return 0 }
        if !scan.isTruncated {
            var exponent = scan.exponent
            var digits = scan.digits
            while exponent < -128 || (digits % 10 == 0 && exponent < 0) {
                guard digits % 10 == 0 else { return nil }
                digits /= 10
                exponent += 1
            }
            if exponent <= 127 {
                let value = Decimal(
                    sign: scan.isNegative ? .minus : .plus, exponent: exponent, significand: Decimal(digits))
                // The digits may have zeros at their end, which Foundation adds to the exponent.
                if !value.isNaN { return value }
            }
        }
        return exact(text)
    }

    /// The conversion of long numbers: all digits are collected, and the result is compared with the input.
    private static func exact(_ text: UnsafeRawBufferPointer) -> Decimal? {
        let string = String(decoding: text, as: UTF8.self)
        guard var significant = Digits(text) else { return nil }
        significant.trim()
        guard significant.digits.count <= 39, (-128...165).contains(significant.exponent) else { return nil }
        guard let value = Decimal(string: string, locale: nil), !value.isNaN else { return nil }
        let written = DecimalText.text(value)
        var copy = Array(written.utf8)
        let back = copy.withUnsafeMutableBytes { Digits(UnsafeRawBufferPointer($0)) }
        guard var back else { return nil }
        back.trim()
        return back == significant ? value : nil
    }

    /// A number's digits without its point.
    private struct Digits: Equatable {
        var isNegative = false
        var digits: [UInt8] = []
        var exponent = 0

        init?(_ text: UnsafeRawBufferPointer) {
            var hasPoint = false
            var index = 0
            while index < text.count {
                let byte = text[index]
                switch byte {
                case UInt8(ascii: "-"): isNegative = true
                case UInt8(ascii: "."): hasPoint = true
                case 48...57:
                    if !(digits.isEmpty && byte == 48) { digits.append(byte) }
                    if hasPoint { exponent -= 1 }
                default:
                    guard let power = Int(String(decoding: text[(index + 1)...], as: UTF8.self)),
                        power.magnitude < 1_000_000
                    else { return nil }
                    exponent += power
                    index = text.count
                }
                index += 1
            }
        }

        /// Moves trailing zeros to the exponent.
        mutating func trim() {
            while digits.last == 48 {
                digits.removeLast()
                exponent += 1
            }
            if digits.isEmpty { self = Digits(empty: ()) }
        }

        private init(empty: Void) {}
    }
}

// MARK: - Digits

extension DecimalText {
    /// Writes the magnitude's digits without a point; returns their number, and the exponent of their power of ten.
    private static func writeDigits(
        of value: Decimal, at start: UnsafeMutablePointer<UInt8>
    ) -> (count: Int, exponent: Int) {
        if value.isZero {
            start.pointee = UInt8(ascii: "0")
            return (1, 0)
        }
        if let lengthShift { return writeMantissa(of: value, lengthShift: lengthShift, at: start) }
        var count = 0
        var exponent = 0
        var isFraction = false
        for byte in value.magnitude.description.utf8 {
            if byte == UInt8(ascii: ".") {
                isFraction = true
                continue
            }
            if isFraction { exponent -= 1 }
            if count == 0, byte == UInt8(ascii: "0") { continue }
            start[count] = byte
            count += 1
        }
        return (count, exponent)
    }

    /// The memory layout of a decimal: exponent in the first byte, 16-bit words of the mantissa from the fifth byte on,
    /// and their number in one half of the second byte; nil for another layout. Determined by tests, because the only
    /// public access to the digits, the description, costs ten times as much.
    private static let lengthShift: UInt8? = [0, 4].first { shift in
        guard MemoryLayout<Decimal>.size == 20 else { return false }
        let probes = [
            "1", "-12.5", "98765432109876543210.123456789", "34000000000000000000000000000000000000", "1e100",
        ]
        for probe in probes {
            guard let value = Decimal(string: probe, locale: nil) else { return false }
            let digits = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longest) { buffer in
                guard let base = buffer.baseAddress else { return "" }
                let (count, exponent) = writeMantissa(of: value, lengthShift: shift, at: base)
                return String(decoding: UnsafeBufferPointer(start: base, count: count), as: UTF8.self) + "e\(exponent)"
            }
            guard Decimal(string: digits, locale: nil) == value.magnitude else { return false }
        }
        return true
    }

    private static func writeMantissa(
        of value: Decimal, lengthShift: UInt8, at start: UnsafeMutablePointer<UInt8>
    ) -> (count: Int, exponent: Int) {
        withUnsafeBytes(of: value) { bytes in
            let exponent = Int(Int8(bitPattern: bytes[0]))
            let length = Int(bytes[1] >> lengthShift & 0x0F)
            var low: UInt64 = 0
            var high: UInt64 = 0
            for index in 0..<min(length, 8) {
                let word = UInt64(bytes[4 + 2 * index]) | UInt64(bytes[5 + 2 * index]) << 8
                if index < 4 { low |= word << UInt64(16 * index) } else { high |= word << UInt64(16 * (index - 4)) }
            }
            return (write(high: high, low: low, at: start), exponent)
        }
    }

    /// Writes a number of 128 bits and returns its number of digits.
    private static func write(high: UInt64, low: UInt64, at start: UnsafeMutablePointer<UInt8>) -> Int {
        if high == 0 { return IntegerText.write(low, at: start) - start }
        let scale: UInt64 = 10_000_000_000_000_000_000
        // Two divisions give three parts of 19 digits; the first of them has one digit at most.
        let (carry, rest) = high.quotientAndRemainder(dividingBy: scale)
        let (quotient, lowest) = scale.dividingFullWidth((rest, low))
        let (highest, middle) = scale.dividingFullWidth((carry, quotient))
        var out = start
        if highest > 0 {
            out = IntegerText.write(highest, at: out)
            IntegerText.write(middle, digits: 19, at: out)
            out += 19
        } else if middle > 0 {
            out = IntegerText.write(middle, at: out)
        } else {
            return IntegerText.write(lowest, at: out) - start
        }
        IntegerText.write(lowest, digits: 19, at: out)
        return out + 19 - start
    }
}
