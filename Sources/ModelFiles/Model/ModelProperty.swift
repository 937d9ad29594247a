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
