import CoreData
import KeyedArchives

/// The encodings of Codable values.
public enum ValueCoder: String, Sendable, Hashable, CaseIterable {
    /// JSON with sorted keys, so that equal values give equal bytes.
    case json
    /// A binary property list. The value must be an array or have properties: property lists have no top-level scalars.
    case propertyList
    /// A keyed archive of plain values, which other tools can read and which instantiates no class.
    case archive

    /// Encodes a value. Throws the errors of encoding.
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
        case .archive:
            // In an array, since property lists have no top-level scalars. Not written by Foundation's archiver, which
            // outside Apple's platforms encodes booleans as numbers.
            let list = try BinaryPropertyList.read(ValueCoder.propertyList.encode([value]))
            return try KeyedArchives.ReadableValue(list).archived()
        }
    }

    /// Decodes a value. Throws the errors of decoding.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        switch self {
        case .json: return try JSONDecoder().decode(type, from: data)
        case .propertyList: return try PropertyListDecoder().decode(type, from: data)
        case .archive:
            let list = PropertyListValue(try KeyedArchives.ReadableValue(archive: data))
            let values = try PropertyListDecoder().decode([Value].self, from: BinaryPropertyList.write(list))
            guard values.count == 1 else {
                throw TransformableError(.decoding, "The archive contains \(values.count) values instead of one.")
            }
            return values[0]
        }
    }
}
