import KeyedArchives
import PredicateLanguage

/// An entity: a kind of object, with the properties that it adds to those of its parent.
public struct ModelEntity: Sendable, Equatable {
    /// The entity's name.
    public var name: String
    /// The class of its objects; nil stands for `NSManagedObject` itself. A leading dot, in source models only, means
    /// the module that the model is built into.
    public var className: String?
    /// Whether only sub-entities have objects.
    public var isAbstract: Bool
    /// The name of the entity that this one inherits from.
    public var parentName: String?
    /// The name that the entity had in the version before; nil when it is the same.
    public var renamingIdentifier: String?
    /// Any text; a change of it changes the entity's hash.
    public var versionHashModifier: String?
    /// The developer's own remarks.
    public var userInfo: [String: PropertyListValue]
    /// The entity's own attributes.
    public var attributes: [ModelAttribute]
    /// The entity's own relationships.
    public var relationships: [ModelRelationship]
    /// The entity's own fetched properties.
    public var fetchedProperties: [ModelFetchedProperty]
    /// Lists of property names whose values together are unique among the entity's objects.
    public var uniquenessConstraints: [[String]]
    /// Indexes of the store's tables.
    public var fetchIndexes: [ModelFetchIndex]
    /// Indexes over several properties, the form before fetch indexes.
    public var compoundIndexes: [[String]]
    /// Which source code the tools generate. Only in source models.
    public var codeGeneration: ModelCodeGeneration
    /// Whether the entity takes part in synchronisation. Nil where the source says nothing. Only in source models.
    public var isSyncable: Bool?
    /// The display name's expression for Spotlight. Only in source models.
    public var spotlightDisplayNameExpression: String?
    /// The entity's place in the file that it was read from.
    public var position: ModelPosition

    /// An entity of a name, with everything else at its default.
    public init(
        name: String, className: String? = nil, isAbstract: Bool = false, parentName: String? = nil,
        attributes: [ModelAttribute] = [], relationships: [ModelRelationship] = [],
        fetchedProperties: [ModelFetchedProperty] = [], uniquenessConstraints: [[String]] = [],
        fetchIndexes: [ModelFetchIndex] = [], userInfo: [String: PropertyListValue] = [:]
    ) {
        self.name = name
        self.className = className
        self.isAbstract = isAbstract
        self.parentName = parentName
        self.attributes = attributes
        self.relationships = relationships
        self.fetchedProperties = fetchedProperties
        self.uniquenessConstraints = uniquenessConstraints
        self.fetchIndexes = fetchIndexes
        self.userInfo = userInfo
        compoundIndexes = []
        codeGeneration = .manual
        position = ModelPosition()
    }

    /// The own properties of every kind: attributes, then relationships, then fetched properties.
    public var properties: [any ModelProperty] {
        attributes as [any ModelProperty] + relationships + fetchedProperties
    }
}

/// Which source code Xcode generates for an entity.
public enum ModelCodeGeneration: String, Sendable, Hashable {
    /// None: the class is written by hand.
    case manual = "none"
    /// The whole class.
    case classDefinition = "class"
    /// An extension with the properties.
    case category
}

/// Where in a file a part of a model stands. All positions are equal: the place is not part of what a model says.
public struct ModelPosition: Sendable, Hashable {
    /// The file's path, or nil where there is none.
    public var file: String?
    /// The line, counted from 1, or nil in a file that has no lines.
    public var line: Int?

    /// A position; nil is unknown.
    public init(file: String? = nil, line: Int? = nil) {
        self.file = file
        self.line = line
    }

    public static func == (left: Self, right: Self) -> Bool { true }

    public func hash(into hasher: inout Hasher) {}
}
