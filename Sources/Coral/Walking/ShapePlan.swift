import CoreData
import GraphDocuments

/// A shape, resolved against a model: for every entity the properties to read, and how.
package final class ShapePlan {
    package let model: NSManagedObjectModel
    package let schema: GraphSchema
    package let shape: GraphShape
    private let excludedEntities: Set<String>
    private let excludedProperties: PropertyRules<Void>
    private let rules: PropertyRules<RelationshipRule>
    private var entities: [String: EntityPlan] = [:]

    /// Throws `ShapeError` if the shape contains names that the model does not have.
    package init(_ shape: GraphShape, model: NSManagedObjectModel) throws {
        var shape = shape
        shape.onlyProperties = KeyPathResolver.named(shape.onlyProperties, in: model)
        self.model = model
        self.shape = shape
        schema = GraphSchema(model)
        let paths = KeyPathResolver(model)
        excludedEntities = try paths.descendants(of: shape.excludedEntities)
        excludedProperties = try PropertyRules(shape.excludedProperties.map(\.keyPath)) { try paths.property(at: $0) }
        let rules = Dictionary(uniqueKeysWithValues: shape.rules.map { ($0.key.keyPath, $0.value) })
        self.rules = try PropertyRules(rules) { try paths.property(at: $0, requiresRelationship: true) }
        for (entity, names) in shape.onlyProperties { try paths.require(names, of: entity) }
    }

    /// Whether documents of this shape include objects of an entity.
    package func includes(_ entity: NSEntityDescription) -> Bool {
        !excludedEntities.contains(entity.name ?? "")
    }

    /// Whether documents of this shape include objects of every entity.
    package var includesAllEntities: Bool { excludedEntities.isEmpty }

    /// The properties to read of an entity's objects. Computed on first use.
    package func plan(for entity: NSEntityDescription) throws -> EntityPlan {
        let name = entity.name ?? ""
        if let plan = entities[name] { return plan }
        let plan = try makePlan(for: entity)
        entities[name] = plan
        return plan
    }

    /// Omits what documents of the plain layout do not contain: the relationships whose inverse is written, and the ids
    /// of objects to which no relationship refers.
    package func omitUnwritten(in layout: PlainLayout) throws {
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
        let choice = PropertyChoice(of: entity, by: self)
        var attributes: [AttributePlan] = []
        for (_, attribute) in entity.attributesByName.sorted(by: { $0.key < $1.key }) where choice.includes(attribute) {
            attributes.append(AttributePlan(attribute))
        }
        var relationships: [EntityPlan.Relationship] = []
        for (_, relationship) in entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
            let rule = try choice.rule(for: relationship)
            if rule == .omit { continue }
            relationships.append(
                EntityPlan.Relationship(
                    relationship, isEmbedded: rule == .embed, listsEmbedding: try listsEmbedding(relationship, choice)))
        }
        return EntityPlan(entity, attributes: attributes, relationships: relationships)
    }

    /// Whether a relationship is the to-many inverse of one that embeds, and a reference because nothing is stated for it.
    private func listsEmbedding(_ relationship: NSRelationshipDescription, _ choice: PropertyChoice) throws -> Bool {
        guard relationship.isToMany, try choice.statedRule(for: relationship) == nil,
            let inverse = relationship.inverseRelationship, var pending = relationship.destinationEntity.map({ [$0] })
        else { return false }
        while let destination = pending.popLast() {
            if let own = destination.relationshipsByName[inverse.name],
                try PropertyChoice(of: destination, by: self).rule(for: own) == .embed
            {
                return try choice.rule(for: relationship) == .reference
            }
            pending += destination.subentities
        }
        return false
    }

    /// What the shape states for the properties of one entity.
    private struct PropertyChoice {
        private let plan: ShapePlan
        private let entity: NSEntityDescription
        private let excluded: [String: Void]
        private let only: Set<String>?
        private let rules: [String: RelationshipRule]

        init(of entity: NSEntityDescription, by plan: ShapePlan) {
            self.plan = plan
            self.entity = entity
            excluded = plan.excludedProperties.rules(for: entity)
            rules = plan.rules.rules(for: entity)
            only =
                sequence(first: entity, next: \.superentity).lazy
                .compactMap { plan.shape.onlyProperties[$0.name ?? ""] }.first
        }

        func includes(_ property: NSPropertyDescription) -> Bool {
            excluded[property.name] == nil && (only.map { $0.contains(property.name) } ?? plan.isIncluded(property))
        }

        func rule(for relationship: NSRelationshipDescription) throws -> RelationshipRule {
            guard includes(relationship) else { return .omit }
            if let stated = try statedRule(for: relationship) { return stated }
            return switch plan.shape.base {
            case .everything: .embed
            case .roots: .reference
            case .ownership: relationship.deleteRule == .cascadeDeleteRule ? .embed : .reference
            }
        }

        /// The rule that code or the model states, or that follows from an excluded entity; nil if the base decides.
        func statedRule(for relationship: NSRelationshipDescription) throws -> RelationshipRule? {
            if let destination = relationship.destinationEntity, !plan.includes(destination) { return .omit }
            if let stated = rules[relationship.name] { return stated }
            guard let directive = plan.directive(of: relationship) else { return nil }
            guard let rule = RelationshipRule(rawValue: directive) else {
                let place = "\(entity.name ?? "").\(relationship.name)"
                throw ShapeError(
                    .wrongKind,
                    "The directive \(GraphShape.userInfoKey) of \(place) is \"\(directive)\"; it must be embed, reference or omit.",
                    at: place)
            }
            return rule
        }
    }

    /// Whether a property is included that the shape does not name.
    private func isIncluded(_ property: NSPropertyDescription) -> Bool {
        if property.isTransient, !shape.includesTransientAttributes { return false }
        if property is NSDerivedAttributeDescription, !shape.includesDerivedAttributes { return false }
        return !(property is NSAttributeDescription && directive(of: property) == RelationshipRule.omit.rawValue)
    }

    private func directive(of property: NSPropertyDescription) -> String? {
        shape.honoursUserInfo ? property.userInfo?[GraphShape.userInfoKey] as? String : nil
    }
}

