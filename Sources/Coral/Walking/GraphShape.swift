import CodedErrors
import CoreData

/// Which part of a graph is exported, copied or compared: the rule of every relationship, and the excluded entities and properties.
///
///     let shape = GraphShape.ownership.with(\Note.tags, .embed).excluding(\Note.body)
///     let json = try note.encoded(shape: shape)
///     let copy = try note.deepCopy(shape: shape)
///
/// For each relationship the first of these that applies is used: a rule set in code, the directive in the model's user
/// info (`coral.shape`: `embed`, `reference` or `omit`), the shape's start (`ownership`, `everything`, …). Copies have directives
/// of their own too, which come before `coral.shape`; see `CopyDirectiveKeys`.
public struct GraphShape: Sendable, Hashable {
    /// The rule of relationships that have neither a rule set in code nor a directive.
    package enum Base: Sendable, Hashable {
        /// Every reachable object is part of the graph.
        case everything
        /// The objects that an object owns are part of the graph: the destinations of its cascading relationships. The
        /// others are referenced.
        case ownership
        /// Only the roots are part of the graph; all relationships are references.
        case roots
        /// The rule of MOCloner: the destinations of relationships with a to-many inverse are referenced; the others are part of the
        /// graph.
        case moCloner

        /// The rule of a relationship.
        func rule(for relationship: NSRelationshipDescription) -> RelationshipRule {
            let isEmbedded =
                switch self {
                case .everything: true
                case .roots: false
                case .ownership: relationship.deleteRule == .cascadeDeleteRule
                case .moCloner: relationship.inverseRelationship?.isToMany != true
                }
            return isEmbedded ? .embed : .reference
        }
    }

    /// The key of the directive in the user info of entities, attributes and relationships.
    package static let userInfoKey = "coral.shape"

    /// The rule of relationships that have neither a rule set in code nor a directive.
    package var base: Base
    /// Whether documents contain transient attributes; false by default. Copies never do.
    public var includesTransientAttributes = false
    /// Whether documents contain derived attributes; false by default, because the importing store derives them again. Copies never do.
    public var includesDerivedAttributes = false
    /// The maximum nesting depth of objects in the nested layout. Deeper objects are written at the top level and
    /// referenced.
    public var depthLimit = 256
    /// Whether directives in the model's user info are used.
    public var honoursUserInfo = true

    /// The rules of relationships, by key paths such as `Note.items.tags`.
    var rules: [String: RelationshipRule] = [:]
    var excludedEntities: Set<String> = []
    /// The excluded properties, as key paths such as `Note.items.price`.
    var excludedProperties: Set<String> = []
    /// The only properties of an entity that are part of the graph, if it has such a list.
    var onlyProperties: [String: Set<String>] = [:]

    /// Creates a shape that consists of a base only.
    package init(_ base: Base = .ownership) {
        self.base = base
    }

    /// Every reachable object.
    public static let everything = GraphShape(.everything)
    /// The roots and the objects that they own.
    public static let ownership = GraphShape(.ownership)
    /// The roots only.
    public static let roots = GraphShape(.roots)
    /// What MOCloner copies: the roots and all that can be reached, without the destinations of relationships whose inverse is to-many.
    public static let moCloner = GraphShape(.moCloner)

    // MARK: - In documents

    /// The shape in the header of a document of objects; nil for the default shape. Two shapes with different objects or
    /// properties have different texts.
    var text: String? {
        guard self != GraphShape() else { return nil }
        var options = self
        options.depthLimit = GraphShape().depthLimit
        options.base = base
        guard options != GraphShape(base) else { return base == .ownership ? nil : "\(base)" }
        let parts =
            [
                includesTransientAttributes ? "transient" : nil, includesDerivedAttributes ? "derived" : nil,
                honoursUserInfo ? nil : "without directives",
            ].compactMap { $0 }
            + rules.map { "\($0.key)=\($0.value.rawValue)" }.sorted()
            + (excludedEntities.map { "-\($0)" } + excludedProperties.map { "-\($0)" }).sorted()
            + onlyProperties.map { "\($0.key)(\($0.value.sorted().joined(separator: ",")))" }.sorted()
        return (["\(base)"] + parts).joined(separator: "; ")
    }

    /// The shape that a header states. Nil if it has rules of its own, which only the code that wrote the document has.
    init?(text: String?) {
        switch text {
        case nil: self.init()
        case "\(Base.everything)": self.init(.everything)
        case "\(Base.roots)": self.init(.roots)
        case "\(Base.moCloner)": self.init(.moCloner)
        default: return nil
        }
    }

