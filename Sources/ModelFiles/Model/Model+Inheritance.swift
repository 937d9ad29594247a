extension Model {
    /// The ancestors of an entity, its parent first. Ends if a parent is unknown or the chain is a cycle.
    public func ancestors(of entity: ModelEntity) -> [ModelEntity] {
        ModelInheritance(self).ancestors(of: entity.name)
    }

    /// The entities directly below an entity, in the model's order.
    public func children(of entity: ModelEntity) -> [ModelEntity] {
        entities.filter { $0.parentName == entity.name }
    }
}

/// A model with its entities by name, for repeated look-ups.
public struct ModelInheritance: Sendable {
    /// The entities by name; of two with the same name the first.
    public let entities: [String: ModelEntity]
    /// The names of the entities, in the model's order.
    private let names: [String]

    /// Indexes a model. Cost: one step for each entity.
    public init(_ model: Model) {
        names = model.entities.map(\.name)
        entities = Dictionary(model.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The entities, each after its parent, otherwise in the model's order. Of a cycle, one entity is before its parent. Cost:
    /// one step for each entity.
    func parentsFirst() -> [ModelEntity] {
        var ordered: [ModelEntity] = []
        ordered.reserveCapacity(entities.count)
        var met = Set<String>(minimumCapacity: entities.count)
        for start in names {
            let first = ordered.count
            var next: String? = start
            while let name = next, let entity = entities[name], met.insert(name).inserted {
                ordered.append(entity)
                next = entity.parentName
            }
            ordered[first...].reverse()
        }
        return ordered
    }

    /// The names of the entities that inherit from themselves. Cost: one step for each entity.
    func cycles() -> Set<String> {
        var met = Set<String>(minimumCapacity: entities.count)
        var cycles: Set<String> = []
        for entity in parentsFirst() {
            met.insert(entity.name)
            guard let parent = entity.parentName, entities[parent] != nil,
                parent == entity.name || !met.contains(parent)
            else { continue }
            var next: String? = entity.name
            while let name = next, cycles.insert(name).inserted { next = entities[name]?.parentName }
        }
        return cycles
    }

    /// The ancestors of the entity with a name, its parent first. Ends if a parent is unknown or the chain is a
    /// cycle.
    public func ancestors(of name: String) -> [ModelEntity] {
        var ancestors: [ModelEntity] = []
        var met: Set<String> = [name]
        var next = entities[name]?.parentName
        while let name = next, met.insert(name).inserted, let entity = entities[name] {
            ancestors.append(entity)
            next = entity.parentName
        }
        return ancestors
    }

    /// An entity and its ancestors, the topmost first.
    public func lineage(of name: String) -> [ModelEntity] {
        guard let entity = entities[name] else { return [] }
        return ancestors(of: name).reversed() + [entity]
    }

    /// All attributes of an entity, inherited ones first.
    public func attributes(of name: String) -> [ModelAttribute] {
        lineage(of: name).flatMap(\.attributes)
    }

    /// All relationships of an entity, inherited ones first.
    public func relationships(of name: String) -> [ModelRelationship] {
        lineage(of: name).flatMap(\.relationships)
    }

    /// All fetched properties of an entity, inherited ones first.
    public func fetchedProperties(of name: String) -> [ModelFetchedProperty] {
        lineage(of: name).flatMap(\.fetchedProperties)
    }
}
