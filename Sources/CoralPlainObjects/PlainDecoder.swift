import Coral
import Foundation
import GraphDocuments

/// Decodes `Decodable` types from a tree of plain values, with the conversions of a plain import.
struct PlainDecoder: Decoder {
    let tree: ReadableValue
    let reading: PlainReading
    let path: PlainPath

    init(_ tree: ReadableValue, _ reading: PlainReading, at path: PlainPath) {
        self.tree = tree
        self.reading = reading
        self.path = path
    }

    var codingPath: [any CodingKey] { path.keys }
    var userInfo: [CodingUserInfoKey: Any] { reading.options.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .dictionary(let members) = tree else {
            throw PlainObjectError(.wrongType, "Expected an object.", at: path)
        }
        return KeyedDecodingContainer(KeyedReader(members, reading, at: path))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let values) = tree else {
            throw PlainObjectError(.wrongType, "Expected an array.", at: path)
        }
        return UnkeyedReader(values, reading, at: path)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

extension PlainDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { tree == .value(.null) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try reading.value(type, from: tree, at: path)
    }
}

/// The members of a dictionary.
private struct KeyedReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let members: [String: ReadableValue]
    private let reading: PlainReading
    private let path: PlainPath

    init(_ members: [ReadableValue.Member], _ reading: PlainReading, at path: PlainPath) {
        self.members = Dictionary(
            members.map { (TreeDocument.unescapedKey($0.name), $0.value) }, uniquingKeysWith: { $1 })
        self.reading = reading
        self.path = path
    }

    var codingPath: [any CodingKey] { path.keys }
    var allKeys: [Key] { members.keys.sorted().compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { member(key) != nil }

    /// The value of the first of a key's names in documents.
    private func member(_ key: any CodingKey) -> ReadableValue? {
        if case .same = reading.options.keys { return members[key.stringValue] }
        let names = reading.options.keys.keys(of: key.stringValue, in: "")
        return names.lazy.compactMap { members[$0] }.first
    }

    private func tree(_ key: any CodingKey) throws -> ReadableValue {
        guard let tree = member(key) else {
            throw PlainObjectError(.missingKey, "The object has no key \"\(key.stringValue)\".", at: path)
        }
        return tree
    }

    func decodeNil(forKey key: Key) throws -> Bool { try tree(key) == .value(.null) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try reading.value(type, from: tree(key), at: path + key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try PlainDecoder(tree(key), reading, at: path + key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try PlainDecoder(tree(key), reading, at: path + key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try decoder(PlainKey("super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

    private func decoder(_ key: any CodingKey) throws -> any Decoder {
        PlainDecoder(member(key) ?? .value(.null), reading, at: path + key)
    }
}

/// The elements of an array, one after the other.
private struct UnkeyedReader: UnkeyedDecodingContainer {
    private let values: [ReadableValue]
    private let reading: PlainReading
    private let path: PlainPath
    private(set) var currentIndex = 0

    init(_ values: [ReadableValue], _ reading: PlainReading, at path: PlainPath) {
        self.values = values
        self.reading = reading
        self.path = path
    }

    var codingPath: [any CodingKey] { path.keys }
    var count: Int? { values.count }
    var isAtEnd: Bool { currentIndex >= values.count }

    /// The next element's decoder. The element is consumed even if decoding it fails.
    private mutating func next() throws -> PlainDecoder {
        guard !isAtEnd else {
            throw PlainObjectError(.missingKey, "The array has only \(values.count) elements.", at: path)
        }
        defer { currentIndex += 1 }
        return PlainDecoder(values[currentIndex], reading, at: path + currentIndex)
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, values[currentIndex] == .value(.null) else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next().decode(type) }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try next() }
}
