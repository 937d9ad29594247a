import AtomicFiles
import CoreData
import GraphDocuments

/// Creates stores atomically: a store appears at its location when it is complete, or not at all.
///
///     try NSPersistentStoreCoordinator.createStore(at: url, model: model, importing: [places, people])
///     container.loadPersistentStores { … }
///
/// A store gets the objects of documents, the content of a store that ships with the app, or that of a document that was exported
/// from it. The location is a file, or the URL of a store in PostgreSQL.
package enum StoreCreation {
    /// What a new store may replace.
    package enum Occupant: Sendable, Hashable {
        /// Nothing: an existing file is an error.
        case nothing
        /// A store, if there is one.
        case store
        /// Any file, if there is one.
        case file
    }

    /// Creates a store in a draft location and moves it to its final location when it is complete.
    ///
    ///     try StoreCreation.makeStore(at: url, model: model) { draft in
    ///         // … add a store at `draft` to a coordinator, save, and remove it again
    ///     }
    ///
    /// The draft is created in a hidden folder beside the final location, `.NAME.UUID.partial`; a folder left by a
    /// killed process is removed by the next store created for that location. A store that is replaced is locked
    /// until the end, and its write-ahead log, shared memory and external files are replaced with it; at no moment are
    /// parts of both present.
    ///
    /// The draft of a store in PostgreSQL is a schema of the same database, `coral_draft_…`, whose tables are moved to the
    /// final one in one transaction. A store that exists there is never replaced. A process that is killed leaves its draft.
    ///
    /// Throws the errors of `fill`; `CocoaError.fileWriteFileExists` if there is a file that must not be replaced; Core
    /// Data's errors if the location cannot be written to or the existing store is in use. After an error the location is
    /// unchanged.
    ///
    /// - Parameters:
    ///   - destination: The final location of the store. A symbolic link is kept, and its target is replaced.
    ///   - model: The model of the store.
    ///   - occupant: What may be replaced.
    ///   - fill: Creates a store at the given location and closes it.
    /// - Returns: What `fill` returns.
    @discardableResult
    package static func makeStore<Result>(
        at destination: URL, model: NSManagedObjectModel, replacing occupant: Occupant = .nothing,
        _ fill: (URL) throws -> Result
    ) throws -> Result {
        if destination.isOfServer { return try makeStore(onServer: destination, fill) }
        let draft = try Engine.current.makeDraft(at: destination, model: model)
        if occupant == .nothing, FileStatus(draft.destination.path) != nil {
            throw CocoaError(.fileWriteFileExists, userInfo: [NSFilePathErrorKey: destination.path])
        }
        do {
            let result = try fill(draft.url)
            try draft.commit(replacing: occupant)
            return result
        } catch let error as CocoaError {
            throw error.naming(destination, insteadOf: draft.url)
        }
    }

    private static func makeStore<Result>(onServer destination: URL, _ fill: (URL) throws -> Result) throws -> Result {
        guard try !destination.storeExists() else {
            throw CocoaError(
                .fileWriteFileExists,
                userInfo: [NSLocalizedDescriptionKey: "There is a store at \(destination.storeName) already."])
        }
        let draft = try Engine.current.makeServerDraft(at: destination)
        do {
            let result = try fill(draft.url)
            try draft.commit()
            return result
        } catch {
            draft.remove()
            throw error
        }
    }

    /// Creates an empty store at a location where there is none. The store keeps the given model as its own.
    ///
    /// Throws as `makeStore(at:model:replacing:_:)` does.
    ///
    /// - Parameters:
    ///   - url: The location of the new store.
    ///   - model: The model of the store.
    ///   - header: The document whose UUID and metadata the store gets; nil for a UUID of its own.
    ///   - joinTablesLike: A store of the model from which the names of join tables are taken; nil for those of Core
    ///     Data's known rules. No effect in PostgreSQL, and on Apple's platforms, where the framework chooses the names.
    package static func createStore(
        at url: URL, model: NSManagedObjectModel, header: DocumentHeader? = nil, joinTablesLike: URL? = nil
    ) throws {
        try makeStore(at: url, model: model) {
            try fillStore(at: $0, model: model, header: header, joinTablesLike: joinTablesLike)
        }
    }

    /// Creates an empty store directly at its location.
    package static func fillStore(
        at url: URL, model: NSManagedObjectModel, header: DocumentHeader? = nil, joinTablesLike: URL? = nil
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let options = joinTablesLike.map(Engine.current.options(forJoinTablesLike:))
        let store = try coordinator.addPersistentStore(
            ofType: url.storeType, configurationName: nil, at: url, options: options)
        try coordinator.remove(store)
        guard let header else { return }
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: url.storeType, at: url, options: nil)
        if let uuid = header.storeUUID { metadata[NSStoreUUIDKey] = uuid }
        for member in header.metadata { metadata[member.name] = member.value.propertyList }
        try NSPersistentStoreCoordinator.setMetadata(
            metadata, forPersistentStoreOfType: url.storeType, at: url, options: nil)
    }

    /// Removes a store and the files beside it.
    package static func removeStore(at url: URL, model: NSManagedObjectModel) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try? coordinator.destroyPersistentStore(at: url, ofType: url.storeType, options: nil)
        guard !url.isOfServer else { return }
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
    }
}

extension CocoaError {
    /// The error with the final location instead of the draft location, which the caller has not chosen and which is removed.
    fileprivate func naming(_ destination: URL, insteadOf draft: URL) -> CocoaError {
        var information = userInfo
        for (key, value) in information {
            if let text = value as? String {
                information[key] = text.replacingOccurrences(
                    of: draft.path, with: destination.path, options: .literal)
            } else if let url = value as? URL, url.path == draft.path {
                information[key] = destination
            }
        }
        return CocoaError(code, userInfo: information)
    }
}
