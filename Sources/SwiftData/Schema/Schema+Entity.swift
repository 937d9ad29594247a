extension Schema {
    /// An entity: what one model class becomes in a store.
    public final class Entity: Codable, Hashable, CustomDebugStringConvertible,
        @unchecked Sendable  // because it is not changed once a container uses its schema
    {
        public var name: String
        public var superentityName: String?
        public weak var superentity: Entity? { didSet { superentityName = superentity?.name ?? superentityName } }
        public var subentities: Set<Entity> = [] {
            didSet { for entity in subentities { entity.superentity = self } }
        }
        /// The properties that the class itself declares.
        public var storedProperties: [any SchemaProperty] { didSet { index() } }
        public private(set) var storedPropertiesByName: [String: any SchemaProperty] = [:]
        /// The properties of the superclasses.
        public var inheritedProperties: [any SchemaProperty] = [] { didSet { index() } }
        public private(set) var inheritedPropertiesByName: [String: any SchemaProperty] = [:]
        /// The constraints: the names of properties whose values, taken together, no two objects share.
        public var uniquenessConstraints: [[String]] = []
        /// The binary indexes.
        public var indices: [[String]] = []
        /// The R-tree indexes.
        var treeIndices: [[String]] = []

        public init(_ name: String) {
            self.name = name
            storedProperties = []
        }

        public init(_ name: String, properties: any SchemaProperty...) {
            self.name = name
            storedProperties = properties
            index()
        }

        public init(_ name: String, subentities: Entity..., properties: any SchemaProperty...) {
            self.name = name
            storedProperties = properties
            index()
            self.subentities = Set(subentities)
            for entity in subentities { entity.superentity = self }
        }

        private func index() {
            storedPropertiesByName = Dictionary(storedProperties.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
            inheritedPropertiesByName = Dictionary(inheritedProperties.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        }

        /// All properties, the inherited ones first.
        public var properties: [any SchemaProperty] { inheritedProperties + storedProperties }
        public var attributes: Set<Attribute> { Set(attributesByName.values) }
        public var attributesByName: [String: Attribute] { named(Attribute.self) }
        public var relationships: Set<Relationship> { Set(relationshipsByName.values) }
        public var relationshipsByName: [String: Relationship] { named(Relationship.self) }

        private func named<T: SchemaProperty>(_ type: T.Type) -> [String: T] {
            Dictionary(properties.compactMap { $0 as? T }.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        }

        private enum CodingKeys: String, CodingKey {
            case name, superentityName, attributes, composites, relationships, order, uniquenessConstraints, indices,
                treeIndices
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            superentityName = try container.decodeIfPresent(String.self, forKey: .superentityName)
            let decoded: [any SchemaProperty] =
                try container.decode([Attribute].self, forKey: .attributes)
                + container.decode([CompositeAttribute].self, forKey: .composites)
                + container.decode([Relationship].self, forKey: .relationships)
            let order = try container.decode([String].self, forKey: .order)
            let byName = Dictionary(decoded.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
            storedProperties = order.compactMap { byName[$0] }
            uniquenessConstraints = try container.decode([[String]].self, forKey: .uniquenessConstraints)
            indices = try container.decode([[String]].self, forKey: .indices)
            treeIndices = try container.decode([[String]].self, forKey: .treeIndices)
            index()
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encodeIfPresent(superentityName, forKey: .superentityName)
            let composites = storedProperties.compactMap { $0 as? CompositeAttribute }
            try container.encode(
                storedProperties.compactMap { $0 is CompositeAttribute ? nil : $0 as? Attribute }, forKey: .attributes)
            try container.encode(composites, forKey: .composites)
            try container.encode(storedProperties.compactMap { $0 as? Relationship }, forKey: .relationships)
            try container.encode(storedProperties.map(\.name), forKey: .order)
            try container.encode(uniquenessConstraints, forKey: .uniquenessConstraints)
            try container.encode(indices, forKey: .indices)
            try container.encode(treeIndices, forKey: .treeIndices)
        }

        public static func == (lhs: Entity, rhs: Entity) -> Bool {
            lhs === rhs
                || lhs.name == rhs.name && lhs.superentityName == rhs.superentityName
                    && lhs.attributesByName == rhs.attributesByName
                    && lhs.relationshipsByName == rhs.relationshipsByName
                    && lhs.uniquenessConstraints == rhs.uniquenessConstraints && lhs.indices == rhs.indices
                    && lhs.treeIndices == rhs.treeIndices
        }

        public func hash(into hasher: inout Hasher) { hasher.combine(name) }

        public var debugDescription: String {
            "\(name)(\(properties.map(\.name).joined(separator: ", ")))"
        }
    }
}
