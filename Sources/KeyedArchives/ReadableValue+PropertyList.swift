import Foundation

extension PropertyListValue {
    /// A readable value as a property list. A value that a property list cannot represent becomes text, or null.
    public init(_ value: ReadableValue) {
        self =
            switch value {
            case .null, .object, .ancestor: .null
            case .boolean(let value): .boolean(value)
            case .integer(let value): .integer(value)
            case .unsignedInteger(let value): .unsignedInteger(value)
            case .real(let value): .real(value)
            case .decimal(let value): .string(value.description)
            case .string(let value), .url(let value): .string(value)
            case .data(let value): .data(value)
            case .date(let value): .date(value)
            case .uuid(let value): .string(value.uuidString)
            case .array(let values), .set(let values), .orderedSet(let values):
                .array(values.map { PropertyListValue($0) })
            case .dictionary(let pairs):
                .dictionary(
                    PropertyListDictionary(
                        pairs.compactMap { pair in
                            guard case .string(let key) = pair.key else { return nil }
                            return (key, PropertyListValue(pair.value))
                        }))
            }
    }
}

extension ReadableValue {
    /// A property list as a readable value. References become integers.
    public init(_ value: PropertyListValue) {
        self =
            switch value {
            case .null: .null
            case .boolean(let value): .boolean(value)
            case .integer(let value): .integer(value)
            case .unsignedInteger(let value): .unsignedInteger(value)
            case .real(let value): .real(value)
            case .date(let value): .date(value)
            case .data(let value): .data(value)
            case .string(let value): .string(value)
            case .uid(let value): .integer(Int64(value))
            case .array(let values): .array(values.map { ReadableValue($0) })
            case .set(let values): .set(values.map { ReadableValue($0) })
            case .dictionary(let dictionary):
                .dictionary(dictionary.map { Pair(.string($0), ReadableValue($1)) })
            }
    }
}
