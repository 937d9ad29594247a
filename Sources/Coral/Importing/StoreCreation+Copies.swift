import CoreData

extension StoreCreation {
    /// Copies a store with its history and its large values. Between a file and a server only the rows are copied, not the
    /// history.
    ///
    /// - Parameter model: The model of the store.
    package static func copyStore(at source: URL, to destination: URL, model: NSManagedObjectModel) throws {
        guard source.isOfServer == destination.isOfServer else {
            return try copyRows(of: source, to: destination, model)
        }
        if destination.isFileURL {
            try FileManager.default.createDirectory(
                at: destination.deletingLastPathComponent(), withIntermediateDirectories: true)
        }
        try NSPersistentStoreCoordinator(managedObjectModel: model).replacePersistentStore(
            at: destination, destinationOptions: nil, withPersistentStoreFrom: source, sourceOptions: nil,
            ofType: source.storeType)
    }

    private static func copyRows(of source: URL, to destination: URL, _ model: NSManagedObjectModel) throws {
        // The copy must contain this model, and not the one that `keepingStoredArchives()` returns.
        try fillStore(at: destination, model: model)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model.keepingStoredArchives())
        let store = try coordinator.addPersistentStore(
            ofType: source.storeType, configurationName: nil, at: source,
            options: [NSReadOnlyPersistentStoreOption: true])
        let copy = try coordinator.migratePersistentStore(
            store, to: destination, options: nil, withType: destination.storeType)
        try coordinator.remove(copy)
    }
}
