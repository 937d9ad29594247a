import CoreData

/// The initial content of an app's store: documents, or a store that ships with the app.
///
///     try StoreSeed.documents([places, people]).prepareStore(at: url, model: model)
///     container.loadPersistentStores { … }
///
/// Call it before the store is opened. An existing store is left unchanged, so it may be called at every launch.
public enum StoreSeed: Sendable {
    /// Documents of any format, in the order in which they are imported. All their objects are held in memory until
    /// they are saved; `BatchImporter` imports documents that do not fit.
    case documents([URL])
    /// A store, which is copied with its write-ahead log and its external files, and keeps its UUID. It may be in a
    /// read-only location.
    case store(URL)

    /// Creates the store if there is none, all or nothing. Returns whether it was created.
    ///
    /// Throws the errors of `GraphImporter` and of Core Data, and `ImportError` for a store of another version of the
    /// model. No store is created then.
    @discardableResult
    public func prepareStore(
        at url: URL, model: NSManagedObjectModel, options: ImportOptions = ImportOptions(), progress: Progress? = nil
    ) throws -> Bool {
        guard !FileManager.default.fileExists(atPath: url.path) else { return false }
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        do {
            try StoreCreation.makeStore(at: url, model: model) { draft in
                switch self {
                case .documents(let documents): try fill(draft, model, documents, options, progress)
                case .store(let source): try copy(source, to: draft, model)
                }
            }
        } catch let error as CocoaError where error.code == .fileWriteFileExists {
            // Another process has created the store meanwhile.
            return false
        }
        return true
    }

    private func fill(
        _ url: URL, _ model: NSManagedObjectModel, _ documents: [URL], _ options: ImportOptions, _ progress: Progress?
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
        try context.performAndWait {
            for document in documents {
                var options = options
                options.folder = options.folder ?? document.deletingLastPathComponent()
                var importer = GraphImporter(into: context, options: options)
                importer.worksInPlace = true
                try importer.importObjects(from: .file(document), progress: progress)
            }
            if context.hasChanges { try context.save() }
        }
        try coordinator.remove(store)
    }

    private func copy(_ source: URL, to url: URL, _ model: NSManagedObjectModel) throws {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: source, options: [NSReadOnlyPersistentStoreOption: true])
        guard model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) else {
            throw ImportError(
                .misuse, "The store at \(source.path) was made with another version of the model: migrate it first.")
        }
        try NSPersistentStoreCoordinator(managedObjectModel: model).replacePersistentStore(
            at: url, destinationOptions: nil, withPersistentStoreFrom: source,
            sourceOptions: [NSReadOnlyPersistentStoreOption: true], ofType: NSSQLiteStoreType)
    }
}
