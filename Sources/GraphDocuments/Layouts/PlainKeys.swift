/// The keys of a layout by entity, resolved against a schema.
struct PlainKeys {
    private let keys: [String: PlainKey]

    /// Resolves the layout's keys. Throws `DocumentError` if a key contains a name that the schema does not have,
    /// contains a cycle, or leads through an entity without a key.
    init(_ layout: PlainLayout, schema: GraphSchema) throws {
        var layouts: [String: PlainLayout.Entity] = [:]
        for entity in layout.entities { layouts[entity.name] = entity }
        var keys: [String: PlainKey] = [:]
        for entity in layout.entities {
            let leaves = try PlainKeys.leaves(of: entity, in: layouts, schema: schema, generation: 0)
            keys[entity.name] = PlainKey(entity, leaves: leaves)
        }
        self.keys = keys
    }

    /// The key of an entity; nil for one that is not part of the layout, or whose key has no parts.
    subscript(_ entity: String) -> PlainKey? { keys[entity] }

    private static func leaves(
        of entity: PlainLayout.Entity, in layouts: [String: PlainLayout.Entity], schema: GraphSchema, generation: Int
    ) throws -> [GraphSchema.Attribute] {
        guard let declared = schema.entity(entity.name) else {
            throw DocumentError(.unknownEntity, "The layout's entity \(entity.name) is not in the schema.")
        }
        // A key that passes more entities than there are contains a cycle.
        guard generation <= layouts.count else {
            throw DocumentError(.misuse, "The key of \(entity.name) contains a cycle.")
        }
        var leaves: [GraphSchema.Attribute] = []
        for member in entity.key {
            if let attribute = declared.attribute(member) {
                leaves.append(attribute)
            } else if let relationship = declared.relationship(member), !relationship.isToMany {
                guard let destination = layouts[relationship.destination] else {
                    throw DocumentError(.misuse, "\(relationship.destination), part of a key, has no key itself.")
                }
                leaves += try PlainKeys.leaves(
                    of: destination, in: layouts, schema: schema, generation: generation + 1)
            } else {
                throw DocumentError(.misuse, "\(entity.name) has no attribute or to-one relationship \(member).")
            }
        }
        return leaves
    }
}

/// The key of an entity in the plain layout.
final class PlainKey: Sendable {
    /// The attributes and to-one relationships that are its parts.
    let members: [String]
    /// The attributes of the key, with relationships replaced by the keys of their destinations.
    let leaves: [GraphSchema.Attribute]
    private let entity: String
    /// The beginning of each id.
    private let prefix: String

    fileprivate init?(_ entity: PlainLayout.Entity, leaves: [GraphSchema.Attribute]) {
        guard !leaves.isEmpty else { return nil }
        members = entity.key
        self.leaves = leaves
        self.entity = entity.keyEntity
        prefix = RecordID.keyPrefix(entity.keyEntity)
    }

    /// The id of the object with that key.
    func id(_ values: [String]) -> RecordID { .key(entity: entity, values: values) }

    /// The id of the object with a key of one part.
    func id(_ value: String) -> RecordID { .key(prefix: prefix, value: value) ?? id([value]) }
}
