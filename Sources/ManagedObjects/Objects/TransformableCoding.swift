import CoreDataErrors
import Foundation
import FoundationAdditions
import KeyedArchives
import ModelFiles

/// Converts between a transformable attribute's value and the bytes in the store.
///
/// A custom transformer encodes by `transformedValue`; the built-in transformers, which unarchive, are used in reverse,
/// as Core Data does.
package enum TransformableCoding {
    /// Decodes stored bytes. Bytes that the transformer cannot decode, or whose value is not of the attribute's class, are
    /// kept, read as nil, and written back unchanged.
    package static func decode(_ data: Data, attribute: NSAttributeDescription) -> Value {
        let transformer = transformer(of: attribute)
        let decoded =
            transformer is NSSecureUnarchiveFromDataTransformer
            ? transformer?.transformedValue(data) : transformer?.reverseTransformedValue(data)
        guard let decoded, let value = valueClass(of: attribute).value(from: decoded) else {
            return .object(ObjectValue(UndecodableValue(data: data), encoded: data))
        }
        return .object(ObjectValue(value, encoded: data))
    }

    /// Encodes a value.
    ///
    /// - Throws: A validation error that names entity and attribute when the transformer is missing or returns no data.
    package static func encode(_ value: ObjectValue, attribute: NSAttributeDescription) throws -> Data {
        if let encoded = value.encoded { return encoded }
        return try bytes(of: value.value, attribute: attribute)
    }

    /// Encodes a value with the transformer, ignoring any cached bytes.
    package static func bytes(of value: Any, attribute: NSAttributeDescription) throws -> Data {
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
                        "The value transformer of \(name) returned no data for a value of type \(type(of: value))."
                ])
        }
        return data
    }

    /// Whether two encodings represent the same value. Archives and property lists of one value may differ in the order
    /// of their keys, which is ignored; other data is compared byte by byte.
    package static func areSame(_ one: Data, _ two: Data) -> Bool {
        if one == two { return true }
        guard let one = readable(one), let two = readable(two) else { return false }
        return one.isSame(as: two)
    }

    private static func readable(_ data: Data) -> ReadableValue? {
        guard BinaryPropertyList.isBinaryPropertyList(data) else { return nil }
        if let archive = try? ReadableValue(archive: data) { return archive }
        return (try? BinaryPropertyList.read(data)).map { ReadableValue($0) }
    }

    /// The class of the attribute's values. Looked up each time, because a library that has the class may be loaded later.
    private static func valueClass(of attribute: NSAttributeDescription) -> ValueClass {
        guard let name = attribute.attributeValueClassName, !name.isEmpty else { return .any }
        return ValueClass(name) { name in
            if let found = NSClassFromString(name) { return found }
            let found = ProgramClasses.named(name)
            return found.count == 1 ? found[0] : nil
        }
    }

    private static func transformer(of attribute: NSAttributeDescription) -> ValueTransformer? {
        let name = attribute.valueTransformerName.flatMap { $0.isEmpty ? nil : $0 }
        return ValueTransformer(
            forName: name.map { NSValueTransformerName($0) } ?? .secureUnarchiveFromDataTransformerName)
    }
}

/// The encoding of one transformable attribute, for stores, which know no description.
package final class TransformableAttribute: @unchecked Sendable {  // because its description is frozen
    private let attribute: NSAttributeDescription
    /// Named in errors; the attribute does not retain it.
    private let entity: NSEntityDescription?

    package init(_ attribute: NSAttributeDescription) {
        self.attribute = attribute
        entity = attribute.entityIfAny
    }

    /// - Throws: A validation error that names entity and attribute when the transformer is missing or returns no data.
    package func encode(_ value: ObjectValue) throws -> Data {
        try TransformableCoding.encode(value, attribute: attribute)
    }
}

/// Stored bytes that the transformer cannot decode. The public API returns nil.
final class UndecodableValue {
    let data: Data

    init(data: Data) {
        self.data = data
    }
}

