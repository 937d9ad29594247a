import AtomicFiles
import Coral

/// An open store of a command.
struct OpenStore {
    let url: URL
    let coordinator: NSPersistentStoreCoordinator
    let store: NSPersistentStore
    /// For use on the thread that opened the store. The context of a store that is opened read-only reads `snapshot()`.
    let context: NSManagedObjectContext
    /// What was read of the store before it was opened.
    let header: StoreHeader
    /// Whether the model was inferred from the tables, by this command or by the one that wrote the model given with --model.
    let isInferred: Bool
    /// The pinned state of a store that is opened read-only.
    private let held: StoreSnapshot?

    var model: NSManagedObjectModel { coordinator.managedObjectModel }

    /// The store that a session reads in one state, with the paths by which commands open it. Unsafe, because a session runs one
    /// command at a time.
    nonisolated(unsafe) static var session: (path: String, model: String?, store: OpenStore)?

    /// Opens a store. Transformable values are kept as bytes, so that no transformer of an app is needed.
    ///
    /// A store that is opened read-only is read in one state, even if other processes write to it. A store that is opened for
    /// writing keeps its journal mode.
    ///
    /// - Parameters:
    ///   - isReadOnly: Whether all files of the store must remain unchanged.
    ///   - holdsState: Whether a store that is opened read-only is read in one state.
    ///   - changesFewObjects: See `init(url:model:…)`.
    ///   - labels: The attributes that name objects.
    /// Throws `CommandError` and errors of Core Data's.
    init(
        path: String, model source: ModelSource, isReadOnly: Bool = true, holdsState: Bool = true,
        changesFewObjects: Bool = false, labels: LabelOption? = nil
    ) throws {
        if isReadOnly, let session = Self.session, session.path == path, session.model == source.model {
            self = session.store
            return
        }
        let url = try Self.location(at: path).withoutLinks
        #if !canImport(Darwin)
            if source.model == nil {
                let inspection = try StoreInspection(url: url)
                let model = try ModelSource.ownModel(in: inspection)
                try labels?.apply(to: model)
                try self.init(
                    url: url, model: model, isReadOnly: isReadOnly, holdsState: holdsState,
                    changesFewObjects: changesFewObjects, header: StoreHeader(inspection))
                return
            }
        #endif
        let model = try source.model(for: url)
        try labels?.apply(to: model)
        try self.init(
            url: url, model: model, isReadOnly: isReadOnly, holdsState: holdsState,
            changesFewObjects: changesFewObjects, modelPath: source.model)
    }

    /// The location of a store. Throws `CommandError` if there is none, or if it is a device, a pipe, or a file of another kind.
    static func location(at path: String) throws -> URL {
        let url = URL(storeAt: path)
        guard try url.storeExists() else {
            throw CommandError("There is no store at \(ServerURLs.shown(path)).")
        }
        try requireFile(url)
        if let foreign = ForeignFile(at: url) {
            throw CommandError("\(path) is not a store. It is \(foreign.kind). \(foreign.advice)")
        }
        return url
    }

    /// The location of a store that must be in a file. Throws as `location(at:)` does.
    ///
    /// - Parameter reason: The sentence of the error for a store in PostgreSQL.
    static func file(at path: String, because reason: String) throws -> URL {
        guard !ServerURLs.isOne(path) else { throw CommandError(reason) }
        return try location(at: path)
    }

    /// Rejects anything but a regular file, such as a pipe. Throws `CommandError`.
    static func requireFile(_ url: URL) throws {
        guard url.isFileURL, let status = FileStatus(url.path), !status.isRegular, !status.isFolder else { return }
        throw CommandError("\(url.path) is a device or a pipe, not a store.")
    }

    /// Releases the objects that were read, for commands that read many; the state stays the same. Must be called on the context's
    /// queue.
    func releaseObjects() throws { try context.resetKeepingState() }

    /// Closes the store. Objects fetched from it can no longer be used.
    func close() throws {
        context.performAndWait { context.reset() }
        try coordinator.remove(store)
    }

