import Foundation

/// A model with its version hashes and its properties by entity, found once for all inferences in which it takes part.
final class IndexedModel {
    let model: Model
    let inheritance: ModelInheritance
    /// The version hash of each entity.
    private(set) lazy var hashes = VersionHash(model).entityHashes
    /// The properties and the topmost ancestor of each entity.
    private lazy var indexed: [String: (properties: EntityProperties, root: String)] =
        inheritance.parentsFirst().reduce(into: [:]) { indexed, entity in
            var entry = entity.parentName.flatMap { indexed[$0] } ?? (EntityProperties(), entity.name)
            entry.properties.add(entity)
            indexed[entity.name] = entry
        }

    /// - Parameter hashes: The version hash of each entity, if it is known.
    init(_ model: Model, hashes: [String: Data]? = nil) {
        self.model = model
        inheritance = ModelInheritance(model)
        if let hashes { self.hashes = hashes }
    }

    /// The topmost ancestor of an entity; nil for an unknown entity. The first call costs one step for each property of the model.
    func rootName(of entity: String) -> String? { indexed[entity]?.root }

    /// The properties of an entity that are stored, inherited ones included; none of an unknown entity. The first call costs one step
    /// for each property of the model.
    func properties(of entity: String) -> EntityProperties { indexed[entity]?.properties ?? EntityProperties() }
}

/// The properties of an entity, inherited ones included. Of two with the same name, look-ups return the first.
struct EntityProperties {
    /// The attributes and relationships, inherited ones first; transient ones are among them.
    var all: [any ModelProperty] { allAttributes as [any ModelProperty] + allRelationships }
    private var allAttributes: [ModelAttribute] = []
    private var allRelationships: [ModelRelationship] = []
    /// Those that are stored, in order and by name.
    private(set) var attributes: [ModelAttribute] = []
    private(set) var relationships: [ModelRelationship] = []
    private(set) var attributesByName: [String: ModelAttribute] = [:]
    private(set) var relationshipsByName: [String: ModelRelationship] = [:]
    /// The entities that declare the properties, by their names.
    private(set) var owners: [String: String] = [:]
    /// Whether a property has a renaming identifier that differs from its name.
    private(set) var statesOtherNames = false

    /// Adds an entity's own properties to those of its parent. Cost: a step for each own property; where there is one, the inherited
    /// ones are copied.
    mutating func add(_ entity: ModelEntity) {
        allAttributes += entity.attributes
        allRelationships += entity.relationships
        for attribute in entity.attributes where !attribute.isTransient {
            attributes.append(attribute)
            if attributesByName[attribute.name] == nil { attributesByName[attribute.name] = attribute }
        }
        for relationship in entity.relationships where !relationship.isTransient {
            relationships.append(relationship)
            if relationshipsByName[relationship.name] == nil { relationshipsByName[relationship.name] = relationship }
        }
        for property in entity.properties {
            if owners[property.name] == nil { owners[property.name] = entity.name }
            if let identifier = property.renamingIdentifier, identifier != property.name { statesOtherNames = true }
        }
    }
}
