import Coral

/// The contents of an object as text: attributes by their values, related objects by names. Two objects with the same
/// contents are equal here, in any context, store or model.
public struct ObjectContents: Sendable, Hashable, CustomStringConvertible {
    /// The name of the entity.
    public let entity: String
    /// The values by the names of properties, without null and empty ones.
    public let values: [String: String]

    /// Reads the contents of an object, without transient and derived attributes. Call it on the queue of the object's
    /// context. Cost: reads every property.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - excluding: Names of properties to ignore.
    ///   - name: The names of related objects; by default their URIs.
    public init(
        _ object: NSManagedObject, excluding: Set<String> = [],
        name: (NSManagedObject) -> String = { $0.objectID.uriRepresentation().absoluteString }
    ) {
        entity = object.entity.name ?? ""
        var values: [String: String] = [:]
        for (key, attribute) in object.entity.attributesByName where !excluding.contains(key) {
            if attribute.isTransient || attribute is NSDerivedAttributeDescription { continue }
            values[key] = object.value(forKey: key).map(ValueContents.text)
        }
        for (key, relationship) in object.entity.relationshipsByName where !excluding.contains(key) {
            let value = object.value(forKey: key)
            let text: String
            if !relationship.isToMany {
                text = (value as? NSManagedObject).map(name) ?? ""
            } else if let members = value as? NSOrderedSet {
                text = members.array.compactMap { ($0 as? NSManagedObject).map(name) }.joined(separator: " ")
            } else {
                let members = (value as? NSSet)?.allObjects ?? []
                text = members.compactMap { ($0 as? NSManagedObject).map(name) }.sorted().joined(separator: " ")
            }
            if !text.isEmpty { values[key] = text }
        }
        self.values = values
    }

    /// The differences between two objects, one line for each property; empty if there are none.
    public func differences(from other: ObjectContents) -> [String] {
        var lines = entity == other.entity ? [] : ["entity: \(entity), not \(other.entity)"]
        for key in Set(values.keys).union(other.values.keys).sorted() where values[key] != other.values[key] {
            lines.append("\(key): \(values[key] ?? "null"), not \(other.values[key] ?? "null")")
        }
        return lines
    }

    public var description: String {
        entity + " " + values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
    }
}

/// A value as text. Equal values have equal texts in every process: dictionaries and sets are sorted by the texts of
/// their elements.
enum ValueContents {
    /// The text of an attribute's value. For other classes it is the content of the object's keyed archive, or its
    /// description if it cannot be archived.
    static func text(_ value: Any) -> String {
        switch value {
        case let text as String: text
        case let data as Data: data.base64EncodedString()
        case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
        case let url as URL: url.absoluteString
        case let uuid as UUID: uuid.uuidString
        case let number as NSNumber: "\(number)"
        case let values as [Any]: list(values.map(quoted))
        case let values as NSOrderedSet: list(values.array.map(quoted))
        case let values as Set<AnyHashable>: set(values.map { quoted($0.base) })
        case let values as NSSet: set(values.allObjects.map(quoted))
        case let values as [AnyHashable: Any]: dictionary(values.map { ($0.base, $1) })
        case let object as NSObject: archived(object) ?? "\(object)"
        default: "\(value)"
        }
    }

    /// The text of an element. Strings are quoted, so that they differ from other values with the same text.
    private static func quoted(_ value: Any) -> String {
        (value as? String).map { $0.debugDescription } ?? text(value)
    }

    private static func list(_ texts: [String]) -> String { "[" + texts.joined(separator: ", ") + "]" }
    private static func set(_ texts: [String]) -> String { "{" + texts.sorted().joined(separator: ", ") + "}" }

    private static func dictionary(_ pairs: [(Any, Any)]) -> String {
        let texts = pairs.map { "\(quoted($0)): \(quoted($1))" }
        return "[" + (texts.isEmpty ? ":" : texts.sorted().joined(separator: ", ")) + "]"
    }

    /// The decoded content of an object's archive. The bytes cannot be compared, because archivers write keys in any
    /// order.
    private static func archived(_ object: NSObject) -> String? {
        guard object is any NSCoding,
            let data = try? NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
        else { return nil }
        return ReadableValue(archive: data).map { "\($0)" }
    }
}
