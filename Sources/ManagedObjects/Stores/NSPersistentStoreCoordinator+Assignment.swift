import CoreDataErrors
import Foundation

// The store in which a new object is saved.

extension NSPersistentStoreCoordinator {
    /// The store in which a new object of the entity is saved: the store that it was assigned to, otherwise the first
    /// writable one that contains the entity.
    ///
    /// - Throws: Code 134020 if no store contains the entity.
    final func rowStore(for entity: NSEntityDescription, assigned: NSPersistentStore?) throws -> any RowStore {
        let entries = entries
        if let assigned {
            guard let entry = entries.first(where: { $0.store === assigned }) else {
                throw CocoaError(
                    .persistentStoreIncompatibleSchema,
                    "An object of “\(entity.name ?? "")” is assigned to a store that the coordinator does not have.",
                    url: assigned.url)
            }
            guard holds(entry.store, entity) else {
                throw CocoaError(
                    .persistentStoreIncompatibleSchema,
                    "The store's configuration “\(assigned.configurationName)” lacks “\(entity.name ??  "")”.",
                    url: assigned.url)
            }
            return entry.rows
        }
        let holding = entries.filter { holds($0.store, entity) }
        if let entry = holding.first(where: { !$0.store.isReadOnly }) ?? holding.first { return entry.rows }
        throw CocoaError(
            .persistentStoreIncompatibleSchema,
            entries.isEmpty
                ? "The coordinator has no persistent stores: an object of “\(entity.name ?? "")” cannot be saved."
                : "No store of the coordinator contains the entity “\(entity.name ?? "")”.")
    }

    /// Whether a store has objects of the entity.
    final func holds(_ store: NSPersistentStore, _ entity: NSEntityDescription) -> Bool {
        guard let configuration = store.configurationIfAny else { return true }
        return model.storedEntities(forConfigurationName: configuration)?.contains { $0.name == entity.name } ?? false
    }
}
