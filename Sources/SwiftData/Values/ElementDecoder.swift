import Foundation

/// Decodes a structure from the elements of its composite attribute.
struct ElementDecoder: Decoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private let type: any Any.Type
    private let elements: [String: Any]
    private let fields: [String: ValueForm.Field]

    /// The structure with some elements. Elements that are missing are nil.
    static func value(of elements: [String: Any], as type: any Decodable.Type, form: ValueForm) throws -> Any {
        guard case .structure(_, let fields) = form else {
            throw ValueMistake(description: "\(type) is not a structure.")
        }
        let byName = Dictionary(fields.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        return try type.init(from: ElementDecoder(type: type, elements: elements, fields: byName))
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Container(decoder: self))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw refusal }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw refusal }

    private var refusal: ValueMistake {
        ValueMistake(
            description: "\(type) must decode its stored properties by their names. Store it with the option .codable.")
    }

    private struct Container<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let decoder: ElementDecoder
        let codingPath: [any CodingKey] = []

        var allKeys: [Key] { decoder.elements.keys.sorted().compactMap { Key(stringValue: $0) } }
        func contains(_ key: Key) -> Bool { decoder.elements[key.stringValue] != nil }
        func decodeNil(forKey key: Key) throws -> Bool { decoder.elements[key.stringValue] == nil }

        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
            guard let field = decoder.fields[key.stringValue] else {
                throw ValueMistake(
                    description: "\(decoder.type) decodes the key \(key.stringValue), which is not a stored property.")
            }
            // A structure whose properties are all nil has no column with a value.
            let empty: [String: Any]? = if case .structure = field.form { [:] } else { nil }
            guard let stored = decoder.elements[key.stringValue] ?? empty else {
                throw DecodingError.valueNotFound(
                    type,
                    DecodingError.Context(
                        codingPath: [key], debugDescription: "The column of \(key.stringValue) is NULL."))
            }
            guard let value = try field.form.value(of: stored, as: unwrappedType(type)) as? T else {
                throw DecodingError.typeMismatch(
                    type,
                    DecodingError.Context(
                        codingPath: [key], debugDescription: "The column has a value of another type."))
            }
            return value
        }

        func nestedContainer<K: CodingKey>(keyedBy type: K.Type, forKey key: Key) throws -> KeyedDecodingContainer<K> {
            throw decoder.refusal
        }
        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw decoder.refusal }
        func superDecoder() throws -> any Decoder { throw decoder.refusal }
        func superDecoder(forKey key: Key) throws -> any Decoder { throw decoder.refusal }
    }
}
