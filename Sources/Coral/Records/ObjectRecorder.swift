import CoreData
import GraphDocuments

/// Makes records of managed objects, by a shape. The record of an object is its attributes' values and the names of the
/// objects that its relationships lead to.
final class ObjectRecorder {
    let plan: ShapePlan
    let names: RecordNames

    init(plan: ShapePlan, names: RecordNames) {
        self.plan = plan
        self.names = names
    }

    /// An object as it was read, before its references are known to lead anywhere.
    struct Draft {
        var id: NSManagedObjectID
        var entity: EntityPlan
        var attributes: [GraphAttribute]
        /// For each relationship of the entity's plan the objects it leads to, in order.
        var targets: [[NSManagedObject]]
    }

    /// Reads an object: its row, and its to-many relationships, from the store where they are not loaded yet.
    ///
    /// Throws `ExportError` where a transformable value cannot be archived. A value whose file does not exist is a reference to
    /// that file.
    func draft(of object: NSManagedObject) throws -> Draft {
        let entity = try plan.plan(for: object.entity)
        let attributes = try attributes(of: object, by: entity)
        let targets = try entity.relationships.map { try self.targets(of: object, by: $0) }
        return Draft(id: object.objectID, entity: entity, attributes: attributes, targets: targets)
    }

    private func attributes(of object: NSManagedObject, by entity: EntityPlan) throws -> [GraphAttribute] {
        try entity.attributes.map { attribute in
            let value = object.value(forKey: attribute.name)
            if value == nil, attribute.mayHaveFile,
                let name = MissingFileReference.name(of: object, attribute.name)
            {
                return GraphAttribute(name: attribute.name, value: .file(ExternalFile(missing: name)))
            }
            let plain = try attribute.transformable?.value(value) ?? GraphValue(value, declaredAs: attribute.type)
            return GraphAttribute(name: attribute.name, value: plain)
        }
    }

    /// The objects that a relationship leads to, without those whose entity the shape leaves out. An unordered relationship
    /// is sorted by what its objects are called in the document.
    func targets(
        of object: NSManagedObject, by relationship: EntityPlan.Relationship
    ) throws -> [NSManagedObject] {
        let value = object.value(forKey: relationship.name)
        guard relationship.isToMany else {
            return (value as? NSManagedObject).map { plan.includes($0.entity) ? [$0] : [] } ?? []
        }
        if relationship.isOrdered {
            return (value as? NSOrderedSet)?.array.compactMap { $0 as? NSManagedObject }
                .filter { plan.includes($0.entity) } ?? []
        }
        let members = (value as? NSSet)?.allObjects.compactMap { $0 as? NSManagedObject } ?? []
        return try sorted(members.filter { plan.includes($0.entity) })
    }

    /// The record of a draft. Targets that are known to be missing are left out, and a to-one that led there is null.
    func record(of draft: Draft, missing: Set<NSManagedObjectID> = []) -> GraphRecord {
        let id = names.name(of: draft.id)
        var relationships: [GraphRelationship] = []
        relationships.reserveCapacity(draft.targets.count)
        for (relationship, targets) in zip(draft.entity.relationships, draft.targets) {
            let ids = targets.lazy.map(\.objectID).filter { !missing.contains($0) }.map(names.name(of:))
            relationships.append(
                GraphRelationship(
                    name: relationship.name,
                    target: relationship.isToMany ? .toMany(Array(ids)) : .toOne(ids.first),
                    isOrdered: relationship.isOrdered))
        }
        return GraphRecord(
            id: id, entity: draft.entity.name, attributes: draft.attributes, relationships: relationships)
    }

    // MARK: - Order

    /// Objects in the order in which documents name them: saved ones by entity and key, then unsaved ones by what they
    /// hold, since a set of these has no order that is the same twice.
    func sorted(_ objects: [NSManagedObject]) throws -> [NSManagedObject] {
        guard objects.count > 1 else { return objects }
        let saved = objects.filter { !$0.objectID.isTemporaryID }.map { (ObjectName($0.objectID), $0) }
        let ordered = saved.sorted { $0.0 < $1.0 }.map(\.1)
        guard saved.count < objects.count else { return ordered }
        let unsaved = try objects.filter(\.objectID.isTemporaryID).map { (try content(of: $0), $0) }
        return ordered
            + unsaved.sorted { left, right in
                left.0 != right.0
                    ? left.0.lexicographicallyPrecedes(right.0)
                    : ObjectName(left.1.objectID) < ObjectName(right.1.objectID)
            }.map(\.1)
    }

    private func content(of object: NSManagedObject) throws -> [String] {
        let entity = try plan.plan(for: object.entity)
        return [entity.name] + (try attributes(of: object, by: entity).map { "\($0.value)" })
    }
}