    /// Opens a store as `init(path:model:isReadOnly:)` does. For writing it is opened only if the change can be
    /// reported, because opening already writes to its file.
    ///
    /// - Parameters:
    ///   - header: What was read of the store; nil if nothing was.
    ///   - changesFewObjects: Whether the caller examines each change by `InferredModel.requireInverses(ofChangesIn:)`.
    ///   - options: Additional Core Data options.
    ///   - modelPath: The path of the model, if it was given, for the error of a store that does not fit.
    ///   - requiresModel: Whether the command always needs a model, so that the error does not suggest to leave it out.
    init(
        url: URL, model: NSManagedObjectModel, isReadOnly: Bool = true, holdsState: Bool = true,
        changesFewObjects: Bool = false, header: StoreHeader? = nil, options additional: [AnyHashable: Any] = [:],
        modelPath: String? = nil, requiresModel: Bool = false
    ) throws {
        if !isReadOnly { try StandardOutput.requireOpen() }
        // The companion files are beside the file, not beside a link to it.
        let url = url.withoutLinks
        self.url = url
        let header = try header ?? StoreHeader(ofStoreAt: url)
        self.header = header
        let isInferred = try ModelSource.isInferred(model) && !header.containsModel(ofStoreAt: url)
        self.isInferred = isInferred
        if isInferred {
            let inferred = InferredModel(model, store: url, path: modelPath)
            if !isReadOnly { try inferred.requireGiven() }
            if !isReadOnly, !changesFewObjects { try inferred.requireInverses() }
            if modelPath == nil { ModelSource.reportInference(of: url, model) }
        }
        let model = model.keepingStoredArchives()
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        var options: [AnyHashable: Any] = [NSReadOnlyPersistentStoreOption: isReadOnly]
        options.merge(additional) { $1 }
        // A model is accepted without a check if it was inferred, or if the hashes have been removed from the store's metadata.
        if isInferred || header.versionHashes == nil {
            options[NSIgnorePersistentStoreVersioningOption] = true
        }
        #if !canImport(Darwin)
            if url.isFileURL {
                if !isReadOnly {
                    options[NSSQLitePragmasOption] = ["journal_mode": try header.journalMode(of: url)]
                } else if let warning = try header.warningOfUnfinishedTransaction(of: url) {
                    StandardError.warn(warning)
                }
            }
        #endif
        do {
            store = try coordinator.addPersistentStore(
                ofType: url.storeType, configurationName: nil, at: url, options: options)
        } catch let error as CocoaError where error.errorCode == NSPersistentStoreIncompatibleVersionHashError {
            let isOptional = modelPath != nil && !requiresModel && header.hasModel(ofStoreAt: url)
            throw CommandError(
                OpenStore.mismatch(of: model, with: header, at: url, modelPath: modelPath, isOptional: isOptional))
        }
        held = isReadOnly && holdsState ? try StoreSnapshot(of: coordinator) : nil
        if let held {
            context = try held.makeContext()
        } else {
            context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            context.undoManager = nil
        }
    }

    /// The state that a reading command uses in all its steps.
    func snapshot() throws -> StoreSnapshot { try held ?? StoreSnapshot(of: coordinator) }

    /// A sentence with the entities in which a model and a store differ, and with the command that migrates the store, unless
    /// they have no entity in common. The models are considered versions of one model if an entity is the same in both, or if
    /// at least half of the names are.
    private static func mismatch(
        of model: NSManagedObjectModel, with header: StoreHeader, at url: URL, modelPath: String?, isOptional: Bool
    ) -> String {
        let stored = header.versionHashes ?? [:]
        let given = model.entityVersionHashesByName
        let different = Set(stored.keys).union(given.keys).filter { stored[$0] != given[$0] }.sorted()
        let names = different.prefix(5).joined(separator: ", ") + (different.count > 5 ? ", …" : "")
        let shared = Set(stored.keys).intersection(given.keys)
        let hint = isOptional ? " Leave out --model to use the model in the store." : ""
        guard !shared.isEmpty else {
            return "\(url.storeName) was written with another model, which differs in \(names).\(hint)"
        }
        let path = modelPath.map { ShellWord.quoted($0) } ?? "MODEL"
        let command = "coral migrate \(ShellWord.quoted(url.storeName)) --to \(path)"
        let isVersion =
            shared.contains { stored[$0] == given[$0] }
            || shared.count * 2 >= Set(stored.keys).union(given.keys).count
        guard isVersion else {
            let common = shared.sorted().prefix(5).joined(separator: ", ")
            return
                "\(url.storeName) was written with another model, which differs in \(names).\(hint) Both have entities with "
                + "the names \(common). If they are versions of one model, migrate the store first: \(command)"
        }
        return
            "\(url.storeName) was written with another version of the model, which differs in \(names).\(hint) Why: coral "
            + "explain \(ShellWord.quoted(url.storeName)) --model \(path). Migrate it first: \(command)"
    }

    /// The entity with a name.
    ///
    /// Throws `CommandError` with a suggestion if there is none.
    func entity(named name: String) throws -> NSEntityDescription { try Self.entity(named: name, in: model) }

    /// The entity with a name in a model; throws as `entity(named:)` does.
    static func entity(named name: String, in model: NSManagedObjectModel) throws -> NSEntityDescription {
        guard let entity = model.entitiesByName[name] else {
            throw CommandError.noEntity(name, in: model.entitiesByName.keys)
        }
        return entity
    }
}
