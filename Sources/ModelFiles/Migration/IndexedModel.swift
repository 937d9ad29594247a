import Foundation

/// A model with its version hashes and its properties by entity, found once for all inferences in which it takes part.
final class IndexedModel {
    let model: Model
    let inheritance: ModelInheritance
    /// The version hash of each entity.
    private(set) lazy var hashes = VersionHash(model).entityHashes
    private var known: [String: EntityProperties] = [:]
    private var roots: [String: String] = [:]

    init(_ model: Model) {
        self.model = model
        inheritance = ModelInheritance(model)
    }

    /// The topmost ancestor of an entity; nil for an unknown entity. Cost: a step for each ancestor at the first call for one of them.
    func rootName(of entity: String) -> String? {
        guard inheritance.entities[entity] != nil else { return nil }
        var path: [String] = []
        var met: Set<String> = []
        var root = entity
        while met.insert(root).inserted {
            if let known = roots[root] {
                root = known
                break
            }
            path.append(root)
            guard let parent = inheritance.parent(of: root)?.name, !met.contains(parent) else { break }
            root = parent
        }
        for name in path { roots[name] = root }
        return root
    }

    /// The properties of an entity that are stored, inherited ones included. Cost: a step for each property at the first call.
    func properties(of entity: String) -> EntityProperties {
        var properties = EntityProperties()
        var unknown: [ModelEntity] = []
        var met: Set<String> = []
        var next: String? = entity
        while let name = next, let entity = inheritance.entities[name], met.insert(name).inserted {
            if let known = known[name] {
                properties = known
                break
            }
            unknown.append(entity)
            next = entity.parentName
        }
        for entity in unknown.reversed() {
            properties.add(entity)
            known[entity.name] = properties
        }
        return properties
    }
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
        for property in entity.properties where owners[property.name] == nil { owners[property.name] = entity.name }
    }
}
