import CodedErrors
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

extension NSManagedObject {
    /// The value of a transformable attribute, cast to a type; nil if it has none.
    ///
    /// Throws `TransformableError` with entity and attribute if the attribute does not exist, the value has another
    /// type, its transformer is not registered, or the stored bytes cannot be read. Apple's Core Data does not
    /// distinguish unreadable bytes from missing ones, so that there they give nil.
    public func decodedValue<Value>(forKey key: String, as type: Value.Type = Value.self) throws -> Value? {
        let place = "\(entity.name ?? "").\(key)"
        guard let attribute = entity.attributesByName[key] else {
            throw TransformableError(
                .unknownAttribute,
                "\(entity.name ?? "") has no attribute \"\(key)\"."
                    + NameSuggestion.question(for: key, in: entity.attributesByName.keys))
        }
        guard let value = value(forKey: key) else {
            try requireReadable(attribute, at: place)
            return nil
        }
        guard let typed = value as? Value else {
            throw TransformableError(.wrongType, "\(place) is a \(Swift.type(of: value)), not a \(Value.self).")
        }
        return typed
    }

    /// Throws if there are bytes that cannot be decoded.
    func requireReadable(_ attribute: NSAttributeDescription, at place: String) throws {
        guard attribute.attributeType == .transformableAttributeType else { return }
        let name = attribute.valueTransformerName ?? ""
        if !name.isEmpty, ValueTransformer(forName: NSValueTransformerName(name)) == nil {
            throw TransformableError(
                .missingTransformer, "No value transformer \"\(name)\" is registered for \(place).")
        }
        if let count = try Engine.current.unreadableByteCount(of: attribute, of: self) {
            throw TransformableError(
                .decoding, "The value transformer of \(place) cannot read the \(count) stored bytes.")
        }
    }
}

extension ValueCoder: ErrorDomain {}

/// The reason why an attribute's value cannot be read or written.
public typealias TransformableError = CodedError<ValueCoder>

extension TransformableError.Code {
    /// The entity has no such attribute.
    public static let unknownAttribute = Self(rawValue: "unknownAttribute")
    /// The value does not have the type of the property.
    public static let wrongType = Self(rawValue: "wrongType")
    /// The value cannot be encoded.
    public static let encoding = Self(rawValue: "encoding")
    /// The attribute's transformer is not registered.
    public static let missingTransformer = Self(rawValue: "missingTransformer")
    /// The stored bytes cannot be decoded.
    public static let decoding = Self(rawValue: "decoding")
}
