import Foundation

/// Encodes a structure to the elements of its composite attribute.
final class ElementEncoder: Encoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private let fields: [String: ValueForm.Field]
    private let type: any Any.Type
    fileprivate var elements: [String: Any] = [:]

    private init(_ type: any Any.Type, _ fields: [ValueForm.Field]) {
        self.type = type
        self.fields = Dictionary(fields.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The elements of a structure, by name.
    ///
    /// - Throws: ``ValueMistake`` if the type encodes itself under names, or as types, that are not those of its stored properties.
    static func elements(of value: any Encodable, form: ValueForm) throws -> [String: Any] {
        guard case .structure(let type, let fields) = form else { return [:] }
        let encoder = ElementEncoder(type, fields)
        try value.encode(to: encoder)
        return encoder.elements
    }

    fileprivate func set(_ value: some Encodable, for key: any CodingKey) throws {
        guard let field = fields[key.stringValue] else {
            throw ValueMistake(
                description: "\(type) encodes the key \(key.stringValue), which is not a stored property.")
        }
        guard let value = unwrapped(value) else { return }
        // JSON is read as the type that the decoding asks for.
        let isJSON = if case .json = field.form { true } else { false }
        guard isJSON || Swift.type(of: value) == unwrappedType(field.type) else {
            throw ValueMistake(
                description: "\(type) encodes \(field.name) as \(Swift.type(of: value)), and the property is "
                    + "\(field.type). Store it with the option .codable.")
        }
        elements[field.name] = try field.form.stored(value, named: field.name)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Container(encoder: self))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { Refusal(type: type) }
    func singleValueContainer() -> any SingleValueEncodingContainer { Refusal(type: type) }

    private struct Container<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let encoder: ElementEncoder
        let codingPath: [any CodingKey] = []

        func encodeNil(forKey key: Key) {}
        func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try encoder.set(value, for: key) }
        func nestedContainer<K: CodingKey>(keyedBy type: K.Type, forKey key: Key) -> KeyedEncodingContainer<K> {
            KeyedEncodingContainer(RefusedContainer<K>(refusal: Refusal(type: encoder.type)))
        }
        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { Refusal(type: encoder.type) }
        func superEncoder() -> any Encoder { encoder }
        func superEncoder(forKey key: Key) -> any Encoder { encoder }
    }

    private struct RefusedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let refusal: Refusal
        let codingPath: [any CodingKey] = []

        func encodeNil(forKey key: Key) throws { throw refusal.mistake }
        func encode<T: Encodable>(_ value: T, forKey key: Key) throws { throw refusal.mistake }
        func nestedContainer<K: CodingKey>(keyedBy type: K.Type, forKey key: Key) -> KeyedEncodingContainer<K> {
            KeyedEncodingContainer(RefusedContainer<K>(refusal: refusal))
        }
        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { refusal }
        func superEncoder() -> any Encoder { ElementEncoder(refusal.type, []) }
        func superEncoder(forKey key: Key) -> any Encoder { ElementEncoder(refusal.type, []) }
    }

    /// Throws: the type does not encode itself as its stored properties.
    fileprivate struct Refusal: UnkeyedEncodingContainer, SingleValueEncodingContainer {
        let type: any Any.Type
        let codingPath: [any CodingKey] = []
        let count = 0

        var mistake: ValueMistake {
            ValueMistake(
                description:
                    "\(type) must encode its stored properties under their names. Store it with the option .codable.")
        }
        func encodeNil() throws { throw mistake }
        func encode<T: Encodable>(_ value: T) throws { throw mistake }
        func nestedContainer<K: CodingKey>(keyedBy keyType: K.Type) -> KeyedEncodingContainer<K> {
            KeyedEncodingContainer(RefusedContainer<K>(refusal: self))
        }
        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
        func superEncoder() -> any Encoder { ElementEncoder(type, []) }
    }
}
