import CoreData
import GraphDocuments

extension BatchImporter {
    /// Imports a document of any length into a store file, all or nothing: the batches are saved to a copy of the
    /// store, which replaces the store when the import is complete. A store that does not exist is created.
    ///
    /// No other process or coordinator may write to the store until it ends. Cost: a copy of the store, which needs its
    /// size once more on the same volume.
    ///
    /// Throws as `importDocument` and `StoreCreation.makeStore(at:model:replacing:_:)` do, and if a coordinator has
    /// the store open; the store is then unchanged.
    @discardableResult
    package static func importDocument(
        _ source: ImportSource, intoStoreAt url: URL, model: NSManagedObjectModel, entity: String? = nil,
        options: ImportOptions = ImportOptions(), batchSize: Int? = nil, progress: Progress? = nil
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
