import KeyedArchives
import PredicateLanguage

/// A relationship: references from an object to others.
public struct ModelRelationship: ModelProperty {
    public var name: String
    /// The name of the entity of the objects referred to. Nil is a mistake that ``Model/validate()`` reports.
    public var destinationName: String?
    /// The name of the relationship back.
    public var inverseName: String?
    /// The entity that the source names as the inverse's; normally the destination. Only in source models.
    public var inverseEntityName: String?
    /// The least number of objects.
    public var minimumCount: Int
    /// The greatest number of objects: 1 for a to-one relationship; 0, or less, is no limit.
    public var maximumCount: Int
    /// What becomes of the objects referred to when the object is deleted.
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
    /// Whether the relationship takes part in synchronisation. Nil where the source says nothing. Only in source models.
    public var isSyncable: Bool?
    public var position: ModelPosition

    /// An optional relationship to an entity; to one object, unless the greatest number says otherwise.
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

/// What becomes of the objects at the other end when an object is deleted, numbered as files number it.
public enum ModelDeleteRule: Int, Sendable, Hashable {
    /// Nothing, not even their references back are cleared.
    case noAction = 0
    /// Their references back are cleared.
    case nullify = 1
    /// They are deleted too.
    case cascade = 2
    /// The object cannot be deleted while there is one.
    case deny = 3
}
