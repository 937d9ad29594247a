import CoreData
import Foundation
import ManagedObjects

/// The store of a ``ModelConfiguration`` as a ``DataStore``, for programs that use one by itself or from a store of their own.
///
/// A container with a ``ModelConfiguration`` reads its store directly.
public final class DefaultStore: DataStore, DataStoreBatching, HistoryProviding,
    @unchecked Sendable  // because each request uses a context of its own
{
    public typealias Configuration = ModelConfiguration
    public typealias Snapshot = DefaultSnapshot
    public typealias HistoryType = DefaultHistoryTransaction
    public typealias TokenType = DefaultHistoryToken

    public let configuration: ModelConfiguration
    public let name: String
    public let schema: Schema
    private let container: ModelContainer

    /// The UUID of the store.
    public var identifier: String { container.coordinator.persistentStores.first?.identifier ?? "" }
    public static var historyType: DefaultHistoryTransaction.Type { DefaultHistoryTransaction.self }

    /// Opens the store.
    ///
    /// - Throws: ``SwiftDataError/unknownSchema`` for a configuration without a schema, and the errors of a container.
    public init(_ configuration: ModelConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)? = nil) throws {
        guard let schema = configuration.schema else {
            throw SwiftDataError.unknownSchema.because("The configuration \(configuration.name) has no schema.")
        }
        (self.configuration, name, self.schema) = (configuration, configuration.name, schema)
        container = try ModelContainer(for: schema, migrationPlan: migrationPlan, configurations: [configuration])
    }

    // MARK: - Fetching

    private func context(_ state: EditingState) -> ModelContext {
        let context = ModelContext(container)
        context.author = state.author
        return context
    }

    public func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        var related: [PersistentIdentifier: any BackingData] = [:]
        let models = try context(request.editingState).fetch(request.descriptor)
        let fetched = models.map { DefaultSnapshot(from: $0.persistentBackingData, relatedBackingDatas: &related) }
        let known = Set(fetched.map(\.persistentIdentifier))
        var ignored: [PersistentIdentifier: any BackingData] = [:]
        // Only the models whose relationships were requested: otherwise each fetch would read the whole graph.
        let wanted = request.descriptor.relationshipKeyPathsForPrefetching.isEmpty ? [:] : related
        let relatedSnapshots = wanted.filter { !known.contains($0.key) }
            .mapValues { DefaultSnapshot(from: $0, relatedBackingDatas: &ignored) }
        return DataStoreFetchResult(
            descriptor: request.descriptor, fetchedSnapshots: fetched, relatedSnapshots: relatedSnapshots)
    }

    public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try context(request.editingState).fetchCount(request.descriptor)
    }

    public func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] {
        try context(request.editingState).fetchIdentifiers(request.descriptor)
    }

    public func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: DefaultSnapshot] {
        let context = context(editingState)
        var ignored: [PersistentIdentifier: any BackingData] = [:]
        var found: [PersistentIdentifier: DefaultSnapshot] = [:]
        for identifier in persistentIdentifiers {
            guard let model = context.knownModel(for: identifier) else { continue }
            found[identifier] = DefaultSnapshot(from: model.erasedBackingData, relatedBackingDatas: &ignored)
        }
        return found
    }

    // MARK: - Saving

    public func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        let context = context(request.editingState)
        var models: [PersistentIdentifier: any PersistentModel] = [:]
        for snapshot in request.inserted {
            models[snapshot.persistentIdentifier] = try newModel(of: snapshot, in: context)
        }
        for snapshot in request.updated {
            models[snapshot.persistentIdentifier] = try storedModel(snapshot.persistentIdentifier, in: context)
        }
        for snapshot in request.inserted + request.updated {
            guard let model = models[snapshot.persistentIdentifier] else { continue }
            try snapshot.write(to: model) { try models[$0] ?? storedModel($0, in: context) }
        }
        for snapshot in request.deleted {
            context.delete(any: try storedModel(snapshot.persistentIdentifier, in: context))
        }
        try context.save()
        let remapped = request.inserted.map(\.persistentIdentifier).compactMap { old in
            models[old].map { (old, $0.persistentModelID) }
        }
        return DataStoreSaveChangesResult(
            for: identifier, remappedIdentifiers: Dictionary(remapped, uniquingKeysWith: { $1 }),
            historyToken: container.coordinator.currentPersistentHistoryToken(fromStores: nil)
                .map { DefaultHistoryToken($0) })
    }

    private func newModel(of snapshot: DefaultSnapshot, in context: ModelContext) throws -> any PersistentModel {
        let name = snapshot.persistentIdentifier.entityName
        guard let modelClass = container.modelClass(named: name) else {
            throw SwiftDataError.unknownSchema.because("The store has no entity \(name).")
        }
        return context.insertNew(modelClass)
    }

    private func storedModel(
        _ identifier: PersistentIdentifier, in context: ModelContext
    ) throws -> any PersistentModel {
        guard container.modelClass(named: identifier.entityName) != nil else {
            throw SwiftDataError.unknownSchema.because("The store has no entity \(identifier.entityName).")
        }
        guard let model = context.knownModel(for: identifier) else {
            throw CocoaError(
                CocoaError.Code(rawValue: 133_000),  // NSManagedObjectReferentialIntegrityError
                userInfo: [NSLocalizedFailureReasonErrorKey: "The store has no row \(identifier.id.uri)."])
        }
        return model
    }

    public func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
        let context = context(request.editingState)
        try context.delete(
            model: T.self, where: request.predicate, includeSubclasses: request.includeSubclasses)
        try context.save()
    }

    public func erase() throws { try container.erase() }

    /// Does nothing: each request has a context of its own.
    public func initializeState(for editingState: EditingState) {}
    /// Does nothing: each request has a context of its own.
    public func invalidateState(for editingState: EditingState) {}

    // MARK: - History

    public func fetchHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] {
        try ModelContext(container).fetchHistory(descriptor)
    }

    public func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        try ModelContext(container).deleteHistory(descriptor)
    }
}
