import AtomicFiles
import Coral

/// A store that a command has opened.
struct OpenStore {
    let url: URL
    let coordinator: NSPersistentStoreCoordinator
    let store: NSPersistentStore
    /// For use on the thread that opened the store. That of a store opened for reading only reads `snapshot()`.
    let context: NSManagedObjectContext
    /// The state of a store that is opened for reading only.
    private let held: StoreSnapshot?

    var model: NSManagedObjectModel { coordinator.managedObjectModel }

    /// Opens a store. Transformable values stay the bytes that they are, so that no transformer of an app is needed.
    ///
    /// A store that is opened for reading only is read in one state, be it written by others meanwhile. One that is written keeps
    /// its journal mode.
    ///
    /// - Parameter isReadOnly: Whether every file of the store stays as it is.
    /// Throws `CommandError` and errors of Core Data's.
    init(path: String, model source: ModelSource, isReadOnly: Bool = true) throws {
        let url = URL(fileURLWithPath: path)
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw CommandError("There is no store at \(path).")
        }
        try Self.requireFile(url)
        try self.init(url: url, model: source.model(for: url.withoutLinks), isReadOnly: isReadOnly)
    }

    /// Refuses what is no file, such as a pipe, from which no store can be read. Throws `CommandError`.
    static func requireFile(_ url: URL) throws {
        guard let status = FileStatus(url.path), !status.isRegular, !status.isFolder else { return }
        throw CommandError("\(url.path) is a device or a pipe, and no store.")
    }

    /// Closes the store. What was fetched of it cannot be used any more.
    func close() throws {
        context.performAndWait { context.reset() }
        try coordinator.remove(store)
    }

    /// Opens a store as `init(path:model:isReadOnly:)` does. One that is written is opened only where the change can be reported:
    /// opening it writes to its file.
    ///
    /// - Parameter options: Options of Core Data's, besides those that follow from the rest.
    init(
        url: URL, model: NSManagedObjectModel, isReadOnly: Bool = true, options additional: [AnyHashable: Any] = [:]
    ) throws {
        if !isReadOnly { try StandardOutput.requireOpen() }
        // What belongs to a store stands beside the file, not beside a link to it.
        let url = url.withoutLinks
        self.url = url
        let model = model.keepingStoredArchives()
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        var options: [AnyHashable: Any] = [NSReadOnlyPersistentStoreOption: isReadOnly]
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: url, options: options)
        options.merge(additional) { $1 }
        // A store that was stripped of its hashes fits any model, or none: who gives one shall have it.
        if metadata[NSStoreModelVersionHashesKey] == nil { options[NSIgnorePersistentStoreVersioningOption] = true }
        #if !canImport(Darwin)
            try Self.warnOfUnfinishedTransaction(of: url, isReadOnly: isReadOnly)
            if !isReadOnly {
                options[NSSQLitePragmasOption] = ["journal_mode": try StoreInspection(url: url).journalMode]
            }
        #endif
        do {
            store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        } catch let error as CocoaError where error.errorCode == NSPersistentStoreIncompatibleVersionHashError {
            throw CommandError(OpenStore.mismatch(of: model, with: metadata, at: url))
        }
        held = isReadOnly ? try StoreSnapshot(of: coordinator) : nil
        if let held {
            context = try held.makeContext()
        } else {
            context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            context.undoManager = nil
        }
    }

    /// The state that a reading command reads in all its steps.
    func snapshot() throws -> StoreSnapshot { try held ?? StoreSnapshot(of: coordinator) }

    #if !canImport(Darwin)
        private static func warnOfUnfinishedTransaction(of url: URL, isReadOnly: Bool) throws {
            let journal = url.resolvingSymlinksInPath().path + "-journal"
            guard isReadOnly, FileManager.default.fileExists(atPath: journal) else { return }
            let inspection = try StoreInspection(url: url)
            if inspection.hasUnfinishedTransaction { StandardError.warn(inspection.journalState) }
        }
    #endif

    /// Which entities make a model unfit for a store, as a sentence.
    private static func mismatch(
        of model: NSManagedObjectModel, with metadata: [String: Any], at url: URL
    ) -> String {
        let stored = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        let given = model.entityVersionHashesByName
        let different = Set(stored.keys).union(given.keys).filter { stored[$0] != given[$0] }.sorted()
        let names = different.prefix(5).joined(separator: ", ") + (different.count > 5 ? ", …" : "")
        return "The model is not the one that \(url.path) was written with: it differs in \(names)."
    }

    /// The entity of that name.
    ///
    /// Throws `CommandError`, with a suggestion, where there is none.
    func entity(named name: String) throws -> NSEntityDescription { try Self.entity(named: name, in: model) }

    /// The entity of that name in a model; throws as `entity(named:)` does.
    static func entity(named name: String, in model: NSManagedObjectModel) throws -> NSEntityDescription {
        guard let entity = model.entitiesByName[name] else {
            throw CommandError.noEntity(name, in: model.entitiesByName.keys)
        }
        return entity
    }
}
