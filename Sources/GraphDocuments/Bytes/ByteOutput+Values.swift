import Foundation

// The texts of values, written into the buffer of an output without a `String` of their own: the same as those of
// `TextValue.text(of:)`.

extension ByteOutput {
    /// Writes an integer in decimal digits.
    package func write(integer value: Int64) throws {
        cursor.pointee.next = IntegerText.write(value, at: try reserve(IntegerText.longest))
    }

    /// Writes a double with the shortest digits that identify it; `NaN`, `Infinity` or `-Infinity` if it is not finite.
    package func write(double value: Double) throws {
        guard value.isFinite else { return try write(literal: FloatingText.word(for: value)) }
        cursor.pointee.next = FloatingText.write(value, at: try reserve(FloatingText.longest))
    }

    /// Writes a float with the shortest digits that identify it.
    package func write(float value: Float) throws {
        guard value.isFinite else { return try write(literal: FloatingText.word(for: Double(value))) }
        cursor.pointee.next = FloatingText.write(value, at: try reserve(FloatingText.longest))
    }

    /// Writes a decimal with all digits.
    package func write(decimal value: Decimal) throws {
        cursor.pointee.next = DecimalText.write(value, at: try reserve(DecimalText.longest))
    }

    /// Writes a date, given in seconds since 2001, with full precision.
    package func write(date seconds: Double) throws {
        cursor.pointee.next = DateText.write(seconds, at: try reserve(DateText.longest))
    }

    /// Writes a UUID, given as its sixteen bytes.
    package func write(uuid bytes: UnsafeRawBufferPointer) throws {
        cursor.pointee.next = UUIDText.write(bytes, at: try reserve(UUIDText.length))
    }

    /// Writes bytes in Base64.
    package func write(base64 bytes: UnsafeRawBufferPointer) throws { try Base64.write(bytes, to: self) }
}
