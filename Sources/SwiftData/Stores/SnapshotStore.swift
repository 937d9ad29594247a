import Foundation

/// The models that a data store has found, as the engine's store keeps them.
struct FoundSnapshots {
    var fetched: [DefaultSnapshot]
    var related: [DefaultSnapshot] = []
    /// Whether the store has applied the predicate, with the limit.
    var isFiltered = true
    var isSorted = true
}

/// A ``DataStore`` of any type, with snapshots that the engine's store reads.
protocol SnapshotStore: AnyObject, Sendable {
    var identifier: String { get }
    /// The data store, if it can delete the models of a predicate itself.
    var batching: (any DataStoreBatching)? { get }

    /// The models of a class, with what a descriptor states of them.
    func snapshots<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, _ state: EditingState) throws -> FoundSnapshots
    func cachedSnapshot(for identifier: PersistentIdentifier, _ state: EditingState) throws -> DefaultSnapshot?
    func save(
        inserted: [any PersistentModel], updated: [any PersistentModel], deleted: [any PersistentModel],
        _ state: EditingState
    ) throws -> (remapped: [PersistentIdentifier: PersistentIdentifier], snapshots: [DefaultSnapshot])
    /// The transactions that a descriptor selects; nil if the store has no history of this type.
    func history<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T]?
    /// Deletes the transactions that a descriptor selects. Returns whether the store has a history of this type.
    func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> Bool
    func erase() throws
    func initialize(_ state: EditingState)
    func invalidate(_ state: EditingState)
}

extension SnapshotStore {
    // MARK: - Fetching

    /// All models of a class.
    func fetchAll(_ modelClass: ModelClass, _ state: EditingState) throws -> [DefaultSnapshot] {
        func all<T: PersistentModel>(_: T.Type) throws -> [DefaultSnapshot] {
            let found = try snapshots(FetchDescriptor<T>(), state)
            return found.fetched + found.related
        }
        return try all(modelClass.type)
    }

    /// The models of a class that a fetch of the program describes, selected by those of its conditions that the store can evaluate.
    func snapshots(
        _ modelClass: ModelClass, _ fetch: (any DescribedFetch)?, limit: Int, offset: Int, _ state: EditingState
    ) throws -> FoundSnapshots {
        guard let fetch else {
            return FoundSnapshots(fetched: try fetchAll(modelClass, state), isFiltered: false, isSorted: false)
        }
        var (filters, sorts) = (true, true)
        while true {
            // A limit cuts what is filtered and sorted.
            let isWhole = filters && sorts
            do {
                var found = try fetch.snapshots(
                    of: self, filters: filters, sorts: sorts, limit: isWhole ? limit : 0, offset: isWhole ? offset : 0,
                    state)
                found.isFiltered = isWhole || filters && limit == 0 && offset == 0
                found.isSorted = sorts
                return found
            } catch DataStoreError.preferInMemoryFilter where filters {
                filters = false
            } catch DataStoreError.preferInMemorySort where sorts {
                sorts = false
            }
        }
    }
}

/// A fetch of a program, whose descriptor the engine's request does not contain.
protocol DescribedFetch {
    func snapshots(
        of store: any SnapshotStore, filters: Bool, sorts: Bool, limit: Int, offset: Int, _ state: EditingState
    ) throws -> FoundSnapshots
}

extension FetchDescriptor: DescribedFetch {
    func snapshots(
        of store: any SnapshotStore, filters: Bool, sorts: Bool, limit: Int, offset: Int, _ state: EditingState
    ) throws -> FoundSnapshots {
        var descriptor = self
        if !filters { descriptor.predicate = nil }
        if !sorts { descriptor.sortBy = [] }
        descriptor.fetchLimit = limit == 0 ? nil : limit
        descriptor.fetchOffset = offset == 0 ? nil : offset
        return try store.snapshots(descriptor, state)
    }
}

