/// The layout of the *plain* layout, which most servers use: arrays by entity, relationships as natural keys, no `$`
/// members.
public struct PlainLayout: Sendable, Hashable {
    /// The entities, in the order in which their arrays are written.
    public var entities: [Entity]
    /// The format of dates.
    public var dates: DateForm
    /// The format of decimals.
    public var decimals: DecimalForm

    /// The format of dates. Any ISO 8601 date is read.
    public enum DateForm: Sendable, Hashable {
        /// `2024-02-29T12:30:00.123Z`, rounded to milliseconds: for readers that accept exactly three digits.
        case milliseconds
        /// With full precision.
        case exact
    }

    /// The format of decimals. Both are read.
    public enum DecimalForm: Sendable, Hashable {
        /// As text, with all digits.
        case string
        /// As a number.
        case number
    }

    /// One entity's part of the layout.
    public struct Entity: Sendable, Hashable {
        /// The entity's name.
        public var name: String
        /// The attributes and to-one relationships that identify an object; a relationship represents its destination's
        /// key.
        public var key: [String]
        /// The members to write, in order. Nil for all in the schema: attributes, then relationships.
        public var members: [String]?
        /// The entity in ids with the key: an ancestor that shares the key, so that a reference to it finds the
        /// descendant.
        public var keyEntity: String

        /// Creates an entity's part; `keyEntity` is the entity itself by default.
        public init(name: String, key: [String], members: [String]? = nil, keyEntity: String? = nil) {
            self.name = name
            self.key = key
            self.members = members
            self.keyEntity = keyEntity ?? name
        }
    }

    /// Creates a layout.
    public init(entities: [Entity], dates: DateForm = .exact, decimals: DecimalForm = .string) {
        self.entities = entities
        self.dates = dates
        self.decimals = decimals
    }
}

/// The keys of a layout, resolved against a schema: each is a list of attributes, with relationships replaced by their
/// keys.
struct PlainKeys {
    /// For each entity the attributes of its key.
    let leaves: [String: [GraphSchema.Attribute]]
    let keyEntities: [String: String]

    /// Resolves the layout's keys. Throws `DocumentError` if a key contains a name that the schema does not have,
    /// contains a cycle, or leads through an entity without a key.
    init(_ layout: PlainLayout, schema: GraphSchema) throws {
        var layouts: [String: PlainLayout.Entity] = [:]
        for entity in layout.entities { layouts[entity.name] = entity }
        var leaves: [String: [GraphSchema.Attribute]] = [:]
        var keyEntities: [String: String] = [:]
        for entity in layout.entities {
            leaves[entity.name] = try PlainKeys.leaves(of: entity, in: layouts, schema: schema, generation: 0)
            keyEntities[entity.name] = entity.keyEntity
        }
        self.leaves = leaves
        self.keyEntities = keyEntities
    }

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

    /// The id of the object with that key.
    func id(of entity: String, values: [String]) -> RecordID {
        .key(entity: keyEntities[entity] ?? entity, values: values)
    }
}
