import CoreData
import GraphDocuments

extension PlainLayout {
    /// The layout of a shape's documents: each entity with its attributes, and one side of every relationship.
    ///
    /// The side is chosen in this order: an ordered one; one that is part of a key; a to-one relationship; the one
    /// whose destination has the shorter key. Entities follow those that they refer to, where possible.
    ///
    /// Throws `ShapeError` if the shape does not fit the model.
    init(_ plan: ShapePlan, keys: KeyNames, dates: DateForm, decimals: DecimalForm) throws {
        let entities = plan.model.sortedEntities.filter { !$0.isAbstract && plan.includes($0) }
        var laidOut: [Entity] = []
        var references: [String: Set<String>] = [:]
        var keyReferences: [String: Set<String>] = [:]
        for entity in entities {
            let described = try plan.plan(for: entity)
            let name = entity.name ?? ""
            let rule = keys.rule(of: entity)
            let relationships = try described.relationships.filter { planned in
                guard let relationship = entity.relationshipsByName[planned.name] else { return false }
                if rule?.parts.contains(where: { $0.name == planned.name }) == true { return true }
                return try PlainLayout.isWritten(relationship, of: entity, keys, plan)
            }
            laidOut.append(
                Entity(
                    name: name, key: rule?.parts.map(\.name) ?? [],
                    members: described.attributes.map(\.name) + relationships.map(\.name), keyEntity: rule?.entity))
            keyReferences[name] = Set(
                (rule?.relationships ?? []).flatMap {
                    PlainLayout.concrete(entity.relationshipsByName[$0]?.destinationEntity)
                })
            references[name] = Set(
                relationships.flatMap { PlainLayout.concrete(entity.relationshipsByName[$0.name]?.destinationEntity) })
        }
        // The destination of a key's relationship may be an abstract entity, whose key identifies its objects.
        for entity in plan.model.sortedEntities where entity.isAbstract {
            guard let rule = keys.rule(of: entity) else { continue }
            laidOut.append(
                Entity(name: entity.name ?? "", key: rule.parts.map(\.name), members: [], keyEntity: rule.entity))
        }
        self.init(entities: PlainLayout.sorted(laidOut, references, keyReferences), dates: dates, decimals: decimals)
    }

    /// The layout for reading documents of a model.
    init(_ model: ImportModel) {
        let entities = model.schema.entities.compactMap { described -> PlainLayout.Entity? in
            guard let entity = model.entity(described.name), entity.name == described.name,
                let rule = entity.rules.first
            else { return nil }
            return PlainLayout.Entity(name: described.name, key: rule.parts.map(\.name), keyEntity: rule.entity)
        }
        self.init(entities: entities)
    }

    private static func concrete(_ entity: NSEntityDescription?) -> [String] {
        guard let entity else { return [] }
        return (entity.isAbstract ? [] : [entity.name ?? ""]) + entity.subentities.flatMap { concrete($0) }
    }

    /// Whether this side of a relationship is the one that is written.
    private static func isWritten(
        _ relationship: NSRelationshipDescription, of entity: NSEntityDescription, _ keys: KeyNames, _ plan: ShapePlan
    ) throws -> Bool {
        guard let inverse = relationship.inverseRelationship, let destination = relationship.destinationEntity,
            try plan.plan(for: destination).relationships.contains(where: { $0.name == inverse.name })
        else { return true }
        let (mine, other) = (
            rank(relationship, of: entity, keys), rank(inverse, of: relationship.destinationEntity, keys)
        )
        if mine != other { return mine < other }
        if relationship.isOrdered { return true }
        let names = [relationship, inverse].map { "\($0.entity.name ?? "").\($0.name)" }
        return names[0] <= names[1]
    }

    /// The rank of a side; the side with the lower rank is written.
    private static func rank(
        _ relationship: NSRelationshipDescription, of entity: NSEntityDescription?, _ keys: KeyNames
    ) -> Int {
        let destination = relationship.destinationEntity.flatMap(keys.rule(of:))
        guard let destination else { return 1000 }
        if relationship.isOrdered { return 0 }
        let isKey = entity.flatMap(keys.rule(of:))?.parts.contains { $0.name == relationship.name } ?? false
        if isKey { return 1 }
        return (relationship.isToMany ? 100 : 10) + min(destination.parts.count, 50)
    }

    /// Orders entities after those that they refer to; in a cycle, after those that their keys refer to.
    private static func sorted(
        _ entities: [Entity], _ references: [String: Set<String>], _ keyReferences: [String: Set<String>]
    ) -> [Entity] {
        var rest = entities
        var sorted: [Entity] = []
        var done: Set<String> = []
        let names = Set(entities.map(\.name))
        while !rest.isEmpty {
            func isReady(_ entity: Entity, _ references: [String: Set<String>]) -> Bool {
                references[entity.name, default: []].intersection(names).subtracting(done).isSubset(of: [entity.name])
            }
            let next =
                rest.firstIndex { isReady($0, references) } ?? rest.firstIndex { isReady($0, keyReferences) } ?? 0
            done.insert(rest[next].name)
            sorted.append(rest.remove(at: next))
        }
        return sorted
    }
}
