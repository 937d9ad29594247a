import CoreData
import GraphDocuments

/// A shape, resolved against a model: for every entity the properties to read, and how.
final class ShapePlan {
    let model: NSManagedObjectModel
    let schema: GraphSchema
    let shape: GraphShape
    private let excludedEntities: Set<String>
    /// What the shape states of the properties of an entity, without inherited ones.
    private let statements: [String: Statements]
    private var entities: [String: EntityPlan] = [:]

    /// Throws `ShapeError` if the shape contains names that the model does not have.
    init(_ shape: GraphShape, model: NSManagedObjectModel) throws {
        self.model = model
        self.shape = shape
        schema = GraphSchema(model)
        let paths = KeyPathResolver(model)
        excludedEntities = try paths.descendants(of: shape.excludedEntities)
        var statements = shape.onlyProperties.mapValues { Statements(only: $0) }
        func state(_ path: String, _ change: (inout Statements, String) -> Void) {
            let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return }
            change(&statements[parts[0], default: Statements()], parts[1])
        }
        for excluded in shape.excludedProperties {
            state(try paths.property(at: excluded.keyPath)) { $0.excluded.insert($1) }
        }
        // Sorted by name, so that the result is deterministic if two rules refer to the same relationship.
        for (target, rule) in shape.rules.sorted(by: { $0.key.keyPath < $1.key.keyPath }) {
            state(try paths.property(at: target.keyPath, requiresRelationship: true)) { $0.rules[$1] = rule }
        }
        self.statements = statements
        for (entity, names) in shape.onlyProperties { try paths.require(names, of: entity) }
    }

    /// Whether documents of this shape include objects of an entity.
    func includes(_ entity: NSEntityDescription) -> Bool {
        !excludedEntities.contains(entity.name ?? "")
    }

    /// Whether documents of this shape include objects of every entity.
    var includesAllEntities: Bool { excludedEntities.isEmpty }

    /// The properties to read of an entity's objects. Computed on first use.
    func plan(for entity: NSEntityDescription) throws -> EntityPlan {
        let name = entity.name ?? ""
        if let plan = entities[name] { return plan }
        let plan = try makePlan(for: entity)
        entities[name] = plan
        return plan
    }

    /// Omits what documents of the plain layout do not contain: the relationships whose inverse is written, and the ids
    /// of objects to which no relationship refers.
    func omitUnwritten(in layout: PlainLayout) throws {
        var destinations: [NSEntityDescription] = []
        for laidOut in layout.entities {
            guard let entity = model.entitiesByName[laidOut.name], let members = laidOut.members, !entity.isAbstract
            else { continue }
            let plan = try plan(for: entity)
            plan.relationships.removeAll { !members.contains($0.name) }
            destinations += plan.relationships.compactMap(\.description.destinationEntity)
        }
        for name in entities.keys {
            guard let entity = entities[name]?.entity else { continue }
            entities[name]?.isReferred = destinations.contains { entity.isKindOf(entity: $0) }
        }
    }

    private func makePlan(for entity: NSEntityDescription) throws -> EntityPlan {
        // The statements of the nearest ancestor apply, and every exclusion.
        var stated = Statements()
        for ancestor in sequence(first: entity, next: \.superentity) {
            guard let inherited = statements[ancestor.name ?? ""] else { continue }
            stated.only = stated.only ?? inherited.only
            stated.excluded.formUnion(inherited.excluded)
            stated.rules.merge(inherited.rules) { nearer, _ in nearer }
        }
        var attributes: [AttributePlan] = []
        for (_, attribute) in entity.attributesByName.sorted(by: { $0.key < $1.key }) {
            guard isIncluded(attribute, by: stated) else { continue }
            attributes.append(AttributePlan(attribute))
        }
        var relationships: [EntityPlan.Relationship] = []
        for (_, relationship) in entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
            guard isIncluded(relationship, by: stated) else { continue }
            let rule = try rule(for: relationship, of: entity, by: stated)
            if rule == .omit { continue }
            relationships.append(EntityPlan.Relationship(relationship, isEmbedded: rule == .embed))
        }
        return EntityPlan(entity, attributes: attributes, relationships: relationships)
    }

    private func isIncluded(_ property: NSPropertyDescription, by stated: Statements) -> Bool {
        if stated.excluded.contains(property.name) { return false }
        if let only = stated.only { return only.contains(property.name) }
        if property.isTransient, !shape.includesTransientAttributes { return false }
        if property is NSDerivedAttributeDescription, !shape.includesDerivedAttributes { return false }
        return !(property is NSAttributeDescription && directive(of: property) == RelationshipRule.omit.rawValue)
    }

    private func rule(
        for relationship: NSRelationshipDescription, of entity: NSEntityDescription, by stated: Statements
    ) throws -> RelationshipRule {
        if let destination = relationship.destinationEntity, !includes(destination) { return .omit }
        if let rule = stated.rules[relationship.name] { return rule }
        if let directive = directive(of: relationship) {
            guard let rule = RelationshipRule(rawValue: directive) else {
                let place = "\(entity.name ?? "").\(relationship.name)"
                throw ShapeError(
                    .wrongKind,
                    "The directive \(GraphShape.userInfoKey) of \(place) is \"\(directive)\"; it must be embed, reference or omit.",
                    at: place)
            }
            return rule
        }
        return switch shape.base {
        case .everything: .embed
        case .roots: .reference
        case .ownership: relationship.deleteRule == .cascadeDeleteRule ? .embed : .reference
        }
    }

    private func directive(of property: NSPropertyDescription) -> String? {
        shape.honoursUserInfo ? property.userInfo?[GraphShape.userInfoKey] as? String : nil
    }
}

/// What a shape states of the properties of an entity, by their names.
private struct Statements {
    var only: Set<String>?
    var excluded: Set<String> = []
    var rules: [String: RelationshipRule] = [:]
}

/// The properties to read of the objects of one entity.
final class EntityPlan {
    final class Relationship {
        let name: String
        let description: NSRelationshipDescription
        let isToMany: Bool
        let isOrdered: Bool
        let isEmbedded: Bool

        init(_ relationship: NSRelationshipDescription, isEmbedded: Bool) {
            name = relationship.name
            description = relationship
            isToMany = relationship.isToMany
            isOrdered = relationship.isOrdered
            self.isEmbedded = isEmbedded
        }
    }

    let entity: NSEntityDescription
    let name: String
    let attributes: [AttributePlan]
    fileprivate(set) var relationships: [Relationship]
    /// Whether relationships of the document may refer to objects of the entity, by the ids of their records.
    fileprivate(set) var isReferred = true

    fileprivate init(_ entity: NSEntityDescription, attributes: [AttributePlan], relationships: [Relationship]) {
        self.entity = entity
        name = entity.name ?? ""
        self.attributes = attributes
        self.relationships = relationships
    }

    /// The id of records that are never referred to, in documents without ids.
    var unusedID: RecordID { RecordID(name) }

    /// The to-many relationships, which a fetch of many objects should prefetch.
    var toManyNames: [String] { relationships.filter(\.isToMany).map(\.name) }
}