/// A data store of a known type.
final class TypedDataStore<Store: DataStore>: SnapshotStore,
    @unchecked Sendable  // because a data store guards its state
{
    let identifier: String
    private let store: Store
    var batching: (any DataStoreBatching)? { store as? any DataStoreBatching }

    init(_ store: Store) {
        self.store = store
        identifier = store.identifier
    }

    func snapshots<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>, _ state: EditingState
    ) throws -> FoundSnapshots {
        let result = try store.fetch(DataStoreFetchRequest(descriptor: descriptor, editingState: state))
        return FoundSnapshots(
            fetched: try result.fetchedSnapshots.map { try $0.plain() },
            related: try result.relatedSnapshots.values.map { try $0.plain() })
    }

    func cachedSnapshot(
        for identifier: PersistentIdentifier, _ state: EditingState
    ) throws -> DefaultSnapshot? {
        try store.cachedSnapshots(for: [identifier], editingState: state)[identifier].map { try $0.plain() }
    }

    func save(
        inserted: [any PersistentModel], updated: [any PersistentModel], deleted: [any PersistentModel],
        _ state: EditingState
    ) throws -> (remapped: [PersistentIdentifier: PersistentIdentifier], snapshots: [DefaultSnapshot]) {
        func snapshots(_ models: [any PersistentModel]) -> [Store.Snapshot] {
            var related: [PersistentIdentifier: any BackingData] = [:]
            return models.map { Store.Snapshot(from: $0.erasedBackingData, relatedBackingDatas: &related) }
        }
        let new = snapshots(inserted)
        let changed = snapshots(updated)
        let result = try store.save(
            DataStoreSaveChangesRequest(
                editingState: state, inserted: new, updated: changed, deleted: snapshots(deleted)))
        for snapshot in new where result.remappedIdentifiers[snapshot.persistentIdentifier] == nil {
            throw CocoaError(
                CocoaError.Code(rawValue: 134_030),  // NSPersistentStoreSaveError
                userInfo: [
                    NSLocalizedFailureReasonErrorKey:
                        "The store \(store.identifier) gave a new \(snapshot.persistentIdentifier.entityName) no identifier."
                ])
        }
        // What contexts read from now on: the saved values, with permanent identifiers, unless the store has changed them.
        let saved = try (new + changed).map { snapshot -> DefaultSnapshot in
            let permanent = result.remappedIdentifiers[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
            if let changed = result.snapshotsToReregister[permanent] { return try changed.plain() }
            return try snapshot.copy(
                persistentIdentifier: permanent, remappedIdentifiers: result.remappedIdentifiers
            ).plain()
        }
        let known = Set(saved.map(\.persistentIdentifier))
        let others = try result.snapshotsToReregister.filter { !known.contains($0.key) }.values.map { try $0.plain() }
        return (result.remappedIdentifiers, saved + others)
    }

    func history<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T]? {
        func fetch(_ provider: some HistoryProviding) throws -> [T]? {
            try (descriptor as? HistoryDescriptor).map(provider.fetchHistory) as? [T]
        }
        return try (store as? any HistoryProviding).flatMap { try fetch($0) }
    }

    func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> Bool {
        func delete(_ provider: some HistoryProviding) throws -> Bool {
            try (descriptor as? HistoryDescriptor).map(provider.deleteHistory) != nil
        }
        return try (store as? any HistoryProviding).map { try delete($0) } ?? false
    }

    func erase() throws { try store.erase() }
    func initialize(_ state: EditingState) { store.initializeState(for: state) }
    func invalidate(_ state: EditingState) { store.invalidateState(for: state) }
}

extension DataStoreSnapshot {
    /// The snapshot in the form that the engine's store reads. A snapshot of another type states its values by encoding them.
    fileprivate func plain() throws -> DefaultSnapshot {
        if let plain = self as? DefaultSnapshot { return plain }
        return try JSONDecoder().decode(DefaultSnapshot.self, from: JSONEncoder().encode(self))
    }
}

extension DataStoreConfiguration {
    /// Opens the store of the configuration.
    func open(with schema: Schema, _ plan: (any SchemaMigrationPlan.Type)?) throws -> any SnapshotStore {
        var configuration = self
        if configuration.schema == nil { configuration.schema = schema }
        return TypedDataStore(try Store(configuration, migrationPlan: plan))
    }
}
