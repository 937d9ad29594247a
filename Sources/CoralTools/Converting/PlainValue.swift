import Coral
import GRDB

/// Values of attributes in columns of a plain database.
enum PlainValue {
    /// The declared type of a column. Decimals are text, which keeps their digits.
    static func type(of type: GraphValueType) -> String {
        switch type {
        case .integer16, .integer32, .integer64: "INTEGER"
        case .double, .float: "DOUBLE"
        case .boolean: "BOOLEAN"
        case .date: "DATETIME"
        case .binaryData, .transformable: "BLOB"
        case .decimal, .string, .uuid, .uri, .objectID, .composite, .undefined: "TEXT"
        }
    }

    /// The value in a column. Dates are `2024-02-29 12:30:00.250`, in UTC, with all their digits; a date without a year of four
    /// digits is null, because no date function reads it. So is NaN, which SQLite does not store; a server does.
    static func databaseValue(_ value: GraphValue) -> DatabaseValue {
        switch value {
        case .null, .composite, .file: .null
        case .bool(let value): (value ? 1 : 0).databaseValue
        case .integer(let value): value.databaseValue
        case .double(let value): value.isNaN ? .null : value.databaseValue
        case .float(let value): value.isNaN ? .null : Double(value).databaseValue
        case .date: dateText(of: value)?.databaseValue ?? .null
        case .data(let value): value.databaseValue
        case .transformable(let value): value.archive?.databaseValue ?? .null
        case .decimal, .string, .uuid, .uri: TextValue.text(of: value)?.databaseValue ?? .null
        }
    }

    /// `2024-02-29 12:30:00.250` of `2024-02-29T12:30:00.250Z`; nil for a date without such a text.
    private static func dateText(of value: GraphValue) -> String? {
        guard var text = TextValue.text(of: value) else { return nil }
        return text.withUTF8 { bytes in
            guard bytes.count > dayLength, bytes[dayLength] == UInt8(ascii: "T") else { return nil }
            return String(unsafeUninitializedCapacity: bytes.count - 1) { text in
                _ = text.initialize(fromContentsOf: bytes.dropLast())
                text[dayLength] = UInt8(ascii: " ")
                return bytes.count - 1
            }
        }
    }

    /// The length of the day in the text of a date.
    private static let dayLength = 10

    /// The value of an attribute from its column; nil if the column has no value of the type.
    static func value(_ value: DatabaseValue, as type: GraphValueType) -> GraphValue? {
        switch (value.storage, type) {
        case (.null, _): return .null
        case (.int64(let number), .boolean): return .bool(number != 0)
        case (.int64(let number), .integer16), (.int64(let number), .integer32), (.int64(let number), .integer64):
            return .integer(number)
        case (.double(let number), .double): return .double(number)
        case (.double(let number), .float): return .float(Float(number))
        case (.int64(let number), .double): return .double(Double(number))
        case (.int64(let number), .float): return .float(Float(number))
        case (.string(let text), .date):
            // `T` and `Z` as in documents, which are read with all digits.
            return TextValue.anyValue(text.prefix(dayLength) + "T" + text.dropFirst(dayLength + 1) + "Z", as: .date)
        case (.string(let text), .string): return .string(text)
        case (.string(let text), .decimal), (.string(let text), .uuid), (.string(let text), .uri):
            return TextValue.anyValue(text, as: type)
        case (.blob(let data), .binaryData): return .data(data)
        case (.blob(let data), .transformable): return .transformable(TransformableValue(archive: data))
        default: return nil
        }
    }
}
