import Foundation

/// A parsed JSON number: sign, the first 19 significant digits, and the position of the decimal point.
struct NumberScan {
    var isNegative = false
    /// The significant digits as a number, up to 64 bits.
    var digits: UInt64 = 0
    /// The exponent of the power of ten by which `digits` is multiplied.
    var exponent = 0
    /// Whether digits other than zero were dropped from `digits`.
    var isTruncated = false
    /// Whether the number is written without fraction and exponent.
    var isInteger = true

    /// The number, if it is a 64-bit integer, in any notation.
    var integer: Int64? {
        guard !isTruncated else { return nil }
        var magnitude = digits
        var power = exponent
        if magnitude == 0 { return 0 }
        while power < 0 {
            guard magnitude % 10 == 0 else { return nil }
            magnitude /= 10
            power += 1
        }
        while power > 0 {
            let (product, overflows) = magnitude.multipliedReportingOverflow(by: 10)
            if overflows { return nil }
            magnitude = product
            power -= 1
        }
        if isNegative { return magnitude <= Int64.min.magnitude ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil }
        return Int64(exactly: magnitude)
    }

    /// The nearest double, if that needs one rounding only (Clinger's fast path).
    var fastDouble: Double? {
        guard !isTruncated, digits <= 1 << 53, exponent >= -22, exponent <= 22 else { return nil }
        let whole = Double(digits)
        let value = exponent < 0 ? whole / NumberScan.powers[-exponent] : whole * NumberScan.powers[exponent]
        return isNegative ? -value : value
    }

    /// The powers of ten that are exact as doubles.
    static let powers: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    /// Parses a number in `bytes`, which end with a byte that no number contains. Returns its length, or nil if
    /// there is no valid JSON number.
    @inline(__always)
    static func scan(_ bytes: UnsafePointer<UInt8>, into result: inout NumberScan) -> Int? {
        var scan = NumberScan()
        var next = bytes
        if next.pointee == UInt8(ascii: "-") {
            scan.isNegative = true
            next += 1
        }
        var count = 0
        let first = next
        while case let digit = next.pointee &- 48, digit < 10 {
            count += 1
            if count <= 19 {
                scan.digits = scan.digits &* 10 &+ UInt64(digit)
            } else {
                scan.exponent += 1
                if digit != 0 { scan.isTruncated = true }
            }
            next += 1
        }
        guard count > 0, count == 1 || first.pointee != UInt8(ascii: "0") else { return nil }
        if next.pointee == UInt8(ascii: ".") {
            scan.isInteger = false
            next += 1
            let fraction = next
            while case let digit = next.pointee &- 48, digit < 10 {
                // Leading zeros are not stored.
                if scan.digits > 0 || digit != 0 { count = scan.digits == 0 ? 1 : count + 1 }
                if count <= 19 {
                    scan.digits = scan.digits &* 10 &+ UInt64(digit)
                    scan.exponent -= 1
                } else if digit != 0 {
                    scan.isTruncated = true
                }
                next += 1
            }
            if next == fraction { return nil }
        }
        if next.pointee | 0x20 == UInt8(ascii: "e") {
            scan.isInteger = false
            next += 1
            let isNegative = next.pointee == UInt8(ascii: "-")
            if isNegative || next.pointee == UInt8(ascii: "+") { next += 1 }
            let start = next
            var exponent = 0
            while case let digit = next.pointee &- 48, digit < 10 {
                if exponent < 1_000_000 { exponent = exponent * 10 + Int(digit) }
                next += 1
            }
            if next == start { return nil }
            scan.exponent += isNegative ? -exponent : exponent
        }
        result = scan
        return next - bytes
    }

    /// Parses a number that is the whole text. The text is copied, so that it ends with a zero.
    static func scan(text: UnsafeRawBufferPointer) -> NumberScan? {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count + 1) { copy in
            guard let base = copy.baseAddress else { return nil }
            copy.initialize(repeating: 0)
            UnsafeMutableRawBufferPointer(copy).copyMemory(from: text)
            var result = NumberScan()
            guard scan(base, into: &result) == text.count else { return nil }
            return result
        }
    }
}
