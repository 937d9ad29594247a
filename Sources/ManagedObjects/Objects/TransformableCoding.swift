import Foundation
import KeyedArchives

/// Between a transformable attribute's value and the bytes that a store keeps.
///
/// A user's transformer makes data of values; the built-in ones, which unarchive, are used in reverse, as Core Data does.
enum TransformableCoding {
    /// The value of stored bytes. Bytes that the transformer cannot read stay what they are, are handed out as nil, and
    /// are written back unchanged.
    static func decode(_ data: Data, attribute: NSAttributeDescription) -> Value {
        let transformer = transformer(of: attribute)
        let decoded =
            transformer is NSSecureUnarchiveFromDataTransformer
            ? transformer?.transformedValue(data) : transformer?.reverseTransformedValue(data)
        guard let value = decoded else {
            return .object(ObjectValue(UndecodableValue(data: data), encoded: data))
        }
        return .object(ObjectValue(value, encoded: data))
    }

    /// The bytes of a value.
    ///
    /// - Throws: A validation error that names entity and attribute when the transformer is missing or gives no data.
    static func encode(_ value: ObjectValue, attribute: NSAttributeDescription) throws -> Data {
        if let encoded = value.encoded { return encoded }
        return try bytes(of: value.value, attribute: attribute)
    }

    /// The bytes that the transformer makes of a value now.
    static func bytes(of value: Any, attribute: NSAttributeDescription) throws -> Data {
        if let undecodable = value as? UndecodableValue { return undecodable.data }
        let name = "\(attribute.entity.name ?? "").\(attribute.name)"
        guard let transformer = transformer(of: attribute) else {
            throw CocoaError(
                .coreData,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "No value transformer \"\(attribute.valueTransformerName ?? "")\" is registered for \(name)."
                ])
        }
        let encoded =
            transformer is NSSecureUnarchiveFromDataTransformer
            ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
        guard let data = encoded as? Data else {
            throw CocoaError(
                .coreData,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "The value transformer of \(name) made no data of a value of type \(type(of: value))."
                ])
        }
        return data
    }

    /// Whether two encodings are of the same value. Archives and property lists of one value differ from one time to the
    /// next in the order of their keys, which says nothing; of other bytes each counts.
    static func areSame(_ one: Data, _ two: Data) -> Bool {
        if one == two { return true }
        guard let one = readable(one), let two = readable(two) else { return false }
        return one.isSame(as: two)
    }

    private static func readable(_ data: Data) -> ReadableValue? {
        guard BinaryPropertyList.isBinaryPropertyList(data) else { return nil }
        if let archive = try? ReadableValue(archive: data) { return archive }
        return (try? BinaryPropertyList.read(data)).map { ReadableValue($0) }
    }

    private static func transformer(of attribute: NSAttributeDescription) -> ValueTransformer? {
        let name = attribute.valueTransformerName.flatMap { $0.isEmpty ? nil : $0 }
        return ValueTransformer(
            forName: name.map { NSValueTransformerName($0) } ?? .secureUnarchiveFromDataTransformerName)
    }
}

/// Stored bytes that no transformer here can read. A user's code sees nil.
final class UndecodableValue {
    let data: Data

    init(data: Data) {
        self.data = data
    }
}

@_spi(Stores)
extension NSManagedObject {
    /// The stored bytes of a transformable attribute whose value reads as nil because its transformer is missing or cannot
    /// read them; nil otherwise. Realises a fault.
    public func unreadableBytes(forKey key: String) -> Data? {
        guard case .slot(let slot)? = place(of: key), case .object(let box) = slotValue(slot) else { return nil }
        return (box.value as? UndecodableValue)?.data
    }
}