    // MARK: - Rules in code

    /// Sets the rule of a relationship, given as a key path that starts with an entity: `Note.items`, or
    /// `Note.items.tags`, which is the relationship `tags` of the destination entity of `items`, wherever its objects
    /// are found. The rule also applies to entities that inherit the relationship, unless they have one of their own.
    public mutating func set(_ keyPath: String, _ rule: RelationshipRule) {
        rules[keyPath] = rule
    }

    /// Sets the rule of a relationship, given as a key path such as `\Note.items`. The entity is the one with the name of the class,
    /// or the only one of the class.
    public mutating func set(_ keyPath: PartialKeyPath<some NSManagedObject>, _ rule: RelationshipRule) {
        set(keyPath.ruleText, rule)
    }

    /// Whether a rule was set for exactly this key path, or the property was excluded.
    package func hasRule(for keyPath: String) -> Bool { rules[keyPath] != nil || excludedProperties.contains(keyPath) }

    /// The shape with a rule for one relationship; see `set(_:_:)`.
    public func with(_ keyPath: String, _ rule: RelationshipRule) -> GraphShape {
        var copy = self
        copy.set(keyPath, rule)
        return copy
    }

    /// The shape with a rule for one relationship; see `set(_:_:)`.
    public func with(_ keyPath: PartialKeyPath<some NSManagedObject>, _ rule: RelationshipRule) -> GraphShape {
        with(keyPath.ruleText, rule)
    }

    /// Excludes an entity, with those that inherit from it, or a property such as `Note.body` or `Note.items.price`.
    public mutating func exclude(_ name: String) {
        if name.contains(".") { excludedProperties.insert(name) } else { excludedEntities.insert(name) }
    }

    /// Excludes a property, given as a key path such as `\Note.body`.
    public mutating func exclude(_ keyPath: PartialKeyPath<some NSManagedObject>) { exclude(keyPath.ruleText) }

    /// The shape without an entity or a property; see `exclude(_:)`.
    public func excluding(_ names: String...) -> GraphShape { excluding(names) }

    /// The shape without properties, given as key paths such as `\Note.body`.
    public func excluding<Object: NSManagedObject>(_ keyPaths: PartialKeyPath<Object>...) -> GraphShape {
        excluding(keyPaths.map(\.ruleText))
    }

    private func excluding(_ names: [String]) -> GraphShape {
        var copy = self
        for name in names { copy.exclude(name) }
        return copy
    }

    /// Excludes all properties of an entity except the named ones. A second call replaces the first.
    public mutating func include(only properties: Set<String>, of entity: String) {
        onlyProperties[entity] = properties
    }

    /// Excludes all properties of a class except these: `shape.include(only: \Note.title, \Note.items)`.
    public mutating func include<Object: NSManagedObject>(only properties: PartialKeyPath<Object>...) {
        include(only: Set(Object.ruleNames(properties)), of: Object.ruleName)
    }
}

/// The rule of a relationship in a shape.
///
/// Whatever the rule, a reference to an object that is copied becomes a reference to its copy.
public enum RelationshipRule: String, Sendable, Hashable, CaseIterable {
    /// The related objects belong to the graph: documents contain them, in their owner in the nested layout, and copies have copies of
    /// them.
    case embed
    /// The related objects are part of the graph only if another relationship embeds them. Documents refer to them, and a copy
    /// refers to the same objects as its original, which is a link.
    ///
    /// If a link would remove them from the original, because the inverse is to-one, it is omitted and reported.
    case reference
    /// The relationship is omitted. Its inverse may still refer to the object.
    case omit
}

extension GraphShape: ErrorDomain {
    /// The sentence alone, which names the place: the invalid entity, key path or directive, as it was given.
    public static func _description(of message: String, at place: String?) -> String { message }
}

/// The reason why a shape does not fit a model.
public typealias ShapeError = CodedError<GraphShape>

extension ShapeError.Code {
    /// The model has no such entity.
    public static let unknownEntity = Self(rawValue: "unknownEntity")
    /// The entity has no such property.
    public static let unknownProperty = Self(rawValue: "unknownProperty")
    /// A rule for a relationship names another property, or a directive has an unknown value.
    public static let wrongKind = Self(rawValue: "wrongKind")
}
