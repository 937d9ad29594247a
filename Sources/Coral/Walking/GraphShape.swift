import CoreData

/// Which part of a graph is walked: what becomes of every relationship, and which entities and properties are left out.
///
/// For each relationship the first of these decides that has something to say: a rule given in code, the directive in the
/// model's user info (`coral.shape`: `embed`, `reference` or `omit`), the shape's `base`.
public struct GraphShape: Sendable, Hashable {
    /// What becomes of a relationship that no rule and no directive names.
    public enum Base: Sendable, Hashable {
        /// Everything that can be reached is part of the graph.
        case everything
        /// What an object owns is part of the graph: what its cascading relationships lead to. The rest is referenced.
        case ownership
        /// Only the roots are part of the graph; all relationships are references.
        case roots
    }

    /// The key of the directive in the user info of entities, attributes and relationships.
    public static let userInfoKey = "coral.shape"

    /// What becomes of a relationship that no rule and no directive names.
    public var base: Base
    /// Whether transient attributes are written. They are not unless said otherwise.
    public var includesTransientAttributes = false
    /// Whether derived attributes are written. They are not unless said otherwise: whoever reads the document derives them
    /// again.
    public var includesDerivedAttributes = false
    /// How deep objects stand inside each other in the nested shape. What lies deeper is written at the top and referenced.
    public var depthLimit = 256
    /// Whether directives in the model's user info count.
    public var honoursUserInfo = true

    var rules: [Target: RelationshipRule] = [:]
    var excludedEntities: Set<String> = []
    var excludedProperties: Set<Target> = []
    /// The only properties of an entity that are written, where it has such a list.
    var onlyProperties: [String: Set<String>] = [:]

    /// A property, as somebody names it: `Note.items.price`, taken apart at its points.
    struct Target: Hashable, Sendable {
        var keyPath: String
    }

    /// A shape that says nothing but what its base says.
    public init(_ base: Base = .ownership) {
        self.base = base
    }

    /// Everything that can be reached.
    public static let everything = GraphShape(.everything)
    /// The roots and what they own.
    public static let ownership = GraphShape(.ownership)
    /// The roots alone.
    public static let roots = GraphShape(.roots)

    // MARK: - Rules in code

    /// Says what becomes of a relationship, named by its entity and the way to it: `Note.items`, or `Note.items.tags`, which
    /// is the relationship `tags` of the entity that `items` leads to, wherever its objects are met. Entities that inherit
    /// the relationship follow the rule unless they have one of their own.
    public mutating func set(_ keyPath: String, _ rule: RelationshipRule) {
        rules[Target(keyPath: keyPath)] = rule
    }

    /// The shape with a rule for one relationship; see `set(_:_:)`.
    public func with(_ keyPath: String, _ rule: RelationshipRule) -> GraphShape {
        var copy = self
        copy.set(keyPath, rule)
        return copy
    }

    /// Leaves out an entity, with those that inherit from it, or a property such as `Note.body` or `Note.items.price`.
    public mutating func exclude(_ name: String) {
        if name.contains(".") {
            excludedProperties.insert(Target(keyPath: name))
        } else {
            excludedEntities.insert(name)
        }
    }

    /// The shape without an entity or a property; see `exclude(_:)`.
    public func excluding(_ names: String...) -> GraphShape {
        var copy = self
        for name in names { copy.exclude(name) }
        return copy
    }

    /// Leaves out all properties of an entity but the named ones. Said twice, the last counts.
    public mutating func include(only properties: Set<String>, of entity: String) {
        onlyProperties[entity] = properties
    }
}
