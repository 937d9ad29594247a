import CoreData
import GraphDocuments

/// A shape, resolved against a model: for every entity the properties to read, and how.
package final class ShapePlan {
    package let model: NSManagedObjectModel
    package let schema: GraphSchema
    package let shape: GraphShape
    private let resolved: ResolvedShape
    private var entities: [String: EntityPlan] = [:]

    /// Throws `ShapeError` if the shape contains names that the model does not have.
    package init(_ shape: GraphShape, model: NSManagedObjectModel) throws {
        resolved = try ResolvedShape(shape, model: model)
        self.model = model
        self.shape = resolved.shape
        schema = GraphSchema(model)
    }

    /// Whether documents of this shape include objects of an entity.
    package func includes(_ entity: NSEntityDescription) -> Bool { resolved.includes(entity) }

    /// Whether documents of this shape include objects of every entity.
    package var includesAllEntities: Bool { resolved.includesAllEntities }

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
        let stated = resolved.properties(of: entity)
        var attributes: [AttributePlan] = []
        for (_, attribute) in entity.attributesByName.sorted(by: { $0.key < $1.key })
        where stated.isIncluded(attribute) ?? isIncluded(attribute) {
            attributes.append(AttributePlan(attribute))
        }
        var relationships: [EntityPlan.Relationship] = []
        for (_, relationship) in entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
            let rule = try self.rule(for: relationship, stated)
            if rule == .omit { continue }
            relationships.append(
                EntityPlan.Relationship(
                    relationship, isEmbedded: rule == .embed, listsEmbedding: try listsEmbedding(relationship, stated)))
        }
        return EntityPlan(entity, attributes: attributes, relationships: relationships)
    }

    private func rule(
        for relationship: NSRelationshipDescription, _ stated: ResolvedShape.Properties
    ) throws -> RelationshipRule {
        if stated.isIncluded(relationship) == nil, relationship.isTransient, !shape.includesTransientAttributes {
            return .omit
        }
        return try statedRule(for: relationship, stated) ?? shape.base.rule(for: relationship)
    }

    /// The rule that code or the model states; nil if the base decides.
    private func statedRule(
        for relationship: NSRelationshipDescription, _ stated: ResolvedShape.Properties
    ) throws -> RelationshipRule? {
        try stated.ruleInCode(for: relationship) ?? stated.ruleInModel(for: relationship)
    }

    private func listsEmbedding(
        _ relationship: NSRelationshipDescription, _ stated: ResolvedShape.Properties
    ) throws -> Bool {
        guard try statedRule(for: relationship, stated) == nil else { return false }
        return try resolved.listsEmbedding(relationship) { try rule(for: $0, resolved.properties(of: $1)) == .embed }
    }

    /// Whether an attribute is included that the shape does not name.
    private func isIncluded(_ attribute: NSAttributeDescription) -> Bool {
        if attribute.isTransient, !shape.includesTransientAttributes { return false }
        if attribute is NSDerivedAttributeDescription, !shape.includesDerivedAttributes { return false }
        return resolved.directive(of: attribute) != RelationshipRule.omit.rawValue
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
