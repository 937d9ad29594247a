import CoreData
import GraphDocuments

extension BatchImporter {
    /// Imports a document of any length into a store file, all or nothing: the batches go into a copy of the store, which takes
    /// the store's place when all is done. Where there is no store, one is made.
    ///
    /// Nobody else may write the store meanwhile, and coordinators that have it open must add it again. Cost: the store is
    /// copied, so that its size is needed once more on the same volume.
    ///
    /// Throws as `importDocument` does, and what copying and replacing a store throws; then the store is as before.
    @discardableResult
    public static func importDocument(
        _ source: ImportSource, intoStoreAt url: URL, model: NSManagedObjectModel, entity: String? = nil,
        options: ImportOptions = ImportOptions(), batchSize: Int = 5000, progress: Progress? = nil
    ) throws -> Result {
        let copy = url.deletingLastPathComponent()
            .appendingPathComponent(".\(url.lastPathComponent).\(UUID().uuidString)")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        func remove() {
            for store in coordinator.persistentStores { try? coordinator.remove(store) }
            try? coordinator.destroyPersistentStore(at: copy, ofType: NSSQLiteStoreType, options: nil)
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy.path + suffix) }
        }
        do {
            if FileManager.default.fileExists(atPath: url.path) {
                try coordinator.replacePersistentStore(
                    at: copy, destinationOptions: nil, withPersistentStoreFrom: url, sourceOptions: nil,
                    ofType: NSSQLiteStoreType)
            }
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: copy, options: nil)
            let importer = BatchImporter(into: coordinator, options: options, batchSize: batchSize)
            let result = try importer.importDocument(source, entity: entity, progress: progress)
            try coordinator.remove(store)
            try coordinator.replacePersistentStore(
                at: url, destinationOptions: nil, withPersistentStoreFrom: copy, sourceOptions: nil,
                ofType: NSSQLiteStoreType)
            remove()
            return result
        } catch {
            remove()
            throw error
        }
    }
}
