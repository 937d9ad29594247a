import CoreDataErrors
import Foundation

// Operations on whole stores: moving to another location or type, replacing, destroying.

extension NSPersistentStoreCoordinator {
    /// See the public method of the class.
    final func migrateStore(
        _ store: NSPersistentStore, to URL: URL, options: [AnyHashable: Any]?, withType storeType: String
    ) throws -> NSPersistentStore {
        guard let source = entries.first(where: { $0.store === store }) else {
            throw CocoaError(.persistentStoreOperation, "The coordinator does not have the store.", url: store.url)
        }
        let storeClass = try StoreClasses.shared.storeClass(ofType: storeType, url: URL)
        if store.type == storeType, let origin = store.url, Self.isSame(origin, URL) {
            throw CocoaError(.persistentStoreOperation, "A store cannot be moved to its own location.", url: URL)
        }
        let database = storeClass as? any DatabaseStore.Type
        let copiesFiles =
            store.type == storeType && database?.areFiles == true
            && ![store.url, URL].contains { $0.map(StoreClasses.isInMemory) ?? true }
        if copiesFiles, let origin = store.url { try database?.replaceStore(at: URL, withStoreFrom: origin) }
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

    /// See the public method of the class.
    final func replaceStore(at destinationURL: URL, withStoreFrom sourceURL: URL, ofType storeType: String) throws {
        let storeClass = try StoreClasses.shared.storeClass(ofType: storeType, url: sourceURL)
        guard let located = storeClass as? any LocatedStore.Type else { return }
        func replace() throws { try located.replaceStore(at: destinationURL, withStoreFrom: sourceURL) }
        guard located.areFiles else { return try replace() }
        try requireFiles(type: storeType, url: destinationURL)
        guard located is any DatabaseStore.Type else { return try replace() }
        if Self.isSame(destinationURL, sourceURL) { return }
        let open = entries.first { Self.isSame($0.store.url, destinationURL) }
        guard let store = open?.store, store is any DatabaseStore, let url = store.url, !StoreClasses.isInMemory(url)
        else { return try replace() }
        try self.replace(store, at: url, by: replace)
    }

    /// Replaces the files of a store of this coordinator, and opens them in its place. Where this fails, and the old files are still
    /// there, these are opened again.
    private final func replace(_ store: NSPersistentStore, at url: URL, by replacing: () throws -> Void) throws {
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store,
            userInfo: [NSRemovedPersistentStoresKey: [store]])
        store.willRemove(from: self)
        let result = Result { try replacing() }
        let opened = type(of: store).init(
            persistentStoreCoordinator: self, configurationName: store.configurationIfAny, at: url,
            options: store.options)
        do {
            try opened.loadMetadata()
            opened.didSaveMetadata()
            opened.number = store.number
            if isFitting(opened) {
                try enter(opened, replacing: store)
                store.detach()
            } else {
                // Read with the coordinator's model, rows of another version of the model would be wrong.
                opened.willRemove(from: self)
                opened.detach()
                leave(store)
            }
        } catch {
            leave(store)
            if case .success = result { throw error }
        }
        try result.get()
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

    /// See the public method of the class.
    final func destroyStore(at url: URL, ofType storeType: String, options: [AnyHashable: Any]?) throws {
        // Stores in memory have no files; their content is released when they are removed.
        if storeType == NSInMemoryStoreType || storeType == NSSQLiteStoreType && StoreClasses.isInMemory(url) { return }
        // Its connection is closed first: the last one that is closed removes the files that are left.
        if let store = entries.first(where: { Self.isSame($0.store.url, url) })?.store { try removeStore(store) }
        let storeClass = try StoreClasses.shared.storeClass(ofType: storeType, url: url)
        let located = storeClass as? any LocatedStore.Type
        if located?.areFiles != false { try requireFiles(type: storeType, url: url) }
        try located?.destroyStore(
            at: url, isForced: NSPersistentStore.flag(NSPersistentStoreForceDestroyOption, in: options))
    }

    /// Destroys a store.
    public func destroyPersistentStore(
        at url: URL, type storeType: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, ofType: storeType.rawValue, options: options)
    }

    /// Copies rows, or objects if the target requires objects, and the metadata.
    private final func copyContent(of source: Entry, to target: NSPersistentStore) throws {
        try target.rowStore?.loadContent()
        let held = entities.filter { holds(source.store, $0) }
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = self
        let origin = source.rows.answering(context)
        guard let rows = try rows(of: target).objectStore else {
            let rows = try rows(of: target)
            return try StoreCopy(from: origin, to: rows).copy(held, source.store, target)
        }
        try ObjectStoreCopy(from: origin, of: source.store, to: rows, of: target).copy(held, model: managedObjectModel)
    }

    private final func requireFiles(type: String, url: URL) throws {
        let storeClass = try StoreClasses.shared.storeClass(ofType: type, url: url)
        guard (storeClass as? any LocatedStore.Type)?.areFiles == true, !url.isFileURL else { return }
        throw CocoaError(.persistentStoreOperation, "Stores of type \(type) have no files at \(url).", url: url)
    }
}
