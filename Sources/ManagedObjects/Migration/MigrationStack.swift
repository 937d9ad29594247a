import Foundation

/// One side of a migration: a copy of a model whose classes are all `NSManagedObject`, with coordinator and context.
final class MigrationStack {
    let model: NSManagedObjectModel
    let coordinator: NSPersistentStoreCoordinator
    private(set) lazy var context: NSManagedObjectContext = {
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }()

    init(_ original: NSManagedObjectModel) {
        // Copies of a model are models.
        model = original.copy() as? NSManagedObjectModel ?? original
        for entity in model.entities where model !== original {
            entity.managedObjectClassName = NSStringFromClass(NSManagedObject.self)
        }
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    }

    /// Closes the stores and releases the objects.
    func close() {
        context.reset()
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
    }
}