/// The properties to read of the objects of one entity.
package final class EntityPlan {
    package final class Relationship {
        package let name: String
        package let description: NSRelationshipDescription
        package let isToMany: Bool
        package let isOrdered: Bool
        package let isEmbedded: Bool
        /// Whether the destinations are the objects that embed the object, of which the document may contain only some.
        package let listsEmbedding: Bool

        package init(_ relationship: NSRelationshipDescription, isEmbedded: Bool, listsEmbedding: Bool = false) {
            name = relationship.name
            description = relationship
            isToMany = relationship.isToMany
            isOrdered = relationship.isOrdered
            self.isEmbedded = isEmbedded
            self.listsEmbedding = listsEmbedding
        }
    }

    package let entity: NSEntityDescription
    package let name: String
    package let attributes: [AttributePlan]
    package fileprivate(set) var relationships: [Relationship]
    /// Whether relationships of the document may refer to objects of the entity, by the ids of their records.
    package fileprivate(set) var isReferred = true

    fileprivate init(_ entity: NSEntityDescription, attributes: [AttributePlan], relationships: [Relationship]) {
        self.entity = entity
        name = entity.name ?? ""
        self.attributes = attributes
        self.relationships = relationships
    }

    /// The id of records that are never referred to, in documents without ids.
    package var unusedID: RecordID { RecordID(name) }

    /// The to-many relationships, which a fetch of many objects should prefetch.
    package var toManyNames: [String] { relationships.filter(\.isToMany).map(\.name) }

    /// The plan for objects that are part of a document only because other objects embed them. A list in a document is the whole list:
    /// with the list of a tag's notes, a document of one note would remove the tag from all other notes of its reader. Nil if they are
    /// written as the others.
    package private(set) lazy var whenEmbedded: EntityPlan? = {
        let written = relationships.filter { !$0.listsEmbedding }
        if written.count == relationships.count { return nil }
        let plan = EntityPlan(entity, attributes: attributes, relationships: written)
        plan.isReferred = isReferred
        return plan
    }()
}
