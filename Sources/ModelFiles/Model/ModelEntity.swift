import KeyedArchives
import PredicateLanguage

/// An entity: a type of object, with the properties that it adds to those of its parent.
public struct ModelEntity: Sendable, Equatable {
    /// The entity's name.
    public var name: String
    /// The class of its objects; nil means `NSManagedObject`. A leading dot, in source models only, represents the
    /// module that the model is compiled for.
    public var className: String?
    /// Whether the entity has no objects of its own; only its subentities have objects.
    public var isAbstract: Bool
    /// The name of the entity that this one inherits from.
    public var parentName: String?
    /// The name that the entity had in the previous version; nil when it is the same.
    public var renamingIdentifier: String?
    /// An arbitrary text that is part of the entity's hash.
    public var versionHashModifier: String?
    /// The developer's own key-value pairs.
    public var userInfo: [String: PropertyListValue]
    /// The entity's own attributes.
    public var attributes: [ModelAttribute]
    /// The entity's own relationships.
    public var relationships: [ModelRelationship]
    /// The entity's own fetched properties.
    public var fetchedProperties: [ModelFetchedProperty]
    /// Lists of property names whose combined values are unique among the entity's objects.
    public var uniquenessConstraints: [[String]]
    /// Indexes of the store's tables.
    public var fetchIndexes: [ModelFetchIndex]
    /// Indexes over several properties, the form before fetch indexes.
    public var compoundIndexes: [[String]]
    /// Which source code the tools generate. Only in source models.
    public var codeGeneration: ModelCodeGeneration
    /// Whether the entity takes part in synchronisation. Nil if the source has no such attribute. Only in source
    /// models.
    public var isSyncable: Bool?
    /// The display name's expression for Spotlight. Only in source models.
    public var spotlightDisplayNameExpression: String?
    /// The entity's position in the file that it was read from.
    public var position: ModelPosition

    /// Creates an entity with a name; everything else has its default.
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

    /// The entity's own properties: attributes, then relationships, then fetched properties.
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

/// The position of a part of a model in a file. All positions are equal: they do not take part in comparisons of
/// models.
public struct ModelPosition: Sendable, Hashable {
    /// The file's path, or nil if there is none.
    public var file: String?
    /// The line, starting at 1, or nil in a file that has no lines.
    public var line: Int?

    /// Creates a position; nil means unknown.
    public init(file: String? = nil, line: Int? = nil) {
        self.file = file
        self.line = line
    }

    public static func == (left: Self, right: Self) -> Bool { true }

    public func hash(into hasher: inout Hasher) {}
}
