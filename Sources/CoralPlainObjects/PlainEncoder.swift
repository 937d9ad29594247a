import Coral
import Foundation
import GraphDocuments

// Plain Swift objects.
//
// Plain Swift objects are converted to and from `ReadableValue`, a tree of plain values: `PlainEncoder` and
// `PlainWriting` (reflection) create it, `PlainReading` and `PlainDecoder` read it, `TreeDocument` writes and reads it
// in every format.

/// Encodes `Encodable` values as trees of plain values, which keep the types of documents.
///
/// An encoder and its containers share a `Slot`, so that each part is stored in its position when it is complete.
struct PlainEncoder: Encoder {
    let codingPath: [any CodingKey]
    let style: PlainStyle
    fileprivate let slot: Slot
    /// Whether the value is a dictionary, whose keys are data and not names of properties.
    fileprivate var keepsKeys = false

    var userInfo: [CodingUserInfoKey: Any] { style.userInfo }

    /// The tree of a value. Throws `PlainObjectError` beyond the depth limit of documents, and the errors of the
    /// value's encoding.
    static func tree(_ value: some Encodable, style: PlainStyle = PlainStyle()) throws -> ReadableValue {
        try tree(value, style: style, at: [])
    }

    fileprivate static func tree(
        _ value: any Encodable, style: PlainStyle, at path: [any CodingKey]
    ) throws -> ReadableValue {
        if let scalar = GraphValue(foundationObject: value) { return style.scalar(scalar) }
        if let number = value as? UInt64 { return .value(.decimal(Decimal(number))) }
        // A class may contain itself, so that encoding would not end without the limit.
        guard path.count < TreeDocument.depthLimit else {
            throw PlainObjectError(
                .limit, "The value nests deeper than \(TreeDocument.depthLimit) levels, or contains itself.",
                at: PlainPath(Array(path.prefix(8))))
        }
        let slot = Slot()
        try value.encode(
            to: PlainEncoder(codingPath: path, style: style, slot: slot, keepsKeys: value is any PlainDictionary))
        return slot.tree
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        slot.begin(.members(Slot.Members()))
        return KeyedEncodingContainer(
            KeyedWriter(codingPath: codingPath, style: style, keepsKeys: keepsKeys, slot: slot))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        slot.begin(.elements([]))
        return UnkeyedWriter(codingPath: codingPath, style: style, slot: slot)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension PlainEncoder: SingleValueEncodingContainer {
    func encodeNil() throws { slot.content = .leaf(.value(.null)) }

    func encode(_ value: some Encodable) throws {
        slot.content = .leaf(try PlainEncoder.tree(value, style: style, at: codingPath))
    }
}

/// A dictionary with any keys and values.
private protocol PlainDictionary {}

extension Dictionary: PlainDictionary {}

/// The position of one value in a tree that is being built.
private final class Slot {
    enum Content {
        case leaf(ReadableValue)
        case members(Members)
        case elements([Slot])
    }

    /// The members of an object, in the order in which they were first set.
    struct Members {
        private(set) var list: [(name: String, slot: Slot)] = []
        private var positions: [String: Int] = [:]

        mutating func set(_ name: String, _ slot: Slot) {
            if let position = positions[name] { return list[position].slot = slot }
            positions[name] = list.count
            list.append((name, slot))
        }
    }

    /// Null if a value encodes nothing.
    var content = Content.leaf(.value(.null))

    init(_ tree: ReadableValue = .value(.null)) { content = .leaf(tree) }

    /// Starts a container, or continues an existing one of the same kind: a class and its superclass may share one.
    func begin(_ empty: Content) {
        switch (content, empty) {
        case (.members, .members), (.elements, .elements): break
        default: content = empty
        }
    }

    func set(_ key: String, _ slot: Slot) {
        guard case .members(var members) = content else { return }
        content = .leaf(.value(.null))  // so that the members are not copied
        members.set(key, slot)
        content = .members(members)
    }

    func append(_ slot: Slot) {
        guard case .elements(var elements) = content else { return }
        content = .leaf(.value(.null))  // so that the array is not copied
        elements.append(slot)
        content = .elements(elements)
    }

    var count: Int { if case .elements(let elements) = content { elements.count } else { 0 } }

    var tree: ReadableValue {
        switch content {
        case .leaf(let tree): tree
        case .members(let members):
            .dictionary(members.list.map { .init(name: TreeDocument.escapedKey($0.name), value: $0.slot.tree) })
        case .elements(let elements): .array(elements.map(\.tree))
        }
    }
}

private struct KeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let codingPath: [any CodingKey]
    let style: PlainStyle
    let keepsKeys: Bool
    let slot: Slot

    private func name(_ key: any CodingKey) -> String { keepsKeys ? key.stringValue : style.key(key.stringValue) }

    func encodeNil(forKey key: Key) throws { slot.set(name(key), Slot()) }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        let tree = try PlainEncoder.tree(value, style: style, at: codingPath + [key])
        slot.set(name(key), Slot(tree))
    }

    private func encoder(_ key: any CodingKey) -> PlainEncoder {
        let inner = Slot()
        slot.set(name(key), inner)
        return PlainEncoder(codingPath: codingPath + [key], style: style, slot: inner)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { encoder(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder(PlainKey("super")) }
    func superEncoder(forKey key: Key) -> any Encoder { encoder(key) }
}

private struct UnkeyedWriter: UnkeyedEncodingContainer {
    let codingPath: [any CodingKey]
    let style: PlainStyle
    let slot: Slot

    var count: Int { slot.count }

    func encodeNil() throws { slot.append(Slot()) }

    func encode(_ value: some Encodable) throws {
        slot.append(Slot(try PlainEncoder.tree(value, style: style, at: codingPath + [PlainKey(count)])))
    }

    private func encoder() -> PlainEncoder {
        let inner = Slot()
        let path = codingPath + [PlainKey(count)]
        slot.append(inner)
        return PlainEncoder(codingPath: path, style: style, slot: inner)
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        encoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { encoder().unkeyedContainer() }
    func superEncoder() -> any Encoder { encoder() }
}
