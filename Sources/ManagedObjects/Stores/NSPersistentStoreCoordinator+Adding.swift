import Foundation

// Adding and removing stores.

extension NSPersistentStoreCoordinator {
    /// Adds a store; one that does not exist is made.
    ///
    /// - Parameters:
    ///   - storeType: The type, such as `NSSQLiteStoreType`.
    ///   - configuration: The configuration whose entities the store holds; nil is all.
    ///   - storeURL: Where the store is; may be nil for a store in memory.
    ///   - options: See `NSReadOnlyPersistentStoreOption` and its like.
    /// - Throws: Code 134000 for a type without a class, 134010 when the store says that it is of another type, 134100 when the store was written with another model, 134130
    ///   when it would have to be migrated, and what the store throws when it cannot be opened.
    @discardableResult
    public func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        let storeClass = try StoreClasses.shared.storeClass(ofType: storeType, url: storeURL)
        let url = try location(of: storeURL, type: storeType)
        try requireConfiguration(configuration, url: url)
        let store = storeClass.init(
            persistentStoreCoordinator: self, configurationName: configuration, at: url, options: options)
        do {
            try store.loadMetadata()
            // What a class has set there is what the store has.
            store.didSaveMetadata()
            try requireType(storeType, of: store)
            try requireFittingModel(store)
            try assignNumber(to: store)
            try store.loadContent()
            try enter(store)
        } catch {
            store.willRemove(from: self)
            store.detach()
            throw error
        }
        return store
    }

    /// Adds a store; one that does not exist is made. See ``addPersistentStore(ofType:configurationName:at:options:)``.
    @discardableResult
    public func addPersistentStore(
        type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addPersistentStore(
            ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
    }

    /// Adds a store as a description says. The block is called with the error, or none: before this method returns, or,
    /// where the store is added asynchronously, later on another thread.
    public func addPersistentStore(
        with storeDescription: NSPersistentStoreDescription,
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        // Because the description is a copy that nobody else has, and the block runs once.
        nonisolated(unsafe) let description = storeDescription.snapshot()
        nonisolated(unsafe) let block = block
        let add = { @Sendable [self] in
            do {
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

    /// Removes a store and closes its files. Objects that have not been read from it can be read no more.
    ///
    /// - Throws: Code 134070 when the coordinator does not have the store.
    public func remove(_ store: NSPersistentStore) throws {
        guard entries.contains(where: { $0.store === store }) else {
            throw CocoaError(.persistentStoreOperation, "The coordinator does not have the store.", url: store.url)
        }
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorWillRemoveStore, object: self,
            userInfo: [NSRemovedPersistentStoresKey: [store]])
        store.willRemove(from: self)
        state.withLock { state in state.entries.removeAll { $0.store === store } }
        store.detach()
        postStoresDidChange([NSRemovedPersistentStoresKey: [store]])
    }

    final func postStoresDidChange(_ userInfo: [String: [NSPersistentStore]]) {
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorStoresDidChange, object: self, userInfo: userInfo)
    }

    // MARK: - Steps

    /// Where the store is: a location of its own for a store in memory that has none.
    private final func location(of url: URL?, type: String) throws -> URL {
        // At /dev/null an SQLite store lies in memory, too: several may be there.
        let isUnique = type == NSInMemoryStoreType || url?.path == "/dev/null"
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
            "The store says that it is of type “\(store.type)”; it is added as one of type “\(type)”.", url: store.url)
    }

    /// Refuses a store that was written with another version of the model.
    private final func requireFittingModel(_ store: NSPersistentStore) throws {
        guard !store.flag(forOption: NSIgnorePersistentStoreVersioningOption), let metadata = store.metadata,
            metadata[NSStoreModelVersionHashesKey] != nil,
            !managedObjectModel.isConfiguration(
                withName: store.configurationIfAny, compatibleWithStoreMetadata: metadata)
        else { return }
        if store.flag(forOption: NSMigratePersistentStoresAutomaticallyOption) {
            throw CocoaError(
                .migrationMissingSourceModel,
                "The store was written with another version of the model and would have to be migrated, which this "
                    + "version cannot.",
                url: store.url, userInfo: ["metadata": metadata, "reason": "Can't find model for source store"])
        }
        throw CocoaError(
            .persistentStoreIncompatibleVersionHash,
            "The store was written with another version of the model. Open it with the model that it was written with.",
            url: store.url,
            userInfo: [
                "metadata": metadata,
                "reason": "The model used to open the store is incompatible with the one used to create the store",
            ])
    }

    /// Gives the store a number that no other has or has had: object keys hold it.
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

    /// A store as the engine asks it for rows.
    ///
    /// - Throws: Code 134000 for a class that neither keeps rows nor inherits from one that programs may write.
    final func rows(of store: NSPersistentStore) throws -> any RowStore {
        if let rows = store as? any RowStore { return rows }
        if let store = store as? NSIncrementalStore { return IncrementalStoreRows(store) }
        throw CocoaError(
            .persistentStoreInvalidType,
            "Stores of the class \(Swift.type(of: store)) cannot be added: it inherits neither from NSAtomicStore nor from "
                + "NSIncrementalStore.",
            url: store.url)
    }

    /// Makes a store that has a number one of the coordinator's.
    ///
    /// - Parameter replaced: A store whose number, and thereby objects, the new one has taken over.
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
