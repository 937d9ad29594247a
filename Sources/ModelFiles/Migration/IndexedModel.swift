import Foundation

/// A model with its version hashes and its properties by entity, found once for all inferences in which it takes part.
final class IndexedModel {
    let model: Model
    let inheritance: ModelInheritance
    /// The version hash of each entity.
    private(set) lazy var hashes = VersionHash(model).entityHashes
    private var known: [String: EntityProperties] = [:]

    init(_ model: Model) {
        self.model = model
        inheritance = ModelInheritance(model)
    }

    /// The properties of an entity that are stored, inherited ones included. Cost: a step for each property at the first call.
    func properties(of entity: String) -> EntityProperties {
        if let known = known[entity] { return known }
        let properties = EntityProperties(inheritance.lineage(of: entity))
        known[entity] = properties
        return properties
    }
}

/// The properties of an entity, inherited ones included. Of two with the same name, look-ups return the first.
struct EntityProperties {
    /// The attributes and relationships, inherited ones first; transient ones are among them.
    let all: [any ModelProperty]
    /// Those that are stored, in order and by name.
    let attributes: [ModelAttribute]
    let relationships: [ModelRelationship]
    let attributesByName: [String: ModelAttribute]
    let relationshipsByName: [String: ModelRelationship]
    /// The entities that declare the properties, by their names.
    let owners: [String: String]

    /// - Parameter lineage: An entity and its ancestors, the topmost first.
    init(_ lineage: [ModelEntity]) {
        let attributes = lineage.flatMap(\.attributes)
        let relationships = lineage.flatMap(\.relationships)
        all = attributes as [any ModelProperty] + relationships
        self.attributes = attributes.filter { !$0.isTransient }
        self.relationships = relationships.filter { !$0.isTransient }
        attributesByName = Self.byName(self.attributes)
        relationshipsByName = Self.byName(self.relationships)
        var owners: [String: String] = [:]
        for entity in lineage {
            for property in entity.properties where owners[property.name] == nil { owners[property.name] = entity.name }
        }
        self.owners = owners
    }

    private static func byName<Property: ModelProperty>(_ properties: [Property]) -> [String: Property] {
        Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
