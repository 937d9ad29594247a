import Coral

/// What an object holds, as text: attributes by their values, related objects by names. Two objects that hold the same are
/// equal here, whatever context, store or model they live in.
public struct ObjectContents: Sendable, Hashable, CustomStringConvertible {
    /// The name of the entity.
    public let entity: String
    /// The values by the names of properties; those that are null or empty are not there.
    public let values: [String: String]

    /// The contents of an object, without transient and derived attributes. Call it where the object's context may be used.
    /// Cost: reads every property.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - excluding: Names of properties that do not count.
    ///   - name: What related objects are called; without it by their URIs.
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

    /// Where two objects differ, as one line for each property; empty where they do not.
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
