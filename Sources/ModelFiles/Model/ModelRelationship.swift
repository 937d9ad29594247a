import KeyedArchives
import PredicateLanguage

/// A relationship: references from an object to others.
public struct ModelRelationship: ModelProperty {
    public var name: String
    /// The name of the destination entity. Nil is an error that ``Model/validate()`` reports.
    public var destinationName: String?
    /// The name of the inverse relationship.
    public var inverseName: String?
    /// The entity that the source gives for the inverse; normally the destination. Only in source models.
    public var inverseEntityName: String?
    /// The minimum number of objects.
    public var minimumCount: Int
    /// The maximum number of objects: 1 for a to-one relationship; 0, or less, means no limit.
    public var maximumCount: Int
    /// The rule for the destination objects when the object is deleted.
    public var deleteRule: ModelDeleteRule
    /// Whether the objects have an order.
    public var isOrdered: Bool
    public var isOptional: Bool
    public var isTransient: Bool
    public var isIndexed: Bool
    public var isIndexedBySpotlight: Bool
    public var renamingIdentifier: String?
    public var versionHashModifier: String?
    public var userInfo: [String: PropertyListValue]
    /// Conditions on the value.
    public var customValidations: [ModelValidation]
    /// Whether the relationship takes part in synchronisation. Nil if the source has no such attribute. Only in
    /// source models.
    public var isSyncable: Bool?
    public var position: ModelPosition

    /// Creates an optional relationship to an entity; to-one, unless `maximumCount` is given.
    public init(
        name: String, destinationName: String?, inverseName: String? = nil, minimumCount: Int = 0,
        maximumCount: Int = 1, deleteRule: ModelDeleteRule = .nullify, isOrdered: Bool = false, isOptional: Bool = true,
        userInfo: [String: PropertyListValue] = [:]
    ) {
        self.name = name
        self.destinationName = destinationName
        self.inverseName = inverseName
        self.minimumCount = minimumCount
        self.maximumCount = maximumCount
        self.deleteRule = deleteRule
        self.isOrdered = isOrdered
        self.isOptional = isOptional
        self.userInfo = userInfo
        isTransient = false
        isIndexed = false
        isIndexedBySpotlight = false
        customValidations = []
        position = ModelPosition()
    }

    /// Whether the relationship may hold more than one object.
    public var isToMany: Bool { maximumCount != 1 }

    /// False: a relationship can always be set.
    public var isReadOnly: Bool { false }

    public var validations: [ModelValidation] { customValidations }
}

/// The rule for the objects at the other end when an object is deleted. The raw values are those of files.
public enum ModelDeleteRule: Int, Sendable, Hashable {
    /// Nothing happens; their references to the object are not cleared.
    case noAction = 0
    /// Their references to the object are cleared.
    case nullify = 1
    /// They are deleted too.
    case cascade = 2
    /// The object cannot be deleted while the relationship is not empty.
    case deny = 3
}
