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
