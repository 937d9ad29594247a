import CoreData
import GraphDocuments

extension NSPersistentStoreCoordinator {
    /// Creates a store with the objects of documents if there is none, all or nothing. Returns whether it was created.
    ///
    ///     try NSPersistentStoreCoordinator.createStore(at: url, model: model, importing: [documentURL])
    ///
    /// Call it before the store is opened, at every launch: an existing store is left unchanged. The documents may be of any format,
    /// and are imported in their order. All their objects are held in memory until they are saved;
    /// `GraphImporter.importInBatches(from:entity:progress:)` imports documents that do not fit.
    ///
    /// Throws the errors of `GraphImporter` and of Core Data. No store is created then.
    @discardableResult
    public static func createStore(
        at url: URL, model: NSManagedObjectModel, importing documents: [URL], options: ImportOptions = ImportOptions(),
        progress: Progress? = nil
    ) throws -> Bool {
        try StoreCreation.makeFirstStore(at: url, model: model) {
            try StoreCreation.fill($0, model, documents, options, progress)
        }
    }

    /// Creates a store as a copy of one that ships with the app if there is none. Returns whether it was created.
    ///
    ///     try NSPersistentStoreCoordinator.createStore(at: url, model: model, copying: bundledURL)
    ///
    /// Call it before the store is opened, at every launch: an existing store is left unchanged. The original may be in a read-only
    /// location. It is copied with its write-ahead log and its external files, and the copy has its UUID.
    ///
    /// Throws Core Data's errors, and `ImportError` for a store of another version of the model. No store is created then.
    @discardableResult
    public static func createStore(at url: URL, model: NSManagedObjectModel, copying original: URL) throws -> Bool {
        try StoreCreation.makeFirstStore(at: url, model: model) { try StoreCreation.copy(original, to: $0, model) }
    }

    /// Recreates a store from a document that was exported from it, with its UUID, metadata and primary keys. Returns what was
    /// saved.
    ///
    ///     try NSPersistentStoreCoordinator.createStore(at: url, model: model, restoring: .file(documentURL))
    ///
    /// Old object URIs still resolve, and exporting the store gives the same document. An existing store with the document's UUID
    /// is updated. Objects are not validated against the model: the store is restored as it was. Of the options, `folder`,
    /// `missingFiles` and `limits` have an effect.
    ///
    /// Core Data has no API for chosen primary keys: on Apple's platforms this throws `ImportError` with the code `unsupported`; import the
    /// document there.
    ///
    /// Throws `ImportError` if the document does not state its store or a record has no primary key, `DocumentError`, and Core
    /// Data's errors. Then no store is created, and an existing one is unchanged. Memory grows with the document.
    @discardableResult
    public static func createStore(
        at url: URL, model: NSManagedObjectModel, restoring document: ImportSource,
        options: ImportOptions = ImportOptions(), progress: Progress? = nil
    ) throws -> ImportPlan<NSManagedObject> {
        var restorer = StoreRestorer(model: model)
        restorer.reading = options.reading
        restorer.folder = options.folder
        restorer.missingFiles = options.missingFiles
        return try restorer.restore(document, to: url, progress: progress)
    }
}

extension StoreCreation {
    fileprivate static func makeFirstStore(
        at url: URL, model: NSManagedObjectModel, _ fill: (URL) throws -> Void
    ) throws -> Bool {
        guard !FileManager.default.fileExists(atPath: url.path) else { return false }
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        do {
            try makeStore(at: url, model: model, fill)
        } catch let error as CocoaError where error.code == .fileWriteFileExists {
            // Another process has created the store since.
            return false
        }
        return true
    }

    fileprivate static func fill(
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

    fileprivate static func copy(_ source: URL, to url: URL, _ model: NSManagedObjectModel) throws {
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
