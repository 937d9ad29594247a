import CoreData
import GraphDocuments

/// Creates records of managed objects according to a shape. A record contains the values of the object's attributes and
/// the ids of the destinations of its relationships.
final class ObjectRecorder {
    let plan: ShapePlan
    let names: RecordNames

    init(plan: ShapePlan, names: RecordNames) {
        self.plan = plan
        self.names = names
    }

    /// The values and destinations of an object; the destinations may not exist.
    struct Draft {
        var id: NSManagedObjectID
        var entity: EntityPlan
        var attributes: [GraphAttribute]
        /// For each relationship of the entity's plan the IDs of its destinations, in order.
        var targets: [[NSManagedObjectID]]
    }

    /// Reads an object: its row, and its to-many relationships, from the store if they are not loaded yet.
    ///
    /// Throws `ExportError` if a transformable value cannot be archived. A value whose file does not exist becomes a
    /// reference to that file.
    func draft(of object: NSManagedObject) throws -> Draft {
        let entity = try plan.plan(for: object.entity)
        let attributes = try attributes(of: object, by: entity)
        let targets = try entity.relationships.map { try self.targets(of: object, by: $0) }
        return Draft(id: object.objectID, entity: entity, attributes: attributes, targets: targets)
    }

    private func attributes(of object: NSManagedObject, by entity: EntityPlan) throws -> [GraphAttribute] {
        try entity.attributes.map { GraphAttribute(name: $0.name, value: try $0.value(of: object)) }
    }

    /// The destinations of a relationship, without those whose entity the shape excludes. An unordered relationship is
    /// sorted by the ids in the document.
    func targets(
        of object: NSManagedObject, by relationship: EntityPlan.Relationship
    ) throws -> [NSManagedObjectID] {
        let ids = object.destinations(of: relationship.description)
        let included = plan.includesAllEntities ? ids : ids.filter { plan.includes($0.entity) }
        guard relationship.isToMany, !relationship.isOrdered, included.count > 1 else { return included }
        return try sorted(included, in: object.managedObjectContext)
    }

    /// The record of a draft. Missing members of to-many relationships are omitted; a to-one relationship to a missing
    /// object is null.
    func record(of draft: Draft, missing: Set<NSManagedObjectID> = []) -> GraphRecord {
        let id = draft.entity.isReferred ? names.name(of: draft.id) : draft.entity.unusedID
        var relationships: [GraphRelationship] = []
        relationships.reserveCapacity(draft.targets.count)
        for (relationship, targets) in zip(draft.entity.relationships, draft.targets) {
            var ids: [RecordID] = []
            if relationship.isToMany { ids.reserveCapacity(targets.count) }
            var first: RecordID?
            for id in targets where missing.isEmpty || !missing.contains(id) {
                let name = relationship.isEmbedded ? names.name(of: id) : names.reference(to: id)
                if relationship.isToMany { ids.append(name) } else { first = first ?? name }
            }
            relationships.append(
                GraphRelationship(
                    name: relationship.name, target: relationship.isToMany ? .toMany(ids) : .toOne(first),
                    isOrdered: relationship.isOrdered))
        }
        return GraphRecord(
            id: id, entity: draft.entity.name, attributes: draft.attributes, relationships: relationships)
    }

    // MARK: - Order

    /// IDs in the order of documents: saved objects by entity and primary key, then unsaved ones by their values, because
    /// a set has no stable order.
    private func sorted(
        _ ids: [NSManagedObjectID], in context: NSManagedObjectContext?
    ) throws -> [NSManagedObjectID] {
        var saved: [(ObjectName, NSManagedObjectID)] = []
        saved.reserveCapacity(ids.count)
        for id in ids where !id.isTemporaryID { saved.append((names.objects.name(of: id), id)) }
        saved.sort { $0.0 < $1.0 }
        guard saved.count < ids.count, let context else { return saved.map(\.1) }
        let unsaved = try ids.filter(\.isTemporaryID).map { (try content(of: context.object(with: $0)), $0) }
        return saved.map(\.1)
            + unsaved.sorted { left, right in
                left.0 != right.0
                    ? left.0.lexicographicallyPrecedes(right.0)
                    : names.objects.name(of: left.1) < names.objects.name(of: right.1)
            }.map(\.1)
    }

    private func content(of object: NSManagedObject) throws -> [String] {
        let entity = try plan.plan(for: object.entity)
        return [entity.name] + (try attributes(of: object, by: entity).map { "\($0.value)" })
    }
}
