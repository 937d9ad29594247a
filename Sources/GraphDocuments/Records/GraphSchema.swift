/// The part of a model that documents depend on, as plain values: entities, their attributes with types, their
/// relationships.
///
/// Readers decode by declared type (a string is a date if the schema declares one); writers use its order.
package struct GraphSchema: Sendable {
    /// The entities, in the order given.
    package let entities: [Entity]
    private let positions: [String: Int]
    private let parents: Set<String>

    /// Creates a schema of the given entities. Of two with the same name, the first is used.
    package init(entities: [Entity]) {
        self.entities = entities
        positions = Dictionary(entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        parents = Set(entities.compactMap(\.parent))
    }

    /// The entity of that name, or nil. Constant time.
    package func entity(_ name: String) -> Entity? {
        positions[name].map { entities[$0] }
    }

    /// The position of the entity of that name in `entities`. Constant time.
    package func position(of name: String) -> Int? {
        positions[name]
    }

    /// Whether other entities inherit from that entity. Constant time.
    func hasDescendants(_ name: String) -> Bool { parents.contains(name) }

    /// Whether the entity equals the other or is one of its descendants. Cost: a step for every generation.
    package func isEntity(_ name: String, kindOf ancestor: String) -> Bool {
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
    package static func == (left: GraphSchema, right: GraphSchema) -> Bool { left.entities == right.entities }
    package func hash(into hasher: inout Hasher) { hasher.combine(entities) }
}

extension GraphSchema {
    /// An entity with all its properties, including inherited ones.
    package struct Entity: Sendable, Hashable {
        /// The entity's name.
        package let name: String
        /// The name of its parent entity.
        package let parent: String?
        /// Whether it is abstract.
        package let isAbstract: Bool
        /// Its attributes, including inherited ones, in a stable order.
        package let attributes: [Attribute]
        /// Its relationships, including inherited ones, in a stable order.
        package let relationships: [Relationship]
        private let properties: [String: Property]

        /// Creates an entity.
        package init(
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
        package func attribute(_ name: String) -> Attribute? {
            if case .attribute(let index) = properties[name] { attributes[index] } else { nil }
        }

        /// The relationship of that name, or nil. Constant time.
        package func relationship(_ name: String) -> Relationship? {
            if case .relationship(let index) = properties[name] { relationships[index] } else { nil }
        }

        /// The index of the property of that name, or nil. Constant time.
        package func property(_ name: String) -> Property? {
            properties[name]
        }

        package static func == (left: Entity, right: Entity) -> Bool {
            left.name == right.name && left.parent == right.parent && left.isAbstract == right.isAbstract
                && left.attributes == right.attributes && left.relationships == right.relationships
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(name)
        }
    }

    /// The index of a property in its entity's lists.
    package enum Property: Sendable {
        case attribute(Int)
        case relationship(Int)
    }

    /// An attribute and its type.
    package struct Attribute: Sendable, Hashable {
        /// The attribute's name.
        package let name: String
        /// The declared type.
        package let type: GraphValueType
        /// The elements of a composite; empty for every other type.
        package let elements: [Attribute]

        /// Creates an attribute.
        package init(name: String, type: GraphValueType, elements: [Attribute] = []) {
            self.name = name
            self.type = type
            self.elements = elements
        }
    }

    /// A relationship with its cardinality and destination.
    package struct Relationship: Sendable, Hashable {
        /// The relationship's name.
        package let name: String
        /// The destination entity.
        package let destination: String
        /// The inverse relationship.
        package let inverse: String?
        /// Whether it is to-many.
        package let isToMany: Bool
        /// Whether it is ordered.
        package let isOrdered: Bool

        /// Creates a relationship.
        package init(
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
