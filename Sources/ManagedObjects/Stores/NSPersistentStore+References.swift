extension NSPersistentStore {
    /// The ID of a row by its reference object, for stores that use reference objects.
    final func referencedObjectID(for entity: NSEntityDescription, referenceObject: Any) -> NSManagedObjectID {
        let number = references?.number(of: referenceObject, entity: entity) ?? 0
        return ReferencedObjectID(
            key: ObjectKey(
                store: self.number, entity: UInt16(truncatingIfNeeded: entity.index), number: number),
            text: ObjectReferences.text(of: referenceObject), origin: origin(of: entity))
    }

    /// The key of an ID of one of this store's objects; nil for an ID of another store's.
    final func key(of objectID: NSManagedObjectID) -> ObjectKey? {
        guard let references, let coordinator = persistentStoreCoordinator, !objectID.isTemporaryID,
            objectID.storeIdentifier == identifier,
            let entity = coordinator.managedObjectModel.entitiesByName[objectID.entity.name ?? ""]
        else { return nil }
        var number = objectID.key.number
        // Numbers are valid within one coordinator only.
        if !objectID.isOf(coordinator), let text = (objectID as? ReferencedObjectID)?.text {
            number = references.number(of: text, entity: entity)
        }
        // An ID may have been created with a superentity of the object's own entity.
        let own = references.entity(of: number, root: entity) ?? entity
        return ObjectKey(store: self.number, entity: UInt16(truncatingIfNeeded: own.index), number: number)
    }
}
