import CodedErrors
import Foundation

/// The text representation of values in source models.
enum SourceText {
    static let typeNames: [(ModelAttributeType, String)] = [
        (.integer16, "Integer 16"), (.integer32, "Integer 32"), (.integer64, "Integer 64"), (.decimal, "Decimal"),
        (.double, "Double"), (.float, "Float"), (.string, "String"), (.boolean, "Boolean"), (.date, "Date"),
        (.binaryData, "Binary"), (.uuid, "UUID"), (.uri, "URI"), (.transformable, "Transformable"),
        (.objectID, "ObjectID"), (.composite, "Composite"), (.undefined, "Undefined"),
    ]

    static func type(named name: String) -> ModelAttributeType? {
        typeNames.first { $0.1 == name }?.0
    }

    /// What to write instead of the name of a type that does not exist.
    static func advice(forType name: String) -> String { NameSuggestion.advice(for: name, in: typeNames.map { $0.1 }) }

    /// The name of a type; nil for the undefined type, which is not written.
    static func name(of type: ModelAttributeType) -> String? {
        type == .undefined ? nil : typeNames.first { $0.0 == type }?.1
    }

    static let deleteRuleNames: [(ModelDeleteRule, String)] = [
        (.noAction, "No Action"), (.nullify, "Nullify"), (.cascade, "Cascade"), (.deny, "Deny"),
    ]

    static func boolean(_ text: String) -> Bool? {
        switch text.uppercased() {
        case "YES", "TRUE", "1": true
        case "NO", "FALSE", "0": false
        default: nil
        }
    }

    /// The default value that a text represents for an attribute's type. Nil when the text is not a valid value.
    static func value(_ text: String, type: ModelAttributeType) -> ModelValue? {
        switch type {
        case .integer16: integer(text).flatMap { Int16(exactly: $0) }.map { .integer(Int64($0)) }
        case .integer32: integer(text).flatMap { Int32(exactly: $0) }.map { .integer(Int64($0)) }
        case .integer64: integer(text).map(ModelValue.integer)
        case .decimal: decimal(text).map(ModelValue.decimal)
        case .double, .float: Double(text).map(ModelValue.double)
        case .string: .string(text)
        case .boolean: boolean(text).map(ModelValue.boolean)
        case .uuid: UUID(uuidString: text).map(ModelValue.uuid)
        case .uri: .uri(text)
        case .date: Double(text).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        case .binaryData: Data(base64Encoded: text).map(ModelValue.data)
        case .undefined, .transformable, .objectID, .composite: nil
        }
    }

    /// A limit: the length of a string, a value for other types. That of a narrow integer may be beyond its values.
    static func limit(_ text: String, type: ModelAttributeType) -> ModelValue? {
        switch type {
        case .string, .integer16, .integer32: integer(text).map(ModelValue.integer)
        default: value(text, type: type)
        }
    }

    /// Older editors wrote NO, or 0.0, for 0.
    private static func integer(_ text: String) -> Int64? {
        if let value = Int64(text) { return value }
        if let value = Double(text) { return Int64(exactly: value.rounded(.towardZero)) }
        return boolean(text).map { $0 ? 1 : 0 }
    }

    private static func decimal(_ text: String) -> Decimal? {
        // Decimal(string:) ignores text after a number, so the whole text is checked first.
        guard Double(text) != nil else { return nil }
        return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
    }

    /// The text of a value; nil for archived values, which source models cannot represent.
    static func text(_ value: ModelValue) -> String? {
        switch value {
        case .integer(let value): String(value)
        case .decimal(let value): value.description
        case .double(let value): value.description
        case .string(let value), .uri(let value): value
        case .boolean(let value): value ? "YES" : "NO"
        case .date(let value): interval(value)
        case .data(let value): value.base64EncodedString()
        case .uuid(let value): value.uuidString
        case .archived: nil
        }
    }

    /// The seconds of a date since 2001, without a fraction when there is none.
    static func interval(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        return Int64(exactly: seconds).map(String.init) ?? seconds.description
    }
}
