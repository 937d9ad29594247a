import CoreData
import GraphDocuments

/// Reads managed objects for the records that `RecordComposer` creates: first as drafts, so that the objects to which a
/// whole batch refers can be looked up together.
package final class ObjectRecorder {
    package let names: RecordNames
    private let composer: RecordComposer
    /// The roots of the document; nil if every object is one, as in the document of a whole store.
    package var roots: [NSManagedObjectID]?
    private lazy var rootSet = roots.map(Set.init)

    package var plan: ShapePlan { composer.plan }

    package init(plan: ShapePlan, names: RecordNames) {
        composer = RecordComposer(plan: plan)
        self.names = names
    }

    /// The values and destinations of an object; the destinations may not exist.
    package final class Draft {
        package let id: NSManagedObjectID
        package let entity: EntityPlan
        /// The values of the attributes of the entity's plan.
        package var values: [GraphValue]
        /// The IDs of the destinations of the relationships of the entity's plan, in order.
        package let targets: [[NSManagedObjectID]]

        fileprivate init(
            id: NSManagedObjectID, entity: EntityPlan, values: [GraphValue], targets: [[NSManagedObjectID]]
        ) {
            self.id = id
            self.entity = entity
            self.values = values
            self.targets = targets
        }
    }

    /// Reads an object: its row, and its to-many relationships, from the store if they are not loaded yet.
    ///
    /// Throws `ExportError` if a transformable value cannot be archived. A value whose file does not exist becomes a
    /// reference to that file.
    package func draft(of object: NSManagedObject) throws -> Draft {
        var entity = try plan.plan(for: object.entity)
        if roots != nil, let embedded = entity.whenEmbedded, rootSet?.contains(object.objectID) == false {
            entity = embedded
        }
        let values = try values(of: object, by: entity)
        let targets = try entity.relationships.map { try self.targets(of: object, by: $0) }
        return Draft(id: object.objectID, entity: entity, values: values, targets: targets)
    }

    private func values(of object: NSManagedObject, by entity: EntityPlan) throws -> [GraphValue] {
        try entity.attributes.map { try $0.value(of: object) }
    }

    /// The destinations of a relationship, as in documents: see `RecordComposer`.
    package func targets(
        of object: NSManagedObject, by relationship: EntityPlan.Relationship
    ) throws -> [NSManagedObjectID] {
        var destinations = object.destinations(of: relationship.description)
        if let context = object.managedObjectContext, context.hasChanges {
            // Objects that are marked deleted stay in relationships until the event ends.
            destinations.removeAll { context.registeredObject(for: $0)?.isDeleted == true }
        }
        let targets = composer.arranged(
            destinations, of: relationship, entity: \.entity,
            name: { [names] in $0.isTemporaryID ? nil : names.objects.name(of: $0) })
        guard relationship.isToMany, !relationship.isOrdered, let context = object.managedObjectContext else {
            return targets
        }
        let saved = targets.prefix { !$0.isTemporaryID }
        return targets.count - saved.count < 2
            ? targets : saved + (try sortedByContent(targets.dropFirst(saved.count), in: context))
    }

    /// Sorts unsaved objects by their values, because a set has no stable order.
    private func sortedByContent(
        _ ids: ArraySlice<NSManagedObjectID>, in context: NSManagedObjectContext
    ) throws -> [NSManagedObjectID] {
        try ids.map { (try content(of: context.object(with: $0)), $0) }.sorted { left, right in
            left.0 != right.0
                ? left.0.lexicographicallyPrecedes(right.0)
                : names.objects.name(of: left.1) < names.objects.name(of: right.1)
        }.map(\.1)
    }

    private func content(of object: NSManagedObject) throws -> [String] {
        let entity = try plan.plan(for: object.entity)
        return [entity.name] + (try values(of: object, by: entity).map { "\($0)" })
    }

    /// The record of a draft, without references to the missing objects, which are reported.
    package func record(
        of draft: Draft, missing: Set<NSManagedObjectID>,
        onMissing: (_ relationship: String, _ target: RecordID) -> Void
    ) throws -> GraphRecord {
        let id = draft.entity.isReferred ? names.name(of: draft.id) : draft.entity.unusedID
        var source = DraftSource(draft: draft, names: names, missing: missing)
        return try composer.record(id, of: draft.entity, from: &source, onMissing: onMissing)
    }

    private struct DraftSource: RecordSource {
        let draft: Draft
        let names: RecordNames
        let missing: Set<NSManagedObjectID>

        func value(of attribute: Int) -> GraphValue? { draft.values[attribute] }

        func forEachDestination(of relationship: Int, _ body: (RecordDestination) -> Void) {
            let isEmbedded = draft.entity.relationships[relationship].isEmbedded
            for target in draft.targets[relationship] {
                if !missing.isEmpty, missing.contains(target) {
                    body(.missing(names.name(of: target)))
                } else {
                    body(.existing(isEmbedded ? names.name(of: target) : names.reference(to: target)))
                }
            }
        }
    }
}

/// Values by the IDs of objects; see `ObjectIDKey`.
struct ObjectIDTable<Value>: ExpressibleByDictionaryLiteral {
    private var values: [ObjectIDKey: Value]

    init(dictionaryLiteral elements: (NSManagedObjectID, Value)...) {
        values = Dictionary(elements.map { (ObjectIDKey($0.0), $0.1) }, uniquingKeysWith: { $1 })
    }

    subscript(id: NSManagedObjectID) -> Value? {
        get { values[ObjectIDKey(id)] }
        set { values[ObjectIDKey(id)] = newValue }
    }
}
