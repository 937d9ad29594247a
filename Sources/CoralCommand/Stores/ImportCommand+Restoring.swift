import Coral
import Foundation

// Whether a document is imported by rows or through objects.

extension ImportCommand {
    /// The number of bytes of a document from which on it is imported in batches, if the store is new.
    private static let batchedLength = 32_000_000

    /// Why a document is imported into an existing store in one piece.
    static let storeReason = ObjectsReason(
        .store, "The store exists: the plan of the whole document is validated before the store is changed.")

    /// Why a document is restored in one piece.
    static let restoringReason = ObjectsReason(
        .options, "--restore validates the plan of the whole document before the store is created.")

    /// Why a document is imported into a new store in one piece, through objects; nil if it is imported in batches, by rows if the model
    /// and its records permit it.
    func wholeReason(_ options: ImportOptions) -> ObjectsReason? {
        if options.skipsInvalid {
            return ObjectsReason(.options, "--skip-invalid finds the errors in the plan of the whole document.")
        }
        if !options.deletionScopes.isEmpty {
            return ObjectsReason(.options, "--delete-missing needs the whole document.")
        }
        if file.isTable { return ObjectsReason(.document, "The records of tables are in memory.") }
        guard file.byteCount < Self.batchedLength else { return nil }
        let limit = "Only files of \(Quantity.bytes(Int64(Self.batchedLength))) and more are imported by rows"
        let size = file.byteCount > 0 ? ", and this one has \(Quantity.bytes(Int64(file.byteCount)))" : ""
        return ObjectsReason(.document, "\(limit)\(size).")
    }

    /// The path of an import into a new store. Cost: that of an import by rows into a temporary store, because any record can
    /// require objects; nothing if the options or the size of the document require objects.
    func path(
        of document: ImportSource, intoNewStoreAt store: URL, _ model: NSManagedObjectModel, _ options: ImportOptions
    ) throws -> ExecutionPath {
        if let reason = wholeReason(options) { return .objects(because: reason) }
        guard store.isFileURL else {
            return .objects(because: ObjectsReason(.store, "Only in SQLite stores rows are written directly."))
        }
        return try TemporaryFolder.with { folder in
            let draft = folder.appendingPathComponent("Draft.sqlite")
            try StoreCreation.createStore(at: draft, model: model)
            let open = try OpenStore(url: draft, model: model, isReadOnly: false)
            let path = try Work.run("Examining", noun: "byte") {
                try batches(into: open, options).explain(document, entity: entity, progress: $0)
            }
            try open.close()
            return path
        }
    }

    /// States the path of the import, if --explain is given.
    func state(_ path: @autoclosure () throws -> ExecutionPath) throws {
        guard explain, !json else { return }
        try StandardOutput.report("\(dryRun ? "To be imported" : "Imported") \(path())\n")
    }
}

// Stores that are restored from a document or copied.

extension ImportCommand {
    func restoreStore(from document: ImportSource) throws {
        let (store, isNew) = try destination()
        let model = try storeModel(store, isNew: isNew)
        var restorer = StoreRestorer(model: model)
        restorer.folder = file.folder
        restorer.missingFiles = missing.missingFiles
        restorer.reading.allowsTrailingCommas = policies.trailingCommas
        restorer.joinTablesLike = try likeness.url()
        let restore = {
            try Work.run("Restoring", noun: nil) { try restorer.restore(document, to: store, progress: $0) }
        }
        if isNew {
            try StandardOutput.requireOpen()
            return try report(try restore(), .objects(because: Self.restoringReason))
        }
        try report(
            try backup.protecting(OpenStore(url: store, model: model, modelPath: source.model), restore),
            .objects(because: Self.restoringReason))
    }

    /// Copies the rows of a store to a new one, with its UUID, metadata and primary keys. Between files, the files are copied.
    func copyStore() throws {
        let (target, isNew) = try destination()
        guard likeness.like == nil else { throw CommandError("--like cannot be combined with a store to copy.") }
        guard isNew else {
            throw CommandError("A store is copied to a new one: there is a store at \(target.storeName) already.")
        }
        guard let url = file.url else { return }
        let model = try source.model(for: url.withoutLinks)
        try StandardOutput.requireOpen()
        let count = try Work.run("Copying", noun: nil) { progress in
            try StoreCreation.makeStore(at: target, model: model) { draft in
                // The copy keeps this model as its own, and not the one that keeps archives as they are.
                try StoreCreation.createStore(at: draft, model: model)
                let open = try OpenStore(url: url, model: model, holdsState: false, modelPath: source.model)
                let copy = try open.coordinator.migratePersistentStore(
                    open.store, to: draft, options: nil, withType: draft.storeType)
                let count = try EntityCounts(open).counts.reduce(0) { $0 + $1.count }
                try open.coordinator.remove(copy)
                if progress.isCancelled { throw CocoaError(.userCancelled) }
                return count
            }
        }
        if json { return try JSONOutput.report(["copied": count]) }
        try StandardOutput.report("\(Quantity.count(count, "object")) copied\n")
    }
}

/// A store in memory, for plans that are not executed.
struct ImportTarget {
    let context: NSManagedObjectContext

    init(inMemoryWith model: NSManagedObjectModel) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model.keepingStoredArchives())
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
    }
}
