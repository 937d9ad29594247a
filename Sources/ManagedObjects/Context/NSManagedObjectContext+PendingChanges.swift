import Foundation

// Unsaved changes applied to the rows of a fetch.

extension NSManagedObjectContext {
    /// Whether unsaved changes may affect the result.
    final func needsPendingChanges(_ specification: FetchSpecification) -> Bool {
        specification.includesPendingChanges && hasUnsavedChanges && specification.resultType != .dictionaryResultType
    }

    final func applyPendingChanges(
        to found: inout [NSManagedObject], specification: FetchSpecification, entity: NSEntityDescription
    ) throws {
        let predicate = specification.predicate
        func belongs(_ object: NSManagedObject) throws -> Bool {
            let isOfEntity =
                specification.includesSubentities
                ? object.entity.isKindOf(entity: entity) : object.entity === entity
            guard isOfEntity, !object.state.contains(.deleted) else { return false }
            return try predicate?.evaluation(with: object) != false
        }
        // A predicate may depend on related objects that have changed, so every object found is evaluated again.
        found = try found.filter { try !$0.state.contains(.deleted) && (predicate == nil || belongs($0)) }
        var present = Set(found.map(ObjectIdentifier.init))
        for object in changed where try object.hasChanges && belongs(object) {
            if present.insert(ObjectIdentifier(object)).inserted { found.append(object) }
        }
    }

    final func sort(_ objects: inout [NSManagedObject], by descriptors: [NSSortDescriptor]) throws {
        guard !descriptors.isEmpty else { return }
        // A stable sort: objects that compare equal keep the store's order, so that the result is deterministic.
        objects = try RowOrder(ofObjectsBy: descriptors).sort(objects)
    }
}
