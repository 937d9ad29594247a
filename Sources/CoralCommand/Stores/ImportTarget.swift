import Coral

/// A store in memory, for plans that are not executed.
struct ImportTarget {
    let context: NSManagedObjectContext

    init(inMemoryWith model: NSManagedObjectModel) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model.keepingStoredArchives())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }
}
