import Coral

/// A store that a command has opened.
struct OpenStore {
    let url: URL
    let coordinator: NSPersistentStoreCoordinator
    let store: NSPersistentStore
    /// For use on the thread that opened the store.
    let context: NSManagedObjectContext

    var model: NSManagedObjectModel { coordinator.managedObjectModel }

    /// Opens a store. Transformable values stay the bytes that they are, so that no transformer of an app is needed.
    ///
    /// - Parameter isReadOnly: Whether every file of the store stays as it is.
    /// Throws `CommandError` and errors of Core Data's.
    init(path: String, model source: ModelSource, isReadOnly: Bool = true) throws {
        let url = URL(fileURLWithPath: path)
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw CommandError("There is no store at \(path).")
        }
        try self.init(url: url, model: source.model(for: url), isReadOnly: isReadOnly)
    }

    /// - Parameter options: Options of Core Data's, besides those that follow from the rest.
    init(
        url: URL, model: NSManagedObjectModel, isReadOnly: Bool = true, options additional: [AnyHashable: Any] = [:]
    ) throws {
        self.url = url
        let model = model.keepingStoredArchives()
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        var options: [AnyHashable: Any] = [NSReadOnlyPersistentStoreOption: isReadOnly]
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: url, options: options)
        options.merge(additional) { $1 }
        // A store that was stripped of its hashes fits any model, or none: who gives one shall have it.
        if metadata[NSStoreModelVersionHashesKey] == nil { options[NSIgnorePersistentStoreVersioningOption] = true }
        do {
            store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        } catch let error as CocoaError where error.errorCode == NSPersistentStoreIncompatibleVersionHashError {
            throw CommandError(OpenStore.mismatch(of: model, with: metadata, at: url))
        }
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
    }

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
