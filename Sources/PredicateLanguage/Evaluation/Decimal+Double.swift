import Foundation

// Conversion between decimals and doubles: a store keeps decimals as doubles, and the shortest text of a double is the
// original decimal.

extension Decimal {
    /// The decimal with the fewest digits that converts to the double; NaN if the double is out of the range of
    /// decimals.
    package init(shortestOf number: Double) {
        // Foundation's initializer traps at infinity.
        guard number.isFinite else {
            self = .nan
            return
        }
        // Integers of up to fifteen digits divided by a power of ten are exact, and found without text.
        var scaled = number
        var power = 1.0
        var exponent = 0
        while exponent <= 8, scaled.magnitude < 1e15 {
            let digits = scaled.rounded()
            if digits / power == number {
                self = Decimal(
                    sign: .plus, exponent: -exponent, significand: Decimal(Int64(digits)))
                return
            }
            exponent += 1
            power *= 10
            scaled = number * power
        }
        self = Decimal(string: "\(number)") ?? Decimal(number)
    }

    /// The number as a decimal: integers exactly, others with the fewest digits, and NaN for those out of the range of decimals.
    /// Foundation's own property stops the program for an infinite number, and rounds integers to doubles.
    package init(_ number: NSNumber) {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case _ where number is NSDecimalNumber: self = number.decimalValue
        case UInt8(ascii: "d"): self = Decimal(shortestOf: number.doubleValue)
        case UInt8(ascii: "f"):
            let digits = Double(number.floatValue.description)
            self = Decimal(shortestOf: digits ?? number.doubleValue)
        case UInt8(ascii: "Q"): self = Decimal(number.uint64Value)
        default: self = Decimal(number.int64Value)
        }
    }

    /// The double nearest to the decimal. Foundation's own conversion may differ in the last bit.
    package var nearestDouble: Double {
        if isNaN { return .nan }
        if let (digits, exponent) = DecimalParts.parts(of: self) {
            // Both operands are exact as doubles, so that the division or multiplication rounds only once.
            if exponent < 0 { return digits / DecimalParts.powers[-exponent] }
            return digits * DecimalParts.powers[exponent]
        }
        return Double(description) ?? NSDecimalNumber(decimal: self).doubleValue
    }
}

/// The digits and the exponent of a decimal, which Foundation does not expose.
private enum DecimalParts {
    static let powers: [Double] = (0...22).map { pow(10, Double($0)) }

    /// Nil if the digits do not fit a double exactly.
    static func parts(of decimal: Decimal) -> (digits: Double, exponent: Int)? {
        guard isLayoutKnown else { return nil }
        return read(decimal)
    }

    // Unsafe because the fields are read from memory: an exponent, a byte with length and sign, and sixteen bytes of
    // digits. Used only if decimals with known values have shown this layout.
    private static func read(_ decimal: Decimal) -> (digits: Double, exponent: Int)? {
        withUnsafeBytes(of: decimal) { bytes in
            let exponent = Int(Int8(bitPattern: bytes[0]))
            let flags = bytes[1]
            let low = bytes.loadUnaligned(fromByteOffset: 4, as: UInt64.self)
            let length = flags >> 4
            guard length <= 4, low < 1 << 53, exponent.magnitude <= 22 else { return nil }
            let isNegative = flags & 0x08 != 0
            // No digits and a negative sign represent "not a number".
            guard length > 0 || !isNegative else { return nil }
            let digits = length == 0 ? 0 : Double(low)
            return (isNegative ? -digits : digits, exponent)
        }
    }

    private static let isLayoutKnown: Bool = {
        guard MemoryLayout<Decimal>.size == 20 else { return false }
        let samples: [(String, Double, Int)] = [
            ("-12345678901.23", -1_234_567_890_123, -2), ("7", 7, 0), ("0.5", 5, -1), ("65536", 65536, 0),
        ]
        return samples.allSatisfy { text, digits, exponent in
            guard let decimal = Decimal(string: text), let found = read(decimal) else { return false }
            return found.digits == digits && found.exponent == exponent
        }
    }()
}
