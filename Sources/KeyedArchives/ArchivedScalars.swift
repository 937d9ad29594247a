import Foundation

/// The archived representation of values whose classes have encodings of their own.
enum ArchivedScalars {
    static func uuid(_ bytes: Data) -> UUID {
        var uuid = UUID().uuid
        withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: bytes.prefix(16)) }
        return UUID(uuid: uuid)
    }

    static func bytes(_ uuid: UUID) -> Data {
        withUnsafeBytes(of: uuid.uuid) { Data($0) }
    }

    /// The byte order of a decimal's mantissa: CoreFoundation's constant for little-endian.
    private static let littleEndian: Int64 = 1

    /// The decimal of an `NSDecimalNumber`: eight digits in base 65536, an exponent in base 10 and a sign.
    static func decimal(_ fields: PropertyListDictionary) -> Decimal? {
        guard let mantissa = fields["NS.mantissa"]?.data, mantissa.count == 16,
            let exponent = fields["NS.exponent"]?.integer, (-128...127).contains(exponent)
        else { return nil }
        let isNegative = fields["NS.negative"]?.boolean ?? false
        let length = fields["NS.length"]?.integer ?? 8
        if length == 0 { return isNegative ? Decimal.nan : 0 }
        let isLittleEndian = (fields["NS.mantissa.bo"]?.integer ?? littleEndian) == littleEndian
        let bytes = Array(mantissa)
        var value = Decimal(0)
        for position in (0..<8).reversed() {
            let (first, second) = (UInt16(bytes[2 * position]), UInt16(bytes[2 * position + 1]))
            let digit = isLittleEndian ? second << 8 | first : first << 8 | second
            value = value * 65536 + Decimal(Int(digit))
        }
        let scaled = Decimal(sign: .plus, exponent: Int(exponent), significand: value)
        return isNegative ? -scaled : scaled
    }

    /// The fields of an `NSDecimalNumber`.
    static func fields(_ decimal: Decimal) -> PropertyListDictionary {
        var digits: [UInt8] = []
        var rest = decimal.isNaN ? 0 : decimal.significand
        for _ in 0..<8 {
            var quotient = rest / 65536
            var floor = Decimal()
            NSDecimalRound(&floor, &quotient, 0, .down)
            let digit = UInt16(clamping: NSDecimalNumber(decimal: rest - floor * 65536).intValue)
            digits += [UInt8(truncatingIfNeeded: digit), UInt8(truncatingIfNeeded: digit >> 8)]
            rest = floor
        }
        let length = (digits.lastIndex { $0 != 0 } ?? -2) / 2 + 1
        return PropertyListDictionary([
            ("NS.mantissa", .data(Data(digits))),
            ("NS.mantissa.bo", .integer(littleEndian)),
            ("NS.length", .integer(Int64(length))),
            ("NS.exponent", .integer(Int64(decimal.isNaN ? 0 : decimal.exponent))),
            ("NS.negative", .boolean(decimal.isNaN || decimal.sign == .minus)),
            ("NS.compact", .boolean(true)),
        ])
    }
}
