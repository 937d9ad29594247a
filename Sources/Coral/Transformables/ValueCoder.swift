import CoreData

/// How Codable values are kept as bytes.
public enum ValueCoder: String, Sendable, Hashable, CaseIterable {
    /// JSON with sorted keys, so that equal values are equal bytes.
    case json
    /// A binary property list. Its value is an array or has properties: property lists have no single values.
    case propertyList

    /// The bytes of a value. Throws what encoding throws.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        switch self {
        case .json:
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return try encoder.encode(value)
        case .propertyList:
            let encoder = PropertyListEncoder()
            encoder.outputFormat = .binary
            return try encoder.encode(value)
        }
    }

    /// The value of bytes. Throws what decoding throws.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        switch self {
        case .json: try JSONDecoder().decode(type, from: data)
        case .propertyList: try PropertyListDecoder().decode(type, from: data)
        }
    }
}
