import CoreDataErrors
import Foundation
import StoreSupport

// Adding and removing stores.

extension NSPersistentStoreCoordinator {
    /// Adds a store; see ``addPersistentStore(ofType:configurationName:at:options:)``.
    final func addStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
        options: [AnyHashable: Any]?
    ) throws -> NSPersistentStore {
        let storeClass = try StoreClasses.shared.storeClass(ofType: storeType, url: storeURL)
        let url = try location(of: storeURL, type: storeType)
        try requireConfiguration(configuration, url: url)
        func made() throws -> NSPersistentStore {
            let store = storeClass.init(
                persistentStoreCoordinator: self, configurationName: configuration, at: url, options: options)
            do {
                try store.loadMetadata()
                // Metadata that the class set while loading are those of the store.
                store.didSaveMetadata()
                try requireType(storeType, of: store)
                return store
            } catch {
                close(store)
                throw error
            }
        }
        var store = try made()
        let isMigrated = try LinkedModules.migration?.migrate(store, in: self) { close(store) }
        if isMigrated == true { store = try made() }
        if let count = options?[NSPersistentStoreConnectionPoolMaxSizeKey] as? NSNumber {
            SharedThreads.shared.admit(connectionCount: count.intValue)
        }
        do {
            try requireFittingModel(store)
            try assignNumber(to: store)
            try store.rowStore?.loadContent()
            try enter(store)
        } catch {
            close(store)
            throw error
        }
        return store
    }

    private final func close(_ store: NSPersistentStore) {
        store.willRemove(from: self)
        store.detach()
    }

    /// Adds a store, and creates it if it does not exist. See
    /// ``addPersistentStore(ofType:configurationName:at:options:)``.
    @discardableResult
    public func addPersistentStore(
        type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addPersistentStore(
            ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
    }

    /// Adds a store according to a description; see ``addPersistentStore(with:completionHandler:)``.
    final func addStore(
        with storeDescription: NSPersistentStoreDescription,
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        // Because the description is a copy without other references, and the block runs once.
        nonisolated(unsafe) let description = storeDescription.snapshot()
        nonisolated(unsafe) let block = block
        let add = { @Sendable [self] in
            do {
                Self.createFolder(for: description)
                try addPersistentStore(
                    ofType: description.type, configurationName: description.configuration, at: description.url,
                    options: description.options)
                block(description, nil)
            } catch {
                block(description, error)
            }
        }
        if storeDescription.shouldAddStoreAsynchronously { DispatchQueue.global().async(execute: add) } else { add() }
    }

    /// Creates the folder of a store's file if it does not exist, as Apple's framework does for a description. An error is that
    /// of adding the store.
    private static func createFolder(for description: NSPersistentStoreDescription) {
        guard let url = description.url, url.isFileURL, !description.isReadOnly,
            description.type != NSInMemoryStoreType
        else { return }
        try? FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    }

    /// Removes a store and closes its files.
    final func removeStore(_ store: NSPersistentStore) throws {
        guard entries.contains(where: { $0.store === store }) else {
            throw CocoaError(.persistentStoreOperation, "The coordinator does not have the store.", url: store.url)
        }
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store,
            userInfo: [NSRemovedPersistentStoresKey: [store]])
        store.willRemove(from: self)
        leave(store)
    }

    /// Removes a store that is closed from the coordinator's stores.
    final func leave(_ store: NSPersistentStore) {
        state.withLock { state in state.entries.removeAll { $0.store === store } }
        store.detach()
        postStoresDidChange([NSRemovedPersistentStoresKey: [store]])
    }

    final func postStoresDidChange(_ userInfo: [String: [NSPersistentStore]]) {
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorStoresDidChange, object: self, userInfo: userInfo)
    }

    // MARK: - Steps

    /// The location of the store: a unique location for a store in memory without one.
    private final func location(of url: URL?, type: String) throws -> URL {
        // Several stores may have the location /dev/null.
        let isUnique = type == NSInMemoryStoreType || url.map(StoreClasses.isInMemory) == true
        if let url, isUnique || !entries.contains(where: { Self.isSame($0.store.url, url) }) { return url }
        if let url {
            throw CocoaError(.persistentStoreOpen, "The coordinator has the store already.", url: url)
        }
        guard type == NSInMemoryStoreType, let made = URL(string: "memory://\(UUID().uuidString)") else {
            throw CocoaError(.persistentStoreOpen, "A store of type \(type) needs a URL.")
        }
        return made
    }

    private final func requireConfiguration(_ name: String?, url: URL) throws {
        guard let name, managedObjectModel.entities(forConfigurationName: name) == nil else { return }
        throw CocoaError(
            .persistentStoreIncompatibleSchema, "The model has no configuration named “\(name)”.", url: url)
    }

    private final func requireType(_ type: String, of store: NSPersistentStore) throws {
        guard store.type != type else { return }
        throw CocoaError(
            .persistentStoreTypeMismatch,
            "The type in the store's metadata is “\(store.type)”, but it is added as type “\(type)”.", url: store.url)
    }

    /// Rejects a store that was written with another version of the model.
    private final func requireFittingModel(_ store: NSPersistentStore) throws {
        guard !isFitting(store), let metadata = store.metadata else { return }
        let reasons = StoreRefusal.sentence(ofStoreAt: store.url, metadata: metadata, model: managedObjectModel)
        throw CocoaError(
            .persistentStoreIncompatibleVersionHash,
            "The store was written with another version of the model. \(reasons.isEmpty ? "" : reasons + " ")"
                + "Migrate it by adding it with the options "
                + "NSMigratePersistentStoresAutomaticallyOption and NSInferMappingModelAutomaticallyOption, or with the command "
                + "`coral migrate \(store.url?.path ?? "STORE") --to MODEL`; or open it with the model that it was written with.",
            url: store.url,
            userInfo: [
                "metadata": metadata,
                "reason": "The model used to open the store is incompatible with the one used to create the store",
            ])
    }

    /// Whether a store was written with the coordinator's version of the model, or versions are not to be compared.
    package final func isFitting(_ store: NSPersistentStore) -> Bool {
        guard !store.flag(forOption: NSIgnorePersistentStoreVersioningOption), let metadata = store.metadata,
            metadata[NSStoreModelVersionHashesKey] != nil
        else { return true }
        return managedObjectModel.isConfiguration(
            withName: store.configurationIfAny, compatibleWithStoreMetadata: metadata)
    }

    /// Assigns a number that no other store has or had, because object keys contain it.
    private final func assignNumber(to store: NSPersistentStore) throws {
        let number = state.withLock { state -> UInt16? in
            guard state.lastNumber < .max else { return nil }
            state.lastNumber += 1
            return state.lastNumber
        }
        guard let number else {
            throw CocoaError(.persistentStoreOpen, "A coordinator cannot have more than 65,535 stores.", url: store.url)
        }
        store.number = number
    }

    /// The interface by which the engine reads a store's rows.
    ///
    /// - Throws: Code 134000 for a class that neither implements rows nor inherits from one of the subclassable store
    ///   classes.
    final func rows(of store: NSPersistentStore) throws -> any RowStore {
        if let rows = store.rowStore { return rows }
        if let store = store as? NSIncrementalStore { return IncrementalStoreRows(store) }
        throw CocoaError(
            .persistentStoreInvalidType,
            "Stores of the class \(Swift.type(of: store)) cannot be added: it inherits neither from NSAtomicStore nor from "
                + "NSIncrementalStore.",
            url: store.url)
    }

    /// Adds a store that has a number to the coordinator's stores.
    ///
    /// - Parameter replaced: The store whose number, and therefore objects, the new one takes over.
    final func enter(_ store: NSPersistentStore, replacing replaced: NSPersistentStore? = nil) throws {
        let entry = Entry(number: store.number, store: store, rows: try rows(of: store))
        state.withLock { state in
            if let position = state.entries.firstIndex(where: { $0.store === replaced }) {
                state.entries[position] = entry
            } else {
                state.entries.append(entry)
            }
        }
        store.didAdd(to: self)
        var userInfo = [NSAddedPersistentStoresKey: [store]]
        if let replaced { userInfo[NSRemovedPersistentStoresKey] = [replaced] }
        postStoresDidChange(userInfo)
    }
}
