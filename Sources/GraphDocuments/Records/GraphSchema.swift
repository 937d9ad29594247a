/// The part of a model that documents depend on, as plain values: entities, their attributes with types, their
/// relationships.
///
/// Readers decode by declared type (a string is a date if the schema declares one); writers use its order.
public struct GraphSchema: Sendable {
    /// The entities, in the order given.
    public let entities: [Entity]
    private let positions: [String: Int]
    private let parents: Set<String>

    /// Creates a schema of the given entities. Of two with the same name, the first is used.
    public init(entities: [Entity]) {
        self.entities = entities
        positions = Dictionary(entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        parents = Set(entities.compactMap(\.parent))
    }

    /// The entity of that name, or nil. Constant time.
    public func entity(_ name: String) -> Entity? {
        positions[name].map { entities[$0] }
    }

    /// The position of the entity of that name in `entities`. Constant time.
    public func position(of name: String) -> Int? {
        positions[name]
    }

    /// Whether other entities inherit from that entity. Constant time.
    func hasDescendants(_ name: String) -> Bool { parents.contains(name) }

    /// Whether the entity equals the other or is one of its descendants. Cost: a step for every generation.
    public func isEntity(_ name: String, kindOf ancestor: String) -> Bool {
        var current: String? = name
        // The loop is bounded by the number of entities, in case the parents form a cycle.
        for _ in 0...entities.count {
            guard let here = current else { return false }
            if here == ancestor { return true }
            current = entity(here)?.parent
        }
        return false
    }
}

extension GraphSchema: Hashable {
    public static func == (left: GraphSchema, right: GraphSchema) -> Bool { left.entities == right.entities }
    public func hash(into hasher: inout Hasher) { hasher.combine(entities) }
}

extension GraphSchema {
    /// An entity with all its properties, including inherited ones.
    public struct Entity: Sendable, Hashable {
        /// The entity's name.
        public let name: String
        /// The name of its parent entity.
        public let parent: String?
        /// Whether it is abstract.
        public let isAbstract: Bool
        /// Its attributes, including inherited ones, in a stable order.
        public let attributes: [Attribute]
        /// Its relationships, including inherited ones, in a stable order.
        public let relationships: [Relationship]
        private let properties: [String: Property]

        /// Creates an entity.
        public init(
            name: String, parent: String? = nil, isAbstract: Bool = false, attributes: [Attribute] = [],
            relationships: [Relationship] = []
        ) {
            self.name = name
            self.parent = parent
            self.isAbstract = isAbstract
            self.attributes = attributes
            self.relationships = relationships
            var properties: [String: Property] = [:]
            for (index, attribute) in attributes.enumerated() { properties[attribute.name] = .attribute(index) }
            for (index, relationship) in relationships.enumerated() {
                properties[relationship.name] = .relationship(index)
            }
            self.properties = properties
        }

        /// The attribute of that name, or nil. Constant time.
        public func attribute(_ name: String) -> Attribute? {
            if case .attribute(let index) = properties[name] { attributes[index] } else { nil }
        }

        /// The relationship of that name, or nil. Constant time.
        public func relationship(_ name: String) -> Relationship? {
            if case .relationship(let index) = properties[name] { relationships[index] } else { nil }
        }

        /// The index of the property of that name, or nil. Constant time.
        package func property(_ name: String) -> Property? {
            properties[name]
        }

        public static func == (left: Entity, right: Entity) -> Bool {
            left.name == right.name && left.parent == right.parent && left.isAbstract == right.isAbstract
                && left.attributes == right.attributes && left.relationships == right.relationships
        }

        public func hash(into hasher: inout Hasher) {
            hasher.combine(name)
        }
    }

    /// The index of a property in its entity's lists.
    package enum Property: Sendable {
        case attribute(Int)
        case relationship(Int)
    }

    /// An attribute and its type.
    public struct Attribute: Sendable, Hashable {
        /// The attribute's name.
        public let name: String
        /// The declared type.
        public let type: GraphValueType
        /// The elements of a composite; empty for every other type.
        public let elements: [Attribute]

        /// Creates an attribute.
        public init(name: String, type: GraphValueType, elements: [Attribute] = []) {
            self.name = name
            self.type = type
            self.elements = elements
        }
    }

    /// A relationship with its cardinality and destination.
    public struct Relationship: Sendable, Hashable {
        /// The relationship's name.
        public let name: String
        /// The destination entity.
        public let destination: String
        /// The inverse relationship.
        public let inverse: String?
        /// Whether it is to-many.
        public let isToMany: Bool
        /// Whether it is ordered.
        public let isOrdered: Bool

        /// Creates a relationship.
        public init(
            name: String, destination: String, inverse: String? = nil, isToMany: Bool = false, isOrdered: Bool = false
        ) {
            self.name = name
            self.destination = destination
            self.inverse = inverse
            self.isToMany = isToMany
            self.isOrdered = isOrdered
        }
    }
}
