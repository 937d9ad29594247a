import Foundation

// The stores of the context's coordinator, as this context accesses them.

extension NSManagedObjectContext {
    /// The stores, in the order in which they were added.
    final var rowStores: [any RowStore] { coordinator?.entries.map { $0.rows.answering(self) } ?? [] }

    /// The store with a number; nil when there is none or it was removed.
    @inline(__always)
    final func rowStore(number: UInt16) -> (any RowStore)? { coordinator?.store(number: number)?.answering(self) }

    /// The adapter between this context and an incremental store; created on first use.
    final func rows(of store: NSIncrementalStore) -> IncrementalStoreRows {
        if let known = incrementalStores.first(where: { $0.store === store }) { return known }
        let made = IncrementalStoreRows(store, context: self)
        incrementalStores.removeAll { $0.store.persistentStoreCoordinator == nil }
        incrementalStores.append(made)
        return made
    }

    /// Notifies incremental stores that the context has released objects.
    final func notifyStores(ofReleased keys: [ObjectKey]) {
        for rows in incrementalStores { rows.unregister(keys.filter { $0.store == rows.number }) }
    }

    // MARK: - Stores whose classes programs write

    /// The objects that an incremental store returns: faults, unless they are registered already or the request includes
    /// property values.
    final func objects(
        of store: IncrementalStoreRows, matching query: RowQuery, specification: FetchSpecification
    ) throws -> [NSManagedObject] {
        let found = try store.objects(matching: query)
        for object in found {
            if specification.shouldRefreshRefetchedObjects, !object.hasChanges { turnIntoFault(object) }
            if !specification.returnsObjectsAsFaults { realiseAsRead(object) }
        }
        return found
    }

    /// Calls incremental stores for a save without changes too.
    final func saveNothing() throws {
        guard parentContext == nil else { return }
        for case let store as IncrementalStoreRows in rowStores { try store.write(StoreChanges(), in: self) }
    }

    final func writeObjects(to store: any ObjectStore) throws {
        do {
            try writeOnce(to: store)
        } catch let conflicts as SaveConflicts {
            if isRefusingConflicts {
                try resolve(conflicts, store: store)
                throw CocoaError.unresolvedConflicts
            }
            try settling { _ in try store.excludingWriters { try settle(store) } }
        }
    }

    /// Writes the changes; with conflicts nothing.
    private func writeOnce(to store: any ObjectStore) throws {
        var changes = StoreChanges(changed, store: store)
        changes.changesMetadata = metadataStore(of: store)?.changedMetadata != nil
        guard !changes.isEmpty || store is IncrementalStoreRows else { return }
        try store.write(changes, in: self)
        for object in changes.updated { object.version += 1 }
    }

    private func settle(_ store: any ObjectStore) throws {
        for _ in 0..<Self.settlingLimit {
            try assignPermanentKeys(to: newObjects(of: store))
            do {
                return try writeOnce(to: store)
            } catch let conflicts as SaveConflicts {
                try resolve(conflicts, store: store)
            }
        }
        throw CocoaError.unresolvedConflicts
    }

    private func metadataStore(of store: any RowStore) -> NSPersistentStore? {
        store as? NSPersistentStore ?? (store as? IncrementalStoreRows)?.store
    }
}
