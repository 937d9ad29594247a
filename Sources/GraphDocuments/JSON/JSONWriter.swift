import Foundation
import XMLReading

/// Writes JSON token by token into an output.
///
/// Only `"`, `\` and control characters are escaped. The caller is responsible for the order of calls: a key before
/// each member's value, an end for each beginning. The cost of each call is proportional to its output.
package struct JSONWriter {
    /// The output.
    package let output: ByteOutput
    private var needsComma = false

    /// Creates a writer to the output.
    package init(to output: ByteOutput) {
        self.output = output
    }

    // MARK: - Structure

    /// Opens an object.
    package mutating func beginObject() throws { try open(UInt8(ascii: "{")) }
    /// Closes the innermost object.
    package mutating func endObject() throws { try close(UInt8(ascii: "}")) }
    /// Opens an array.
    package mutating func beginArray() throws { try open(UInt8(ascii: "[")) }
    /// Closes the innermost array.
    package mutating func endArray() throws { try close(UInt8(ascii: "]")) }

    /// Writes a line break; between elements it is written after the comma.
    package mutating func lineBreak() throws {
        try separate()
        try output.write(UInt8(ascii: "\n"))
    }

    /// Ends a line, so that the next value is a document of its own, as in JSON Lines.
    package mutating func endLine() throws {
        needsComma = false
        try output.write(UInt8(ascii: "\n"))
    }

    /// A member's name in its JSON form, prepared for repeated writing.
    package struct Key: Sendable {
        fileprivate let bytes: [UInt8]

        /// Prepares a name.
        package init(_ name: String) throws {
            let sink = MemorySink()
            let output = ByteOutput(to: sink, capacity: 0)
            var writer = JSONWriter(to: output)
            try writer.string(name)
            try output.write(UInt8(ascii: ":"))
            try output.finish()
            bytes = Array(sink.data)
        }
    }

    /// Writes a member's name.
    package mutating func key(_ key: Key) throws {
        try separate()
        try output.write(key.bytes)
        needsComma = false
    }

    /// Writes a member's name.
    package mutating func key(_ name: String) throws {
        try string(name)
        try output.write(UInt8(ascii: ":"))
        needsComma = false
    }

    @inline(__always)
    private mutating func separate() throws {
        if needsComma {
            try output.write(UInt8(ascii: ","))
            needsComma = false
        }
    }

    private mutating func open(_ byte: UInt8) throws {
        try separate()
        try output.write(byte)
    }

    private mutating func close(_ byte: UInt8) throws {
        try output.write(byte)
        needsComma = true
    }

    // MARK: - Text

    /// Writes a string.
    package mutating func string(_ value: String) throws {
        var value = value
        try value.withUTF8 { try quoted(UnsafeRawBufferPointer($0)) }
    }

    /// Writes a string given as UTF-8, without creating a `String`. Throws `DocumentError` if it is not valid UTF-8.
    package mutating func string(utf8 bytes: UnsafeRawBufferPointer) throws {
        if let index = UTF8Check.firstInvalid(in: bytes) {
            throw DocumentError(.invalidText, "A text to be written is not valid UTF-8 at its byte \(index).")
        }
        try quoted(bytes)
    }

    /// Writes a string given as UTF-8 that is known to be valid.
    package mutating func string(validUTF8 bytes: UnsafeRawBufferPointer) throws { try quoted(bytes) }

    private mutating func quoted(_ bytes: UnsafeRawBufferPointer) throws {
        try separate()
        try output.write(UInt8(ascii: "\""))
        try JSONEscape.write(bytes, to: output)
        try output.write(UInt8(ascii: "\""))
        needsComma = true
    }

    // MARK: - Other values

    /// Writes null.
    package mutating func null() throws { try literal("null") }
    /// Writes a boolean.
    package mutating func bool(_ value: Bool) throws { try literal(value ? "true" : "false") }

    private mutating func literal(_ text: StaticString) throws {
        try separate()
        try output.write(literal: text)
        needsComma = true
    }

    /// Writes an integer with all digits.
    package mutating func integer(_ value: Int64) throws {
        try append(IntegerText.longest) { IntegerText.write(value, at: $0) }
    }

    /// Writes a double with the shortest digits that identify it; `"NaN"`, `"Infinity"` or `"-Infinity"` if it is
    /// not finite.
    package mutating func double(_ value: Double) throws {
        guard value.isFinite else { return try quotedLiteral(FloatingText.word(for: value)) }
        try append(FloatingText.longest) { FloatingText.write(value, at: $0) }
    }

    /// Writes a float with the shortest digits that identify it.
    package mutating func float(_ value: Float) throws {
        guard value.isFinite else { return try quotedLiteral(FloatingText.word(for: Double(value))) }
        try append(FloatingText.longest) { FloatingText.write(value, at: $0) }
    }

    /// Writes a decimal with all digits: as a string, or with `asNumber` as a number.
    package mutating func decimal(_ value: Decimal, asNumber: Bool = false) throws {
        if asNumber, !value.isNaN { return try append(DecimalText.longest) { DecimalText.write(value, at: $0) } }
        try appendQuoted(DecimalText.longest) { DecimalText.write(value, at: $0) }
    }

    /// Writes a date, given in seconds since 2001, as an ISO 8601 string with full precision.
    package mutating func date(_ seconds: Double) throws {
        try appendQuoted(DateText.longest) { DateText.write(seconds, at: $0) }
    }

    /// Writes a date, given in seconds since 2001, as an ISO 8601 string rounded to milliseconds.
    package mutating func dateInMilliseconds(_ seconds: Double) throws {
        try appendQuoted(DateText.longest) { DateText.writeMilliseconds(seconds, at: $0) }
    }

    /// Writes bytes as a string in Base64.
    package mutating func data(_ bytes: UnsafeRawBufferPointer) throws {
        try separate()
        try output.write(UInt8(ascii: "\""))
        try Base64.write(bytes, to: output)
        try output.write(UInt8(ascii: "\""))
        needsComma = true
    }

    /// Writes bytes as a string in Base64.
    package mutating func data(_ value: Data) throws {
        try value.withUnsafeBytes { try data($0) }
    }

    /// Writes a UUID as a string.
    package mutating func uuid(_ value: UUID) throws {
        let bytes = value.uuid
        try withUnsafeBytes(of: bytes) { try uuid(bytes: $0) }
    }

    /// Writes a UUID, given as its 16 bytes, as a string. Throws `DocumentError` for any other number of bytes.
    package mutating func uuid(bytes: UnsafeRawBufferPointer) throws {
        guard bytes.count == 16 else {
            throw DocumentError(.notRepresentable, "A UUID has 16 bytes, not \(bytes.count).")
        }
        try appendQuoted(UUIDText.length) { UUIDText.write(bytes, at: $0) }
    }

    private mutating func quotedLiteral(_ text: StaticString) throws {
        try separate()
        try output.write(UInt8(ascii: "\""))
        try output.write(literal: text)
        try output.write(UInt8(ascii: "\""))
        needsComma = true
    }

    @inline(__always)
    private mutating func append(
        _ longest: Int, _ body: (UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8>
    ) throws {
        let start = try output.reserve(longest + 1)
        if needsComma { start.pointee = UInt8(ascii: ",") }
        output.cursor.pointee.next = body(needsComma ? start + 1 : start)
        needsComma = true
    }

    @inline(__always)
    private mutating func appendQuoted(
        _ longest: Int, _ body: (UnsafeMutablePointer<UInt8>) -> UnsafeMutablePointer<UInt8>
    ) throws {
        try append(longest + 2) { start in
            start.pointee = UInt8(ascii: "\"")
            let end = body(start + 1)
            end.pointee = UInt8(ascii: "\"")
            return end + 1
        }
    }
}
