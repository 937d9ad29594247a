import KeyedArchives
import PredicateLanguage

/// What attributes, relationships and fetched properties have in common.
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
    /// The name that the property had in the version before; nil when it is the same.
    var renamingIdentifier: String? { get set }
    /// Any text; a change of it changes the entity's hash.
    var versionHashModifier: String? { get set }
    /// The developer's own remarks.
    var userInfo: [String: PropertyListValue] { get set }
    /// All conditions that a value must meet, and what to say when it does not.
    var validations: [ModelValidation] { get }
    /// The property's place in the file that it was read from.
    var position: ModelPosition { get set }
}

/// A condition on a property's value.
public struct ModelValidation: Sendable, Equatable {
    /// The condition; `SELF` is the value.
    public var predicate: PredicateNode
    /// What a failure is reported as.
    public var warning: Warning

    /// A condition and its warning.
    public init(predicate: PredicateNode, warning: Warning) {
        self.predicate = predicate
        self.warning = warning
    }

    /// What a failed validation is reported as.
    public enum Warning: Sendable, Hashable {
        /// An error code, such as 1620 for a number that is too small.
        case code(Int)
        /// A sentence of the developer.
        case text(String)
    }
}
