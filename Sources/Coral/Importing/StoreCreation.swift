import AtomicFiles
import CoreData
import GraphDocuments

/// Makes SQLite stores that take their place whole or not at all.
public enum StoreCreation {
    /// What a new store may replace.
    public enum Occupant: Sendable, Hashable {
        /// Nothing: that there is a file is an error.
        case nothing
        /// A store, where there is one.
        case store
        /// Any file, where there is one.
        case file
    }

    /// Makes a store beside a place, which it takes when it is complete.
    ///
    ///     try StoreCreation.makeStore(at: url, model: model) { draft in
    ///         // … add a store at `draft` to a coordinator, save, and remove it again
    ///     }
    ///
    /// The store is made in a hidden folder beside the place, `.NAME.UUID.partial`; one that a killed process has left is removed
    /// by the next store that is made for the place. A store that is replaced is locked meanwhile, and its write-ahead log,
    /// shared memory and files of large values go with it; at no moment are there parts of both.
    ///
    /// Throws what `fill` throws; `CocoaError.fileWriteFileExists` where there is a file that must not be replaced; errors of Core
    /// Data's where the place cannot be written to, or the store that is there is in use. Then the place is as it was.
    ///
    /// - Parameters:
    ///   - place: Where the store will be. A symbolic link stays, and what it leads to is replaced.
    ///   - model: The model of the store.
    ///   - occupant: What may be replaced.
    ///   - fill: Makes a store at the location that it is given, and closes it.
    /// - Returns: What `fill` returns.
    @discardableResult
    public static func makeStore<Result>(
        at place: URL, model: NSManagedObjectModel, replacing occupant: Occupant = .nothing,
        _ fill: (URL) throws -> Result
    ) throws -> Result {
        let draft = try StoreDraft(at: place, model: model)
        if occupant == .nothing, FileStatus(draft.place.path) != nil {
            throw CocoaError(.fileWriteFileExists, userInfo: [NSFilePathErrorKey: place.path])
        }
        do {
            let result = try fill(draft.url)
            try draft.commit(replacing: occupant)
            return result
        } catch let error as CocoaError {
            throw error.naming(place, insteadOf: draft.url)
        }
    }

    /// Makes an empty store at a location where there is none. The model that the store keeps of itself is the given one.
    ///
    /// Throws as `makeStore(at:model:replacing:_:)` does.
    ///
    /// - Parameters:
    ///   - url: Where the store is made.
    ///   - model: The model of the store.
    ///   - header: The document whose UUID and metadata the store gets; nil for a UUID of its own.
    public static func createStore(
        at url: URL, model: NSManagedObjectModel, header: DocumentHeader? = nil
    ) throws {
        try makeStore(at: url, model: model) { try fillStore(at: $0, model: model, header: header) }
    }

    /// Makes an empty store, directly in its place.
    static func fillStore(at url: URL, model: NSManagedObjectModel, header: DocumentHeader? = nil) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        try coordinator.remove(store)
        guard let header else { return }
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: url, options: nil)
        if let uuid = header.storeUUID { metadata[NSStoreUUIDKey] = uuid }
        for member in header.metadata { metadata[member.name] = member.value.propertyList }
        try NSPersistentStoreCoordinator.setMetadata(
            metadata, forPersistentStoreOfType: NSSQLiteStoreType, at: url, options: nil)
    }

    /// Removes a store and the files beside it.
    public static func removeStore(at url: URL, model: NSManagedObjectModel) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try? coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType, options: nil)
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
    }
}

extension CocoaError {
    /// The error with one file in place of another, which its user has not named and which is gone when it is read.
    fileprivate func naming(_ place: URL, insteadOf draft: URL) -> CocoaError {
        var information = userInfo
        for (key, value) in information {
            if let text = value as? String {
                information[key] = text.replacingOccurrences(of: draft.path, with: place.path)
            } else if let url = value as? URL, url.path == draft.path {
                information[key] = place
            }
        }
        return CocoaError(code, userInfo: information)
    }
}
