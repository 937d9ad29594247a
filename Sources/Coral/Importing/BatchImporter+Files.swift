import CoreData
import GraphDocuments

extension BatchImporter {
    /// Imports a document of any length into a store file, all or nothing: the batches go into a copy of the store, which takes
    /// the store's place when all is done. Where there is no store, one is made.
    ///
    /// Nobody else may write the store meanwhile. Cost: the store is copied, so that its size is needed once more on the same
    /// volume.
    ///
    /// Throws as `importDocument` and `StoreCreation.makeStore(at:model:replacing:_:)` do, also where a coordinator has the store
    /// open; then the store is as before.
    @discardableResult
    public static func importDocument(
        _ source: ImportSource, intoStoreAt url: URL, model: NSManagedObjectModel, entity: String? = nil,
        options: ImportOptions = ImportOptions(), batchSize: Int = 5000, progress: Progress? = nil
    ) throws -> Result {
        let isNew = !FileManager.default.fileExists(atPath: url.path)
        return try StoreCreation.makeStore(at: url, model: model, replacing: isNew ? .nothing : .store) { copy in
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            if !isNew {
                try coordinator.replacePersistentStore(
                    at: copy, destinationOptions: nil, withPersistentStoreFrom: url, sourceOptions: nil,
                    ofType: NSSQLiteStoreType)
            }
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: copy, options: nil)
            defer { try? coordinator.remove(store) }
            return try BatchImporter(into: coordinator, options: options, batchSize: batchSize)
                .importDocument(source, entity: entity, progress: progress)
        }
    }
}
