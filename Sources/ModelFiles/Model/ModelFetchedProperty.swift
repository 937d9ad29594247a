import KeyedArchives
import PredicateLanguage

/// A fetched property: an array of the results of a fetch request.
public struct ModelFetchedProperty: ModelProperty {
    public var name: String
    /// The request. `$FETCH_SOURCE` is the object, `$FETCHED_PROPERTY` this description.
    public var fetchRequest: ModelFetchRequest
    public var isOptional: Bool
    public var isTransient: Bool
    public var isIndexed: Bool
    public var isIndexedBySpotlight: Bool
    public var renamingIdentifier: String?
    public var versionHashModifier: String?
    public var userInfo: [String: PropertyListValue]
    /// Whether the property takes part in synchronisation. Nil if the source has no such attribute. Only in source
    /// models.
    public var isSyncable: Bool?
    public var position: ModelPosition

    /// Creates a fetched property with a request.
    public init(name: String, fetchRequest: ModelFetchRequest, userInfo: [String: PropertyListValue] = [:]) {
        self.name = name
        self.fetchRequest = fetchRequest
        self.userInfo = userInfo
        isOptional = true
        isTransient = true
        isIndexed = false
        isIndexedBySpotlight = false
        position = ModelPosition()
    }

    /// True: the array cannot be set.
    public var isReadOnly: Bool { true }

    /// Always empty: there is nothing to validate.
    public var validations: [ModelValidation] { [] }
}
