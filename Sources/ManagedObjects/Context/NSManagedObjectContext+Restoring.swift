import Foundation

// Restoring: inserting objects with given primary keys. Not part of Core Data's API.

@_spi(Stores)
extension NSManagedObjectContext {
    /// Creates an object that will be saved to a store with a given primary key. Its ID is permanent immediately.
    ///
    /// A context that is saved to its parent passes the key on. Whether the store already has a row with that key is
    /// checked by the save. No statement.
    ///
    /// - Throws: Code 134020 if the store is not one of the context's, or does not contain the entity; 133020 if
    ///   the context already has an object with that key.
    public func insertObject(
        of entity: NSEntityDescription, withPrimaryKey number: Int64, in store: NSPersistentStore
    ) throws -> NSManagedObject {
        guard let coordinator = rootCoordinator, store.persistentStoreCoordinator === coordinator,
            coordinator.holds(store, entity), number > 0
        else {
            throw CocoaError(
                .persistentStoreIncompatibleSchema,
                "The store cannot contain “\(entity.name ?? "")” with the key \(number).", url: store.url)
        }
        let key = ObjectKey(store: store.number, entity: UInt16(truncatingIfNeeded: entity.index), number: number)
        guard registeredObject(for: key) == nil else {
            throw CocoaError(
                .managedObjectMerge, "An object of “\(entity.name ?? "")” with the key \(number) already exists.")
        }
        let object = entity.managedObjectClass.init(entity: entity, insertInto: nil)
        object.key = key
        object.assignedStore = store
        insertNew(object)
        return object
    }
}
