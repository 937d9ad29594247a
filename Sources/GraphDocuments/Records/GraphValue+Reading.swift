import Foundation

extension GraphValue {
    /// The value converted to the declared type, for formats with fewer types than models: a date in a string, an
    /// integral double as an integer. Unchanged if the conversion is not exact.
    func read(as type: GraphValueType) -> GraphValue {
        if self.fits(type) { return self }
        switch (self, type) {
        case (.string(let text), _):
            var text = text
            return text.withUTF8 { TextValue.value(UnsafeRawBufferPointer($0), as: type) } ?? self
        case (.integer(let number), .double): return Double(exactly: number).map { .double($0) } ?? self
        case (.integer(let number), .float): return Float(exactly: number).map { .float($0) } ?? self
        case (.integer(let number), .decimal): return .decimal(Decimal(number))
        case (.integer(let number), .boolean): return number == 0 || number == 1 ? .bool(number == 1) : self
        case (.bool(let flag), .integer16), (.bool(let flag), .integer32), (.bool(let flag), .integer64):
            // Some serialisers convert between Foundation's boolean and integer objects.
            return .integer(flag ? 1 : 0)
        case (.double(let number), .float): return .float(Float(number))
        case (.float(let number), .double): return .double(Double(number))
        case (.double(let number), .decimal): return TextValue.anyValue(number.description, as: .decimal) ?? self
        case (.double(let number), .integer16), (.double(let number), .integer32), (.double(let number), .integer64):
            return Int64(exactly: number).map { .integer($0) } ?? self
        case (.decimal(let number), _): return TextValue.anyValue(DecimalText.text(number), as: type) ?? self
        default: return self
        }
    }
}

extension GraphValue {
    /// The text of the value in keys and in text-only formats; nil for null and for values that are not a single text.
    package var documentText: String? { TextValue.text(of: self) }

    /// Creates the value of a type from a text in any of its usual notations; nil if it is invalid.
    package init?(text: String, as type: GraphValueType) {
        guard let value = TextValue.anyValue(text, as: type) else { return nil }
        self = value
    }
}
