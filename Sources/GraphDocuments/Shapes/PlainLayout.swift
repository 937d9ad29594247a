/// How the *plain* shape is laid out: arrays by entity, relationships as natural keys, no `$` members. What most servers
/// send and expect.
public struct PlainLayout: Sendable, Hashable {
    /// The entities, in the order in which their arrays are written.
    public var entities: [Entity]
    /// How dates are written.
    public var dates: DateForm
    /// How decimals are written.
    public var decimals: DecimalForm

    /// How dates are written. Any ISO 8601 date is read.
    public enum DateForm: Sendable, Hashable {
        /// `2024-02-29T12:30:00.123Z`, rounded to milliseconds: for readers that take three digits and no more.
        case milliseconds
        /// With as many digits as give back the very same date.
        case exact
    }

    /// How decimals are written. Both forms are read.
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
        /// The attributes and to-one relationships that identify an object; a relationship stands for its target's key.
        public var key: [String]
        /// The members to write, in order. Nil for all the schema has: attributes, then relationships.
        public var members: [String]?
        /// The entity under whose name keys are known: an ancestor that shares the key, so that a reference to it finds the
        /// descendant.
        public var keyEntity: String

        /// An entity's part; `keyEntity` is the entity itself unless said otherwise.
        public init(name: String, key: [String], members: [String]? = nil, keyEntity: String? = nil) {
            self.name = name
            self.key = key
            self.members = members
            self.keyEntity = keyEntity ?? name
        }
    }

    /// A layout.
    public init(entities: [Entity], dates: DateForm = .exact, decimals: DecimalForm = .string) {
        self.entities = entities
        self.dates = dates
        self.decimals = decimals
    }
}

/// The keys of a layout, resolved against a schema: each is a list of attributes, relationships followed to their ends.
struct PlainKeys {
    /// For each entity the attributes that its key is made of.
    let leaves: [String: [GraphSchema.Attribute]]
    let keyEntities: [String: String]

    /// Resolves the layout's keys. Throws `DocumentError` where a key names what the schema does not have, leads through
    /// itself, or through an entity without a key.
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
            throw DocumentError(.unknownEntity, "The layout names an entity \(entity.name) that the schema lacks.")
        }
        // A key that leads through more entities than there are leads in a circle.
        guard generation <= layouts.count else {
            throw DocumentError(.misuse, "The key of \(entity.name) leads through itself.")
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
