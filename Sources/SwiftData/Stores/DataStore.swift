import Foundation

/// A store of one's own: keeps the models of a container in any form.
///
/// A context passes requests, and gets and gives snapshots: plain values by the names of properties, where related models are
/// represented by their identifiers.
///
/// ```swift
/// final class FolderStore: DataStore {
///     typealias Configuration = FolderConfiguration
///     typealias Snapshot = DefaultSnapshot
///     …
/// }
/// let container = try ModelContainer(for: Trip.self, configurations: FolderConfiguration(folder))
/// ```
///
/// The requests of one context follow each other; those of several contexts may meet, so the store guards its state.
public protocol DataStore: AnyObject {
    associatedtype Configuration: DataStoreConfiguration where Self == Configuration.Store
    associatedtype Snapshot: DataStoreSnapshot

    var configuration: Configuration { get }
    /// What identifies the store: part of the identifiers of its models.
    var identifier: String { get }
    var schema: Schema { get }

    /// Opens the store of a configuration. A container has set the configuration's schema if it had none.
    init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws

    /// The snapshots of the models that a request selects, in its order.
    ///
    /// - Throws: ``DataStoreError/preferInMemoryFilter`` or ``DataStoreError/preferInMemorySort`` if the context should filter or sort:
    ///   it then requests all models of the class.
    func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, Snapshot>
    /// The number of models that a request selects. By default it fetches them.
    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int
    /// The identifiers of the models that a request selects. By default it fetches them.
    func fetchIdentifiers<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> [PersistentIdentifier]
    /// Saves all changes, or throws and saves none. The result has a permanent identifier for each inserted snapshot.
    func save(_ request: DataStoreSaveChangesRequest<Snapshot>) throws -> DataStoreSaveChangesResult<Snapshot>
    /// Deletes everything. By default not supported.
    func erase() throws
    /// A context begins to use the store.
    func initializeState(for editingState: EditingState)
    /// A context ends to use the store.
    func invalidateState(for editingState: EditingState)
    /// Snapshots that the store has at hand. By default none.
    func cachedSnapshots(for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState) throws
        -> [PersistentIdentifier: Snapshot]
}

extension DataStore {
    public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try fetch(request).fetchedSnapshots.count
    }

    public func fetchIdentifiers<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws
        -> [PersistentIdentifier]
    {
        try fetch(request).fetchedSnapshots.map(\.persistentIdentifier)
    }

    public func erase() throws { throw DataStoreError.unsupportedFeature }
    public func initializeState(for editingState: EditingState) {}
    public func invalidateState(for editingState: EditingState) {}

    public func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot] { [:] }
}

/// A store that deletes the models of a predicate by itself.
public protocol DataStoreBatching: DataStore {
    func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws
}

/// Where and how a store of one's own keeps its models.
public protocol DataStoreConfiguration: Hashable {
    associatedtype Store: DataStore where Self == Store.Configuration

    var name: String { get }
    /// The part of the container's schema that the store keeps; nil means all.
    var schema: Schema? { get set }
    /// Checks the configuration before its store is opened. By default everything is valid.
    func validate() throws
}

extension DataStoreConfiguration {
    public func validate() throws {}
}

/// What a ``DataStore`` cannot do.
public enum DataStoreError: Error, Hashable, Sendable {
    /// The predicate is invalid.
    case invalidPredicate
    /// The context should filter: it requests all models of the class.
    case preferInMemoryFilter
    /// The context should sort.
    case preferInMemorySort
    /// The store does not have the requested feature.
    case unsupportedFeature
}
