import CoreData
import KeyedArchives

/// How Codable values are kept as bytes.
public enum ValueCoder: String, Sendable, Hashable, CaseIterable {
    /// JSON with sorted keys, so that equal values are equal bytes.
    case json
    /// A binary property list. Its value is an array or has properties: property lists have no single values.
    case propertyList
    /// A keyed archive of plain values, which other tools can read and no class is instantiated for.
    case archive

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
        case .archive:
            // In an array, since property lists have no single values. Written by ourselves, because Foundation's archiver
            // off Apple's platforms makes numbers of booleans.
            let list = try BinaryPropertyList.read(ValueCoder.propertyList.encode([value]))
            return try KeyedArchives.ReadableValue(list).archived()
        }
    }

    /// The value of bytes. Throws what decoding throws.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        switch self {
        case .json: return try JSONDecoder().decode(type, from: data)
        case .propertyList: return try PropertyListDecoder().decode(type, from: data)
        case .archive:
            let list = PropertyListValue(try KeyedArchives.ReadableValue(archive: data))
            let values = try PropertyListDecoder().decode([Value].self, from: BinaryPropertyList.write(list))
            guard values.count == 1 else {
                throw TransformableError(.decoding, "The archive holds \(values.count) values in place of one.")
            }
            return values[0]
        }
    }
}