extension NSManagedObject {
    /// Whether an attribute has a stored value that is not of a type.
    final func hasValue<Value>(forKey key: String, otherThan type: Value.Type) -> Bool {
        guard let value = value(forKey: key) else { return unreadableBytes(forKey: key) != nil }
        return !(value is Value)
    }

    /// Keeps the stored value of a transformable attribute, which a property of another type reads as empty: what is assigned to
    /// that property may be the empty value, changed in place. Validation fails until the value is removed by
    /// `setValue(nil, forKey:)`, or the change is discarded.
    final func refuseReplacement(forKey key: String, by type: Any.Type) {
        guard case .slot(let slot)? = field(of: key), case .object(let box) = slotValue(slot) else { return }
        setSlot(slot, to: .object(ObjectValue(box.value, encoded: box.encoded, refusedType: type)))
    }
}

extension NSManagedObject {
    /// The stored bytes of a transformable attribute whose value reads as nil because its transformer is missing or
    /// cannot decode them; nil otherwise. Realises a fault.
    package func unreadableBytes(forKey key: String) -> Data? {
        guard case .slot(let slot)? = field(of: key), case .object(let box) = slotValue(slot) else { return nil }
        return (box.value as? UndecodableValue)?.data
    }
}

/// Distinguishes values that can be changed in place from immutable ones.
enum ChangeableValue {
    /// Whether a value can be changed in place: whether it is, or contains, an object of a class that is not known to
    /// be immutable. Cost: a step for each member of a collection of unknown type, up to a limit, beyond which the
    /// answer is yes.
    static func isChangeable(_ value: Any) -> Bool {
        var budget = 512
        var pending: [Any] = [value]
        while let next = pending.popLast() {
            budget -= 1
            if budget < 0 { return true }
            if next is any ValueSemantic, !(type(of: next) is AnyClass) { continue }
            if type(of: next) is AnyClass {
                guard let members = members(ofImmutable: next as AnyObject) else { return true }
                if members.count > budget { return true }
                pending += members
            } else {
                let children = Mirror(reflecting: next).children
                if children.count > budget { return true }
                pending += children.map(\.value)
            }
        }
        return false
    }

    private static let immutableClasses: Set<ObjectIdentifier> = {
        let classes: [AnyClass] = [
            NSString.self, NSNumber.self, NSDecimalNumber.self, NSDate.self, NSData.self, NSURL.self, NSUUID.self,
            NSNull.self, UndecodableValue.self,
        ]
        return Set(classes.map { ObjectIdentifier($0) })
    }()

    /// The members of an immutable object; nil for a mutable one.
    private static func members(ofImmutable object: AnyObject) -> [Any]? {
        let kind: AnyClass = type(of: object)
        if immutableClasses.contains(ObjectIdentifier(kind)) { return [] }
        switch object {
        case let array as NSArray where kind == NSArray.self: return array.map { $0 }
        case let set as NSSet where kind == NSSet.self: return set.allObjects
        case let set as NSOrderedSet where kind == NSOrderedSet.self: return set.array
        case let dictionary as NSDictionary where kind == NSDictionary.self:
            return dictionary.allKeys + dictionary.allValues
        default: return nil
        }
    }
}

/// Types whose values contain no mutable object.
private protocol ValueSemantic {}

extension String: ValueSemantic {}
extension Bool: ValueSemantic {}
extension Int: ValueSemantic {}
extension Int16: ValueSemantic {}
extension Int32: ValueSemantic {}
extension Int64: ValueSemantic {}
extension UInt64: ValueSemantic {}
extension Double: ValueSemantic {}
extension Float: ValueSemantic {}
extension Data: ValueSemantic {}
extension Date: ValueSemantic {}
extension UUID: ValueSemantic {}
extension URL: ValueSemantic {}
extension Decimal: ValueSemantic {}
extension Optional: ValueSemantic where Wrapped: ValueSemantic {}
extension Array: ValueSemantic where Element: ValueSemantic {}
extension Set: ValueSemantic where Element: ValueSemantic {}
extension Dictionary: ValueSemantic where Key: ValueSemantic, Value: ValueSemantic {}
