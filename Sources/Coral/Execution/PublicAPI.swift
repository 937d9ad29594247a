import AtomicFiles
import CoreData
import GraphDocuments

/// What Core Data's public API can do: everything through objects.
package struct PublicAPI: StoreEngine {
    package init() {}

    // MARK: Rows

    package func writeRows(of session: ExportSession, to sink: any ByteSink) -> ExecutionPath {
        .objects(because: .publicAPI)
    }

    package func explainRows(of session: ExportSession) -> ExecutionPath { .objects(because: .publicAPI) }

    package func writeRows(
        of entity: NSEntityDescription, in session: ExportSession, to writer: inout any GraphWriter
    ) -> ExecutionPath { .objects(because: .publicAPI) }

    package func explainRows(of entity: NSEntityDescription, in session: ExportSession) -> ExecutionPath {
        .objects(because: .publicAPI)
    }

    package func copyRows(
        of ids: [NSManagedObjectID], in context: NSManagedObjectContext, by blueprint: CopyBlueprint,
        choice: RowCopying,
        saves: Bool, progress: Progress?
    ) -> RowCapability<[NSManagedObjectID: NSManagedObjectID]> { .objects(because: .publicAPI) }

    package func importRows(
        of source: ImportSource, by importer: BatchImporter, entity: String?, model: ImportModel, saves: Bool,
        progress: Progress?
    ) -> RowCapability<BatchImporter.Result> { .objects(because: .publicAPI) }

    // MARK: Objects

    package func name(of id: NSManagedObjectID) -> ObjectName? { nil }

    package func inWriteTransaction<Result>(
        of store: NSPersistentStore, for context: NSManagedObjectContext,
        _ body: (NSManagedObjectContext) throws -> Result
    ) -> Result? { nil }

    package func stopValidating(_ context: NSManagedObjectContext) -> Bool { false }

    package var choosesKeys: Bool { false }

    package func insertObject(
        of entity: NSEntityDescription, withPrimaryKey key: Int64, in store: NSPersistentStore,
        _ context: NSManagedObjectContext
    ) throws -> NSManagedObject {
        throw ImportError(
            .unsupported, "Core Data cannot make objects with chosen primary keys. Import the document instead.")
    }

    /// Core Data does not distinguish unreadable bytes from missing ones.
    package func unreadableByteCount(of attribute: NSAttributeDescription, of object: NSManagedObject) -> Int? { nil }

    package func missingFile(of object: NSManagedObject, forKey key: String) -> String? { nil }

    package func setMissingFile(_ name: String, of object: NSManagedObject, forKey key: String) -> Bool { false }

    package func oldValues(of change: NSPersistentHistoryChange) -> [String: OldValue]? { nil }

    // MARK: Stores

    /// Core Data may fix the state only at the first fetch.
    package var pinsAtOnce: Bool { false }

    package func makeDraft(at destination: URL, model: NSManagedObjectModel) throws -> any StoreDraft {
        try CopiedStoreDraft(at: destination, model: model)
    }

    package func makeServerDraft(at destination: URL) -> any ServerStoreDraft { FinalServerStore(url: destination) }

    /// A store on a server cannot be locked.
    package var replacesServerStores: Bool { false }

    package func replaceServerStore(at url: URL, _ fill: (URL) throws -> Void) throws {
        throw CocoaError(.featureUnsupported, userInfo: [NSURLErrorKey: url.withoutPassword])
    }

    package func options(forJoinTablesLike url: URL) -> [AnyHashable: Any] { [:] }

    package func options(keepingJournalOf url: URL) -> [AnyHashable: Any] { [:] }

    // MARK: Models and migrations

    package func model(contentsOf url: URL) throws -> NSManagedObjectModel {
        guard let model = NSManagedObjectModel(contentsOf: url) else {
            throw unreadable(url, "model")
        }
        return model
    }

    package func mappingModel(contentsOf url: URL) throws -> NSMappingModel {
        guard let model = NSMappingModel(contentsOf: url) else {
            throw unreadable(url, "mapping model")
        }
        return model
    }

    private func unreadable(_ url: URL, _ kind: String) -> CocoaError {
        CocoaError(
            .fileReadCorruptFile,
            userInfo: [
                NSLocalizedDescriptionKey: "\(url.path) is not a readable compiled \(kind).",
                NSFilePathErrorKey: url.path,
            ])
    }

    package var mappingModelExtensions: [String] { ["cdm"] }

    package func cachedModel(ofStoreAt url: URL) -> NSManagedObjectModel? { nil }

    package func keepHistory(_ manager: NSMigrationManager) {}

    package var migratesChains: Bool { false }

    /// Migrates the store by one step, when it is added to a coordinator, if Core Data finds the model of the store.
    package func migrate(storeAt url: URL, through models: [NSManagedObjectModel], progress: Progress?) throws -> Bool {
        guard models.count == 2, let model = models.last else { return false }
        let options = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        do {
            let store = try coordinator.addPersistentStore(
                ofType: url.storeType, configurationName: nil, at: url, options: options)
            try coordinator.remove(store)
            return true
        } catch let error as CocoaError where error.errorCode == NSMigrationMissingSourceModelError {
            return false
        }
    }

    package func statements(
        ofMigrating url: URL, through models: [NSManagedObjectModel], progress: Progress?
    ) -> [String]? { nil }
}

/// A store that is created in a draft location before Core Data copies it to its final one: only Core Data can safely replace a store
/// in use.
struct CopiedStoreDraft: StoreDraft {
    private let folder: PartialFolder
    private let model: NSManagedObjectModel
    var url: URL { folder.item }
    var destination: URL { folder.destination }

    init(at destination: URL, model: NSManagedObjectModel) throws {
        self.model = model
        do {
            folder = try PartialFolder(for: destination)
        } catch let error as FileError {
            throw CocoaError(
                .fileWriteUnknown,
                userInfo: [NSLocalizedDescriptionKey: error.description, NSFilePathErrorKey: destination.path])
        }
    }

    /// Core Data cannot lock the store: it must not be in use.
    func copy(of url: URL, isLocked: Bool) throws -> URL {
        let copy = workFolder.appendingPathComponent(url.lastPathComponent)
        try StoreCreation.copyStore(at: url, to: copy, model: model)
        return copy
    }

    func commit(replacing occupant: StoreCreation.Occupant) throws {
        if occupant == .nothing, FileStatus(destination.path) != nil {
            throw CocoaError(.fileWriteFileExists, userInfo: [NSFilePathErrorKey: destination.path])
        }
        if occupant == .file, FileStatus(destination.path)?.isRegular == true, !isStore(destination) {
            try FileManager.default.removeItem(at: destination)
        }
        try NSPersistentStoreCoordinator(managedObjectModel: model).replacePersistentStore(
            at: destination, destinationOptions: nil, withPersistentStoreFrom: url, sourceOptions: nil,
            ofType: NSSQLiteStoreType)
        folder.remove()
    }

    private func isStore(_ url: URL) -> Bool {
        let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: url, options: [NSReadOnlyPersistentStoreOption: true])
        return metadata != nil
    }
}

/// A store on a server that is created at its final location, and destroyed if it cannot be completed: Core Data's public API cannot
/// move it.
struct FinalServerStore: ServerStoreDraft {
    let url: URL

    func commit() {}

    func remove() {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
        try? coordinator.destroyPersistentStore(at: url, ofType: url.storeType, options: nil)
    }
}
