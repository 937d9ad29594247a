import Foundation
import KeyedArchives
import PredicateLanguage

/// The common properties of attributes, relationships and fetched properties.
public protocol ModelProperty: Sendable, Equatable {
    /// The property's name.
    var name: String { get set }
    /// Whether the property may be nil.
    var isOptional: Bool { get set }
    /// Whether the property is not stored.
    var isTransient: Bool { get set }
    /// Whether the property is marked as indexed, the form before fetch indexes.
    var isIndexed: Bool { get set }
    /// Whether the property cannot be set.
    var isReadOnly: Bool { get }
    /// Whether Spotlight indexes the property.
    var isIndexedBySpotlight: Bool { get set }
    /// The name that the property had in the previous version; nil when it is the same.
    var renamingIdentifier: String? { get set }
    /// An arbitrary text that is part of the entity's hash.
    var versionHashModifier: String? { get set }
    /// The developer's own key-value pairs.
    var userInfo: [String: PropertyListValue] { get set }
    /// All conditions on the value, each with its warning.
    var validations: [ModelValidation] { get }
    /// The property's position in the file that it was read from.
    var position: ModelPosition { get set }
}

/// A condition on a property's value.
public struct ModelValidation: Sendable, Equatable {
    /// The condition; `SELF` is the value.
    public var predicate: PredicateNode
    /// The error or warning of a value that does not meet the condition.
    public var warning: Warning

    /// Creates a condition with its warning.
    public init(predicate: PredicateNode, warning: Warning) {
        self.predicate = predicate
        self.warning = warning
    }

    /// The report of a failed validation.
    public enum Warning: Sendable, Hashable {
        /// An error code, such as 1620 for a number that is too small.
        case code(Int)
        /// A message that the model's developer has written.
        case text(String)
    }
}

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

/// A value in a model: a default, a minimum or a maximum.
public enum ModelValue: Sendable, Hashable {
    case integer(Int64)
    case decimal(Decimal)
    /// The value of a Double or Float attribute.
    case double(Double)
    case string(String)
    case boolean(Bool)
    case date(Date)
    case data(Data)
    case uuid(UUID)
    /// The absolute text of a URI.
    case uri(String)
    /// The archived value of a transformable or composite attribute, of any class.
    case archived(ReadableValue)
}

extension ModelValue {
    /// The value as a Foundation value, for constants of predicates. Archived values have none.
    public var foundationValue: Any? {
        switch self {
        case .integer(let value): value
        case .decimal(let value): value
        case .double(let value): value
        case .string(let value): value
        case .boolean(let value): value
        case .date(let value): value
        case .data(let value): value
        case .uuid(let value): value
        case .uri(let value): URL(string: value)
        case .archived: nil
        }
    }

    /// The constant that a limit is compared with: for a date the seconds since 2001.
    var limit: Any? {
        if case .date(let date) = self { date.timeIntervalSinceReferenceDate } else { foundationValue }
    }
}
