import Foundation

// Restoring: objects that get the primary keys they once had. Not part of Core Data's API.

@_spi(Stores)
extension NSManagedObjectContext {
    /// Makes an object that will be saved to a store under a given primary key. Its ID is permanent at once.
    ///
    /// A context that is saved to its parent hands the key on. Whether the store has a row of that key already shows when
    /// the context is saved. No statement.
    ///
    /// - Throws: Code 134020 where the store is not one of the context's, or does not hold the entity; 133020 where the
    ///   context has an object of that key already.
    public func insertObject(
        of entity: NSEntityDescription, withPrimaryKey number: Int64, in store: NSPersistentStore
    ) throws -> NSManagedObject {
        guard let coordinator = rootCoordinator, store.persistentStoreCoordinator === coordinator,
            coordinator.holds(store, entity), number > 0
        else {
            throw CocoaError(
                .persistentStoreIncompatibleSchema,
                "The store cannot hold “\(entity.name ?? "")” under the key \(number).", url: store.url)
        }
        let key = ObjectKey(store: store.number, entity: UInt16(truncatingIfNeeded: entity.index), number: number)
        guard registeredObject(for: key) == nil else {
            throw CocoaError(
                .managedObjectMerge, "There is an object of “\(entity.name ?? "")” under the key \(number) already.")
        }
        let object = entity.managedObjectClass.init(entity: entity, insertInto: nil)
        object.key = key
        object.assignedStore = store
        insertNew(object)
        return object
    }
}
