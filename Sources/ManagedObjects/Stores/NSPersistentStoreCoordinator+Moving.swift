import AtomicFiles
import Foundation

// Stores as a whole: moved to another place or type, replaced, destroyed.

extension NSPersistentStoreCoordinator {
    /// Copies a store to another place, or into another type, and goes on with the copy.
    ///
    /// The copy takes the old store's place in the coordinator: contexts and their objects go on with it. Primary
    /// keys and the store's UUID stay, and with them all object IDs and URIs. The old store's files stay where they
    /// are. An SQLite store becomes an SQLite store by copying pages; between types, rows are copied and their
    /// versions begin anew. A store that names its objects by reference objects, such as one in an XML file, gives them new
    /// ones: IDs that are held go on, their URIs are others.
    ///
    /// - Returns: The new store; the old one is of no use any more.
    /// - Throws: What adding the new store throws, and code 134070 when the coordinator does not have the old one. The
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
            throw CocoaError(.persistentStoreOperation, "A store cannot be moved to where it is.", url: URL)
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
            name: .NSPersistentStoreCoordinatorWillRemoveStore, object: self,
            userInfo: [NSRemovedPersistentStoresKey: [store]])
        try enter(target, replacing: store)
        store.willRemove(from: self)
        store.detach()
        return target
    }

    /// Copies a store to another place, or into another type. See
    /// ``migratePersistentStore(_:to:options:withType:)``.
    @discardableResult
    public func migratePersistentStore(
        _ store: NSPersistentStore, to storeURL: URL, options: [AnyHashable: Any]? = nil,
        type storeType: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore {
        try migratePersistentStore(store, to: storeURL, options: options, withType: storeType.rawValue)
    }

    /// Puts a copy of one store in the place of another, whether there is one or not. UUID and primary keys are those
    /// of the copied store. The copy is made beside its place, which it takes when it is complete; the replaced store is locked
    /// while it does. Cost for SQLite: every page of the file is copied.
    ///
    /// - Throws: Code 134000 for a type without a class, 134070 for one whose stores cannot be replaced and where the store to
    ///   be replaced is open, and what reading and writing the files throws; the replaced store is then as it was.
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

    /// Puts a copy of one store in the place of another.
    public func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
        type sourceType: NSPersistentStore.StoreType
    ) throws {
        try replacePersistentStore(
            at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
            sourceOptions: sourceOptions, ofType: sourceType.rawValue)
    }

    /// Destroys a store: its rows are deleted, then its files are removed. Nothing happens where there is none.
    /// Remove the store from coordinators first.
    ///
    /// - Throws: Code 134000 for a type without a class; code 134070 when the file is no SQLite database or is in use,
    ///   unless `NSPersistentStoreForceDestroyOption` is set.
    public func destroyPersistentStore(
        at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
    ) throws {
        // Stores in memory have no files; what is left of them is let go by removing them.
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

    /// Copies rows, or objects where the target takes these, and the metadata.
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
