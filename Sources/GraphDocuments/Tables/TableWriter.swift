import Foundation
import XMLReading

/// The form of tables in text: values separated by commas (RFC 4180), or by tabs. Fields with a separator, a quote or a line break
/// are in quotes in both.
package enum TableForm: String {
    case csv, tsv

    /// The form of a file, by the extension of its name; nil if it is not that of a table.
    package init?(ofFile name: String) { self.init(rawValue: (name as NSString).pathExtension.lowercased()) }

    /// The byte between two fields.
    package var separator: UInt8 { self == .csv ? UInt8(ascii: ",") : UInt8(ascii: "\t") }
}

/// Writes the lines of a table field by field, directly into the buffer of an output.
package struct TableWriter {
    private let output: ByteOutput
    private let separator: UInt8
    /// Whether an apostrophe precedes text that a spreadsheet would evaluate as a formula.
    private let escapesFormulas: Bool
    private var isInLine = false

    /// Creates a writer of one form of tables.
    ///
    /// - Parameter escapesFormulas: Whether an apostrophe precedes text that a spreadsheet would evaluate as a formula.
    package init(_ form: TableForm, to output: ByteOutput, escapesFormulas: Bool = false) {
        self.output = output
        self.escapesFormulas = escapesFormulas
        separator = form.separator
    }

    /// Writes a line of texts.
    package mutating func line(_ texts: [String]) throws {
        for text in texts { try self.text(text) }
        try endLine()
    }

    /// Ends a line.
    package mutating func endLine() throws {
        isInLine = false
        try output.write(literal: "\r\n")
    }

    // MARK: - Fields

    /// Writes a field without a value.
    package mutating func null() throws { _ = try field() }

    /// Writes a value; nothing for a value that is not a single text (composite, in a file).
    package mutating func value(_ value: GraphValue) throws {
        switch value {
        case .bool(let value): try bool(value)
        case .integer(let value): try integer(value)
        case .double(let value): try double(value)
        case .float(let value): try float(value)
        case .decimal(let value): try decimal(value)
        case .string(let value), .uri(let value): try text(value)
        case .date(let value): try date(value)
        case .data(let value): try value.withUnsafeBytes { try base64($0) }
        case .uuid(let value): try withUnsafeBytes(of: value.uuid) { try uuid($0) }
        case .transformable(let value):
            try value.archive.map { try $0.withUnsafeBytes { try base64($0) } } ?? null()
        case .null, .composite, .file: try null()
        }
    }

    /// Writes `true` or `false`.
    package mutating func bool(_ value: Bool) throws { try field().write(literal: value ? "true" : "false") }

    /// Writes an integer.
    package mutating func integer(_ value: Int64) throws { try field().write(integer: value) }

    /// Writes a double with the shortest digits that identify it.
    package mutating func double(_ value: Double) throws { try field().write(double: value) }

    /// Writes a float with the shortest digits that identify it.
    package mutating func float(_ value: Float) throws { try field().write(float: value) }

    /// Writes a decimal with all digits.
    package mutating func decimal(_ value: Decimal) throws { try field().write(decimal: value) }

    /// Writes a date, given in seconds since 2001, in UTC.
    package mutating func date(_ seconds: Double) throws {
        // A date outside the calendar begins with an @.
        try escapesFormulas ? text(DateText.text(seconds)) : field().write(date: seconds)
    }

    /// Writes a UUID, given as its sixteen bytes.
    package mutating func uuid(_ bytes: UnsafeRawBufferPointer) throws { try field().write(uuid: bytes) }

    /// Writes bytes in Base64.
    package mutating func base64(_ bytes: UnsafeRawBufferPointer) throws {
        // Base64 may begin with a +.
        try escapesFormulas ? text(Data(bytes).base64EncodedString()) : field().write(base64: bytes)
    }

    /// Writes the name of an object, such as `Note/p3`.
    package mutating func name(_ entity: String, _ key: Int64) throws {
        var entity = entity
        let isPlain = entity.withUTF8 { Content(UnsafeRawBufferPointer($0), separator).isPlain }
        guard isPlain, !escapesFormulas else { return try text("\(entity)/p\(key)") }
        try field().write(entity)
        try output.write(literal: "/p")
        try output.write(integer: key)
    }

    /// Writes an empty text in quotes, which an import distinguishes from no value.
    package mutating func quotedEmptyText() throws { try field().write(literal: "\"\"") }

    /// Writes a text.
    package mutating func text(_ text: String) throws {
        var text = text
        try text.withUTF8 { try self.text(validUTF8: UnsafeRawBufferPointer($0)) }
    }

    /// Writes a text given as UTF-8. Bytes that are not valid are replaced as `String` does.
    package mutating func text(utf8 bytes: UnsafeRawBufferPointer) throws {
        let content = Content(bytes, separator)
        guard content.isASCII || UTF8Check.firstInvalid(in: bytes) == nil else {
            return try text(String(decoding: bytes, as: UTF8.self))
        }
        try write(bytes, content)
    }

    private mutating func text(validUTF8 bytes: UnsafeRawBufferPointer) throws {
        try write(bytes, Content(bytes, separator))
    }

    private mutating func write(_ bytes: UnsafeRawBufferPointer, _ content: Content) throws {
        let output = try field()
        let isFormula = escapesFormulas && Self.isFormula(bytes)
        if content.isPlain {
            if isFormula { try output.write(UInt8(ascii: "'")) }
            return try output.write(bytes)
        }
        try output.write(UInt8(ascii: "\""))
        if isFormula { try output.write(UInt8(ascii: "'")) }
        var start = 0
        // Bytes are compared, because a quote and a combining mark are one `Character`.
        for index in bytes.indices where bytes[index] == UInt8(ascii: "\"") {
            try output.write(UnsafeRawBufferPointer(rebasing: bytes[start...index]))
            start = index
        }
        try output.write(UnsafeRawBufferPointer(rebasing: bytes[start...]))
        try output.write(UInt8(ascii: "\""))
    }

    /// Begins a field, and returns the output for its content.
    @inline(__always)
    private mutating func field() throws -> ByteOutput {
        if isInLine { try output.write(separator) }
        isInLine = true
        return output
    }

    /// What decides how the bytes of a text are written.
    private struct Content {
        /// Whether the text needs no quotes.
        private(set) var isPlain = true
        private(set) var isASCII = true

        init(_ bytes: UnsafeRawBufferPointer, _ separator: UInt8) {
            var union: UInt8 = 0
            for byte in bytes {
                union |= byte
                // All special bytes are in the first part of ASCII.
                if byte <= UInt8(ascii: ","),
                    byte == separator || byte == UInt8(ascii: "\"") || byte == 13 || byte == 10
                {
                    isPlain = false
                }
            }
            isASCII = union < 0x80
        }
    }

    /// Whether a spreadsheet would evaluate a text. Includes the fullwidth forms; some programs skip leading tabs and line breaks.
    private static func isFormula(_ bytes: UnsafeRawBufferPointer) -> Bool {
        formulaStarts.contains { bytes.starts(with: $0) }
    }

    private static let formulaStarts = "=+-@\t\r\n＝＋－＠".unicodeScalars.map { Array(String($0).utf8) }
}
