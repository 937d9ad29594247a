import Foundation

/// Values as text: the representation in JSON strings and XML of types without a literal.
package enum TextValue {
    /// The value of the declared type for a text, or nil if it is not valid. Numbers and booleans are not parsed
    /// here, except for the words for numbers that are not finite: which types are text depends on the format.
    static func value(_ text: UnsafeRawBufferPointer, as type: GraphValueType) -> GraphValue? {
        switch type {
        case .string: .string(String(decoding: text, as: UTF8.self))
        case .uri, .objectID: .uri(String(decoding: text, as: UTF8.self))
        case .date: DateText.seconds(text).map { .date($0) }
        case .uuid: UUIDText.uuid(text).map { .uuid($0) }
        case .binaryData: Base64.decode(text).map { .data($0) }
        case .decimal: DecimalText.decimal(text).map { .decimal($0) }
        case .double: FloatingText.number(for: String(decoding: text, as: UTF8.self)).map { .double($0) }
        case .float: FloatingText.number(for: String(decoding: text, as: UTF8.self)).map { .float(Float($0)) }
        default: nil
        }
    }

    /// The same for formats with text only.
    static func anyValue(_ text: UnsafeRawBufferPointer, as type: GraphValueType) -> GraphValue? {
        if let value = value(text, as: type) { return value }
        switch type {
        case .integer16, .integer32, .integer64:
            guard let scan = NumberScan.scan(text: text), scan.isInteger else { return nil }
            return scan.integer.map { .integer($0) }
        case .double:
            guard let scan = NumberScan.scan(text: text) else { return nil }
            if scan.digits == 0 { return .double(scan.isNegative ? -0.0 : 0) }
            if let double = scan.fastDouble { return .double(double) }
            guard let double = Double(String(decoding: text, as: UTF8.self)), double.isFinite else { return nil }
            return .double(double)
        case .float:
            guard NumberScan.scan(text: text) != nil, let float = Float(String(decoding: text, as: UTF8.self)),
                float.isFinite
            else { return nil }
            return .float(float)
        case .boolean:
            if text.elementsEqual("true".utf8) { return .bool(true) }
            return text.elementsEqual("false".utf8) ? .bool(false) : nil
        default:
            return nil
        }
    }

    /// The same for text in a `String`.
    package static func anyValue(_ text: String, as type: GraphValueType) -> GraphValue? {
        var text = text
        return text.withUTF8 { anyValue(UnsafeRawBufferPointer($0), as: type) }
    }

    /// The text of a value; nil for values that are not a single text (null, composite, transformable, file).
    package static func text(of value: GraphValue) -> String? {
        switch value {
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .double(let value): value.isFinite ? value.description : "\(FloatingText.word(for: value))"
        case .float(let value): value.isFinite ? value.description : "\(FloatingText.word(for: Double(value)))"
        case .decimal(let value): DecimalText.text(value)
        case .string(let value), .uri(let value): value
        case .date(let value): DateText.text(value)
        case .data(let value): value.base64EncodedString()
        case .uuid(let value): UUIDText.text(value)
        case .null, .composite, .transformable, .file: nil
        }
    }
}

extension TextValue {
    /// The number that people or other programs have written, around which there may be white space. It may have a plus sign, leading
    /// zeros, and digits on one side of the point only. Nil for anything else, such as `0x10` or `inf`, and if an integer or decimal
    /// cannot hold the number exactly.
    package static func number(_ written: String, as type: GraphValueType) -> GraphValue? {
        guard var text = normalized(written.trimmingCharacters(in: .whitespacesAndNewlines)) else { return nil }
        guard [.integer16, .integer32, .integer64].contains(type) else { return anyValue(text, as: type) }
        let integer = text.withUTF8 { NumberScan.scan(text: UnsafeRawBufferPointer($0))?.integer }
        return integer.map { .integer($0) }
    }

    /// The text as JSON writes a number; nil if there are no digits.
    private static func normalized(_ written: String) -> String? {
        var rest = written[...]
        var text = ""
        if let sign = rest.first, sign == "-" || sign == "+" {
            rest.removeFirst()
            if sign == "-" { text = "-" }
        }
        func takeDigits() -> Substring {
            let digits = rest.prefix { $0.isASCII && $0.isWholeNumber }
            rest.removeFirst(digits.count)
            return digits
        }
        let whole = takeDigits()
        var fraction: Substring = ""
        if rest.first == "." {
            rest.removeFirst()
            fraction = takeDigits()
        }
        guard !whole.isEmpty || !fraction.isEmpty else { return nil }
        let significant = whole.drop { $0 == "0" }
        text += significant.isEmpty ? "0" : significant
        // Zeros at the end could exceed what the type holds.
        while fraction.last == "0" { fraction.removeLast() }
        if !fraction.isEmpty { text += "." + fraction }
        // What follows is an exponent, or the text is no number.
        return text + rest
    }
}

extension GraphValue {
    /// Creates a value from its text in documents, for types that JSON does not have: dates, data, UUIDs, URIs,
    /// decimals, numbers that are not finite. Nil if the text is not valid for the type.
    package init?(documentText text: String, as type: GraphValueType) {
        var text = text
        guard type != .string, let value = text.withUTF8({ TextValue.value(UnsafeRawBufferPointer($0), as: type) })
        else {
            return nil
        }
        self = value
    }
}

extension String {
    /// Whether both have the same UTF-8: canonically equivalent strings may be equal without having it.
    ///
    /// Compares memory. `elementsEqual` of the two views takes 50 instructions for each byte.
    func hasSameUTF8(as other: String) -> Bool {
        let isSame = utf8.withContiguousStorageIfAvailable { own in
            other.utf8.withContiguousStorageIfAvailable { others in
                guard own.count == others.count else { return false }
                guard let first = own.baseAddress, let second = others.baseAddress else { return true }
                return memcmp(first, second, own.count) == 0
            }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// Whether the UTF-8 sorts before that of another. `<` finds no order for canonically equivalent strings.
    func precedesByUTF8(_ other: String) -> Bool {
        let precedes = utf8.withContiguousStorageIfAvailable { own in
            other.utf8.withContiguousStorageIfAvailable { others in
                guard let first = own.baseAddress, let second = others.baseAddress else {
                    return own.count < others.count
                }
                let order = memcmp(first, second, min(own.count, others.count))
                return order == 0 ? own.count < others.count : order < 0
            }
        }
        return (precedes ?? nil) ?? utf8.lexicographicallyPrecedes(other.utf8)
    }
}
