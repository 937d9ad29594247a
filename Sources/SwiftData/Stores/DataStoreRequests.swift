import Foundation

/// Which models a context wants.
public struct DataStoreFetchRequest<T: PersistentModel>: Sendable {
    public let descriptor: FetchDescriptor<T>
    /// The context.
    public let editingState: EditingState
}

/// The models that a store has found.
public struct DataStoreFetchResult<ModelType: PersistentModel, SnapshotType: DataStoreSnapshot>: Sendable {
    public let descriptor: FetchDescriptor<ModelType>
    /// The models, in the order of the descriptor.
    public let fetchedSnapshots: [SnapshotType]
    /// Models that those refer to, so that they need not be requested.
    public let relatedSnapshots: [PersistentIdentifier: SnapshotType]

    public init(
        descriptor: FetchDescriptor<ModelType>, fetchedSnapshots: [SnapshotType],
        relatedSnapshots: [PersistentIdentifier: SnapshotType] = [:]
    ) {
        (self.descriptor, self.fetchedSnapshots, self.relatedSnapshots) = (
            descriptor, fetchedSnapshots, relatedSnapshots
        )
    }
}

/// What a context wants to save.
public struct DataStoreSaveChangesRequest<SnapshotType: DataStoreSnapshot>: Sendable {
    public let editingState: EditingState
    /// New models, in the order of their insertion. Their identifiers are temporary, even where other snapshots refer to them.
    public let inserted: [SnapshotType]
    public let updated: [SnapshotType]
    public let deleted: [SnapshotType]
}

/// What a store has saved.
public final class DataStoreSaveChangesResult<T: DataStoreSnapshot> {
    public let storeIdentifier: String
    /// The permanent identifier of each inserted model, by its temporary one.
    public let remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]
    /// Models whose values are not those that were saved.
    public let snapshotsToReregister: [PersistentIdentifier: T]
    /// The position of the save in the history of the store, if it has one.
    public let historyToken: (any HistoryToken)?

    public convenience init(
        for storeIdentifier: String, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
        snapshotsToReregister: [PersistentIdentifier: T] = [:]
    ) {
        self.init(
            for: storeIdentifier, remappedIdentifiers: remappedIdentifiers,
            snapshotsToReregister: snapshotsToReregister, historyToken: nil)
    }

    public init(
        for storeIdentifier: String, remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
        snapshotsToReregister: [PersistentIdentifier: T] = [:], historyToken: (any HistoryToken)?
    ) {
        (self.storeIdentifier, self.remappedIdentifiers) = (storeIdentifier, remappedIdentifiers)
        (self.snapshotsToReregister, self.historyToken) = (snapshotsToReregister, historyToken)
    }
}

/// Which models a context wants to be deleted at once.
public struct DataStoreBatchDeleteRequest<T: PersistentModel>: Sendable {
    public let editingState: EditingState
    /// The condition; nil means all models of the class.
    public let predicate: Predicate<T>?
    public let includeSubclasses: Bool
}
