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

/// The members of an entity, found by the bytes of their names with a prediction of the next one.
///
/// Records of one entity usually have their members in the same order. The member that followed last time is compared
/// first; another one is looked up.
final class EntityMembers {
    let entity: String
    let attributes: [GraphSchema.Attribute]
    let relationships: [GraphSchema.Relationship]
    /// The entity's own key in the plain layout.
    let key: PlainKey?
    /// For each relationship the key of its destination in the plain layout.
    let destinationKeys: [PlainKey?]
    private let names: [[UInt8]]
    private let positions: [String: Int]
    /// For each member, plus one for the beginning, the member that followed last time.
    private var successors: [Int]

    init(_ entity: GraphSchema.Entity, keys: PlainKeys?) {
        self.entity = entity.name
        attributes = entity.attributes
        relationships = entity.relationships
        key = keys?[entity.name]
        destinationKeys = entity.relationships.map { keys?[$0.destination] }
        let all = entity.attributes.map(\.name) + entity.relationships.map(\.name)
        names = all.map { Array($0.utf8) }
        positions = Dictionary(all.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        successors = Array(1..<all.count + 1) + [0]
    }

    /// The member whose name the source has just read, or nil: attributes first, then relationships. `previous` is the
    /// preceding member, or -1.
    @inline(__always)
    func member(after previous: Int, in source: inout some TokenSource) -> Int? {
        let before = previous < 0 ? names.count : previous
        let guess = successors[before]
        if guess < names.count, source.textIs(names[guess]) { return guess }
        return lookUp(after: before, in: &source)
    }

    private func lookUp(after before: Int, in source: inout some TokenSource) -> Int? {
        guard let position = positions[source.tokenText()] else { return nil }
        successors[before] = position
        return position
    }
}
