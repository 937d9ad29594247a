import AtomicFiles
import Foundation

// Operations on whole stores: moving to another location or type, replacing, destroying.

extension NSPersistentStoreCoordinator {
    /// Copies a store to another location, or to another type, and uses the copy in its place.
    ///
    /// The copy replaces the old store in the coordinator: contexts and their objects remain valid. Primary keys and
    /// the store's UUID are kept, and therefore all object IDs and URIs. The old store's files are not deleted. An
    /// SQLite store is copied to an SQLite store by copying pages; between types, rows are copied and their versions
    /// start again. A store that identifies its objects by reference objects, such as one in an XML file, assigns new
    /// ones: existing IDs remain valid, but their URIs change.
    ///
    /// - Returns: The new store; the old one can no longer be used.
    /// - Throws: The errors of adding the new store, and code 134070 if the coordinator does not have the old one. The
    ///   old store then stays in the coordinator.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to URL: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
    ) throws -> NSPersistentStore {
        guard let source = entries.first(where: { $0.store === store }) else {
            throw CocoaError(.persistentStoreOperation, "The coordinator does not have the store.", url: store.url)
        }
        let storeClass = try StoreClasses.shared.storeClass(ofType: storeType, url: URL)
        if store.type == storeType, let origin = store.url, Self.isSame(origin, URL) {
            throw CocoaError(.persistentStoreOperation, "A store cannot be moved to its own location.", url: URL)
        }
        let copiesFiles =
            store.type == NSSQLiteStoreType && storeType == NSSQLiteStoreType
            && ![store.url, URL].contains { $0.map(SQLiteFile.isMemory) ?? true }
        if copiesFiles, let origin = store.url {
            try StoreFiles(url: URL).replace(with: StoreFiles(url: origin.withoutLinks))
        }
        let target = storeClass.init(
            persistentStoreCoordinator: self, configurationName: store.configurationIfAny, at: URL, options: options)
        do {
            try target.loadMetadata()
            target.didSaveMetadata()
            target.number = source.number
            if !copiesFiles { try copyContent(of: source, to: target) }
        } catch {
            target.willRemove(from: self)
            target.detach()
            throw error
        }
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store,
            userInfo: [NSRemovedPersistentStoresKey: [store]])
        try enter(target, replacing: store)
        store.willRemove(from: self)
        store.detach()
        return target
    }

    /// Copies a store to another location, or to another type. See
    /// ``migratePersistentStore(_:to:options:withType:)``.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil,
        type storeType: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore {
        try migratePersistentStore(store, to: storeURL, options: options, withType: storeType.rawValue)
    }

    /// Replaces a store by a copy of another one, or creates the copy if there is no store. UUID and primary keys are
    /// those of the copied store. The copy is made beside the destination and moved there when it is complete; the
    /// replaced store is locked during the move. Cost for SQLite: every page of the file is copied.
    ///
    /// - Throws: Code 134000 for a type without a class, 134070 for a type whose stores cannot be replaced and if the
    ///   store to be replaced is open, and errors of reading and writing the files; the replaced store is then
    ///   unchanged.
    public func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
    ) throws {
        try requireFiles(type: storeType, url: destinationURL)
        if let fileClass = try StoreClasses.shared.storeClass(ofType: storeType, url: sourceURL) as? FileStore.Type {
            return try fileClass.replaceStore(at: destinationURL, withStoreAt: sourceURL)
        }
        if Self.isSame(destinationURL.withoutLinks, sourceURL.withoutLinks) { return }
        try StoreFiles(url: destinationURL).replace(with: StoreFiles(url: sourceURL.withoutLinks))
    }

    /// Replaces a store by a copy of another one.
    public func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
        type sourceType: NSPersistentStore.StoreType
    ) throws {
        try replacePersistentStore(
            at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
            sourceOptions: sourceOptions, ofType: sourceType.rawValue)
    }

    /// Destroys a store: deletes its rows and tables and the files of its large values. Of an SQLite store an empty
    /// file stays, as with Apple's framework; the files of other stores are removed. Does nothing if there is no store.
    /// Remove the store from coordinators first.
    ///
    /// - Throws: Code 134000 for a type without a class; code 134070 when the file is no SQLite database or is in use,
    ///   unless `NSPersistentStoreForceDestroyOption` is set.
    public func destroyPersistentStore(
        at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
    ) throws {
        // Stores in memory have no files; their content is released when they are removed.
        if storeType == NSInMemoryStoreType { return }
        try requireFiles(type: storeType, url: url)
        if try StoreClasses.shared.storeClass(ofType: storeType, url: url) is FileStore.Type {
            if FileManager.default.fileExists(atPath: url.path) { try FileManager.default.removeItem(at: url) }
            return
        }
        try StoreFiles(url: url.withoutLinks)
            .destroy(forced: NSPersistentStore.flag(NSPersistentStoreForceDestroyOption, in: options))
    }

    /// Destroys a store.
    public func destroyPersistentStore(
        at url: URL, type storeType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, ofType: storeType.rawValue, options: options)
    }

    /// Copies rows, or objects if the target requires objects, and the metadata.
    private final func copyContent(of source: Entry, to target: NSPersistentStore) throws {
        try target.loadContent()
        let held = entities.filter { holds(source.store, $0) }
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = self
        let origin = source.rows.answering(context)
        guard let rows = try rows(of: target) as? any ObjectStore else {
            let rows = try rows(of: target)
            return try StoreCopy(from: origin, to: rows).copy(held, source.store, target)
        }
        try ObjectStoreCopy(from: origin, of: source.store, to: rows, of: target).copy(held, model: managedObjectModel)
    }

    private final func requireFiles(type: String, url: URL) throws {
        let storeClass = try StoreClasses.shared.storeClass(ofType: type, url: url)
        guard !(storeClass is SQLiteStore.Type || storeClass is FileStore.Type) || !url.isFileURL else { return }
        throw CocoaError(.persistentStoreOperation, "Stores of type \(type) have no files at \(url).", url: url)
    }
}
