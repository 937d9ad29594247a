import Foundation

/// The mapping from one model to another that is inferred from the models alone: Core Data's lightweight migration.
///
/// No store is read. Changes that cannot be inferred are listed in ``obstacles``; a migration must only be run if
/// that list is empty.
public struct InferredMapping: Sendable, Equatable {
    /// What happens to the objects of an entity.
    public enum Kind: Sendable, Hashable {
        /// The entity is new and has no objects.
        case add
        /// The entity is removed; its objects are deleted.
        case remove
        /// The entity has the same version hash in both models.
        case copy
        /// The entity differs.
        case transform
    }

    /// The source of the values of a property of the new model.
    public struct Property: Sendable, Hashable {
        /// The property of the new model.
        public var name: String
        /// The property of the old model; nil if the property has no source: it gets its default value, or is empty.
        public var sourceName: String?

        /// A property and its source.
        public init(name: String, sourceName: String?) {
            self.name = name
            self.sourceName = sourceName
        }
    }

    /// What happens to one entity.
    public struct Entity: Sendable, Equatable {
        public var kind: Kind
        /// The entity of the old model; nil if it is new.
        public var sourceName: String?
        /// The entity of the new model; nil if it is removed.
        public var destinationName: String?
        /// All persistent attributes of the new entity, including inherited ones, sorted by name.
        public var attributes: [Property]
        /// The relationships that both entities have, including inherited ones, sorted by name.
        public var relationships: [Property]

        /// A mapping of one entity.
        public init(
            kind: Kind, sourceName: String?, destinationName: String?, attributes: [Property], relationships: [Property]
        ) {
            self.kind = kind
            self.sourceName = sourceName
            self.destinationName = destinationName
            self.attributes = attributes
            self.relationships = relationships
        }

        /// The name that Apple's framework gives the entity mapping.
        public var name: String {
            switch kind {
            case .add: "IEM_Add_\(destinationName ?? "")"
            case .remove: "IEM_Remove_\(sourceName ?? "")"
            case .copy: "IEM_Copy_\(destinationName ?? "")"
            case .transform: "IEM_Transform_\(destinationName ?? "")"
            }
        }
    }

    /// A reason why a migration cannot be inferred.
    public struct Obstacle: Sendable, Hashable {
        /// The entity of the new model.
        public var entity: String
        /// The property of the new model; nil if the obstacle is the entity itself.
        public var property: String?
        /// The reason as sentences, with a remedy if there is one.
        public var reason: String
    }

    /// One mapping for each entity of either model, including subentities: those of the new model sorted by name, then
    /// removed ones.
    public let entities: [Entity]
    /// The changes that cannot be inferred, sorted by entity and property. An obstacle of an inherited property is
    /// listed once, for the entity that declares the property.
    public let obstacles: [Obstacle]

    /// Infers the mapping. Cost: the version hashes of both models, and a step for each property of each entity.
    public init(from old: Model, to new: Model) {
        self.init(from: IndexedModel(old), to: IndexedModel(new))
    }

    /// Infers the mapping of models whose version hashes are known.
    package init(from old: (model: Model, hashes: [String: Data]), to new: (model: Model, hashes: [String: Data])) {
        self.init(from: IndexedModel(old.model, hashes: old.hashes), to: IndexedModel(new.model, hashes: new.hashes))
    }

    init(from old: IndexedModel, to new: IndexedModel) {
        var inference = MigrationInference(from: old, to: new)
        inference.run()
        entities = inference.mappings
        obstacles = inference.obstacles
    }
}
