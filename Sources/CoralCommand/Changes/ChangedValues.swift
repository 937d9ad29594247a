import Coral

/// The stored values, before the changes, of all objects that the unsaved changes of a context affect. If they are equal in two
/// contexts, both contexts change the same state of the store.
struct ChangedValues: Equatable {
    private enum Value: Equatable {
        case attribute(GraphValue)
        case objects([URL])
    }

    /// The values of each object, by its URI.
    private let objects: [URL: [String: Value]]

    /// Must be called on the context's queue. Cost: the members of the objects' to-many relationships are loaded.
    init(of context: NSManagedObjectContext) {
        let changed = context.updatedObjects.union(context.deletedObjects)
        objects = Dictionary(
            changed.map { ($0.objectID.uriRepresentation(), Self.values(of: $0)) },
            uniquingKeysWith: { first, _ in first })
    }

    private static func values(of object: NSManagedObject) -> [String: Value] {
        var values: [String: Value] = [:]
        for (name, value) in object.committedValues(forKeys: nil) {
            if let attribute = object.entity.attributesByName[name] {
                values[name] = .attribute(
                    GraphValue(value is NSNull ? nil : value, declaredAs: GraphSchema.Attribute(attribute)))
            } else {
                let members =
                    (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? [value]
                let uris = members.compactMap { ($0 as? NSManagedObject)?.objectID.uriRepresentation() }
                values[name] = .objects(
                    value is NSOrderedSet ? uris : uris.sorted { $0.absoluteString < $1.absoluteString })
            }
        }
        return values
    }
}
