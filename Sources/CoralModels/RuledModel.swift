import CodedErrors
import Coral
import SwiftData

/// A model with rules for the toolkit, which stand beside its class as those of a model file stand in its user info.
///
///     extension Recipe: RuledModel {
///         static var toolkitRules: ModelRules<Recipe> {
///             ModelRules(.key(\.title), .copy(\.tags, .reference), .renew(\.id), .members(\.steps, .replace))
///         }
///     }
///
/// The rules of all models of a container are checked before they are used. What a call states itself takes precedence.
public protocol RuledModel: PersistentModel {
    /// The class that the rules are of.
    associatedtype RuledType: PersistentModel = Self
    static var toolkitRules: ModelRules<RuledType> { get }
}

/// The rules of one model.
public struct ModelRules<Model: PersistentModel> {
    let rules: [ModelRule<Model>]

    public init(_ rules: ModelRule<Model>...) { self.rules = rules }
}

/// One rule of a model.
public struct ModelRule<Model: PersistentModel> {
    enum Kind {
        case key
        case copy(RelationshipRule)
        case exclude
        case renew(@Sendable () -> Any)
        case shape(RelationshipRule)
        case members(RelationshipImportPolicy)
        case newer
    }

    let kind: Kind
    let keyPaths: [PartialKeyPath<Model>]

    /// The attributes and to-one relationships that identify a model in documents. Without this rule unique properties do.
    public static func key(_ parts: PartialKeyPath<Model>...) -> ModelRule { ModelRule(kind: .key, keyPaths: parts) }

    /// Whether copies copy the models of a relationship, refer to the same ones, or omit them; without this rule, the rule of `shape`
    /// decides.
    public static func copy(_ relationship: PartialKeyPath<Model>, _ rule: RelationshipRule) -> ModelRule {
        ModelRule(kind: .copy(rule), keyPaths: [relationship])
    }

    /// Copies do not have the values of a property.
    public static func exclude(_ property: PartialKeyPath<Model>) -> ModelRule {
        ModelRule(kind: .exclude, keyPaths: [property])
    }

    /// Copies have a new UUID.
    public static func renew(_ attribute: KeyPath<Model, UUID>) -> ModelRule {
        ModelRule(kind: .renew { UUID() }, keyPaths: [attribute])
    }

    /// Copies have the date of the copy.
    public static func renew(_ attribute: KeyPath<Model, Date>) -> ModelRule {
        ModelRule(kind: .renew { Date() }, keyPaths: [attribute])
    }

    /// Whether documents contain the models of a relationship, refer to them, or omit them.
    public static func shape(_ relationship: PartialKeyPath<Model>, _ rule: RelationshipRule) -> ModelRule {
        ModelRule(kind: .shape(rule), keyPaths: [relationship])
    }

    /// What an import does with members of a to-many relationship that a document does not list.
    public static func members(_ relationship: PartialKeyPath<Model>, _ policy: RelationshipImportPolicy) -> ModelRule {
        ModelRule(kind: .members(policy), keyPaths: [relationship])
    }

    /// The attribute that orders versions of a model: a record that is not newer changes nothing.
    public static func newer(_ attribute: PartialKeyPath<Model>) -> ModelRule {
        ModelRule(kind: .newer, keyPaths: [attribute])
    }
}

/// The errors of this module; those of the toolkit are the toolkit's own.
public enum ModelToolkitErrorDomain: ErrorDomain {}
/// An error in the rules of models, or in their use with the toolkit. The place is a class, or a property of one.
public typealias ModelToolkitError = CodedError<ModelToolkitErrorDomain>

extension ModelToolkitError.Code {
    /// A model that is in no context.
    public static let noContext = Self(rawValue: "noContext")
    /// The store has no model with an identifier.
    public static let noModel = Self(rawValue: "noModel")
    /// A rule that does not fit the class.
    public static let wrongRule = Self(rawValue: "wrongRule")
}
