import CoreDataErrors
import Foundation
import FoundationAdditions
import ManagedObjects
import PredicateLanguage
import Synchronization

/// Migrates a store to another version of its model, by the objects of two contexts.
///
/// Three stages, each for all mappings in order: the destination instances are created with their attributes; their
/// relationships are set; they are validated and saved. The models of the contexts are copies in which every class is
/// `NSManagedObject`: no class of the program is instantiated. Memory: all destination instances, until they are saved.
///
/// A manager belongs to the thread that calls `migrateStore`; ``cancelMigrationWithError(_:)`` and ``migrationProgress``
/// may be called from any thread.
open class NSMigrationManager: NSObject {
    /// The models as they were given.
    final let originalModels: (source: NSManagedObjectModel, destination: NSManagedObjectModel)

    final var associations = MigrationAssociations()
    final var currentMapping: NSEntityMapping?
    final var currentMappingModel: NSMappingModel?
    /// The configuration of the destination model whose entities the destination store has; nil is all.
    final var destinationConfiguration: String?
    /// The UUID of a destination store that is created; nil is a new one.
    final var destinationIdentifier: String?
    /// Whether the destination instances are validated when they are saved.
    final var validatesDestination = true
    /// The root entities of the destination model whose rows keep the primary keys of the source.
    final var rootsKeepingKeys: Set<String> = []
    /// The keys in use in those of these tables that get several objects for one of the old store, of which one keeps the key.
    final var keysInUse: [String: Set<Int64>] = [:]
    /// Whether a new SQLite store receives the history of the source.
    package final var keepsHistory = false
    /// The store that receives the destination instances, while a migration runs.
    final var destinationStore: NSPersistentStore?
    private let shared = Mutex(SharedState())

    private struct SharedState {
        var progress: Float = 0
        var cancellation: (any Error)?
        // Unsafe because an observation is only called on the thread that migrates.
        nonisolated(unsafe) var observations: [Observer] = []
    }

    private struct Observer {
        weak var observation: NSKeyValueObservation?
    }

    /// Creates a manager. Checks take place when a store is migrated. The models can no longer be changed.
    ///
    /// Cost: a copy of each model.
    public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
        sourceModel.freeze()
        destinationModel.freeze()
        originalModels = (sourceModel, destinationModel)
        stacks = (MigrationStack(sourceModel), MigrationStack(destinationModel))
        super.init()
    }

    final let stacks: (source: MigrationStack, destination: MigrationStack)

    // MARK: - Models

    /// The model of the source store.
    open var sourceModel: NSManagedObjectModel { originalModels.source }

    /// The model of the destination store.
    open var destinationModel: NSManagedObjectModel { originalModels.destination }

    /// The mapping model of the current migration; without mappings when none has begun.
    open var mappingModel: NSMappingModel { currentMappingModel ?? NSMappingModel() }

    /// The source entity of a mapping, in the model of the source context; nil if the mapping has none.
    open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.sourceEntityName.flatMap { stacks.source.model.entitiesByName[$0] }
    }

    /// The destination entity of a mapping, in the model of the destination context; nil if the mapping has none.
    open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
        mEntity.destinationEntityName.flatMap { stacks.destination.model.entitiesByName[$0] }
    }

    // MARK: - State

    /// The context that the source instances are fetched in.
    open var sourceContext: NSManagedObjectContext { stacks.source.context }

    /// The context that the destination instances are inserted in.
    open var destinationContext: NSManagedObjectContext { stacks.destination.context }

    /// The mapping that is processed: in each of the three stages, every mapping in turn. An empty mapping while no
    /// migration runs.
    open var currentEntityMapping: NSEntityMapping { currentMapping ?? NSEntityMapping() }

    /// The part of the migration that is done, from 0 to 1; 0 again after it. It can be observed:
    /// `manager.observe(\.migrationProgress) { manager, change in … }`.
    open var migrationProgress: Float { shared.withLock { $0.progress } }

    /// Values that policies share.
    open var userInfo: [AnyHashable: Any]?

    /// Whether the class of the destination store may name another manager, by ``NSPersistentStore/migrationManagerClass()``.
    /// SQLite stores name this class: they are migrated by SQL when they are added to a coordinator, and a manager always
    /// works through objects.
    open var usesStoreSpecificMigrationManager: Bool = true

    /// Makes the current call of `migrateStore`, or the next one if none runs, throw the error before the next instance.
    open func cancelMigrationWithError(_ error: any Error) { shared.withLock { $0.cancellation = error } }

    /// Removes all associations. The contexts keep their objects.
    open func reset() { associations.removeAll() }

    /// The value of `FUNCTION($manager, "selector:", …)`, where the method is a subclass's own: an addition to Core Data's API. On
    /// Apple's platforms the expression calls the method; a method cannot be found by its selector in Swift alone.
    ///
    /// - Throws: An error that names the selector, unless a subclass overrides the method for it.
    open func value(forFunction selector: String, arguments: [Any?]) throws -> Any? {
        throw PredicateEvaluationError(
            .unknownFunction,
            "A value expression calls “\(selector)” of \(type(of: self)), which does not override "
                + "value(forFunction:arguments:) for it.")
    }

    final func setProgress(_ progress: Float) {
        let observations = shared.withLock { $0.observations.compactMap(\.observation) }
        for observation in observations { observation.willChange?(nil) }
        shared.withLock { $0.progress = progress }
        for observation in observations { observation.didChange?(nil) }
    }

    final func add(_ observation: NSKeyValueObservation) {
        shared.withLock { $0.observations.append(Observer(observation: observation)) }
    }

    /// - Throws: The error of ``cancelMigrationWithError(_:)``.
    final func checkCancellation() throws {
        if let error = shared.withLock({ $0.cancellation }) { throw error }
    }

    /// Removes what an earlier migration of this manager has left. Its instances belong to no context any more, and a
    /// destination that exists may have rows with the primary keys of the source.
    final func begin() {
        associations.removeAll()
        rootsKeepingKeys = []
        keysInUse = [:]
    }

    private func end() {
        shared.withLock { state in
            state.progress = 0
            state.cancellation = nil
        }
    }

    // MARK: - Migration

    /// Migrates a store. The source is opened for reading only and is not changed. A destination that exists receives the
    /// migrated objects in addition to its own; one that does not exist is created, with the program's own metadata of the
    /// source, and removed if the migration fails.
    ///
    /// - Throws: Code 134110 if the class of the destination store names another manager and
    ///   ``usesStoreSpecificMigrationManager`` is true; code 134140 if there is no mapping model or it does not fit the models, 134150 and 134160 if the source
    ///   or the destination cannot be opened, 134111 if migrated rows break a uniqueness constraint, the error of
    ///   ``cancelMigrationWithError(_:)``, errors of policies, and validation errors of the save.
    open func migrateStore(
        from sourceURL: URL, sourceType sStoreType: String, options sOptions: [AnyHashable: Any]? = nil,
        with mappings: NSMappingModel?, toDestinationURL dURL: URL, destinationType dStoreType: String,
        destinationOptions dOptions: [AnyHashable: Any]? = nil
    ) throws {
        guard let mappings else {
            throw CocoaError(
                .migrationMissingMappingModel, "There is no mapping model for the migration.", url: sourceURL,
                userInfo: ["sourceModel": sourceModel, "destinationModel": destinationModel])
        }
        try requireOwnClass(dStoreType, dURL)
        currentMappingModel = mappings
        let run = MigrationRun(
            manager: self, source: (sourceURL, sStoreType, sOptions), destination: (dURL, dStoreType, dOptions))
        defer {
            currentMapping = nil
            end()
        }
        try run.run(mappings)
    }

    /// A manager of another class cannot be created here: Swift has no initialiser of a class that is known by its value only,
    /// unless all subclasses declare it.
    private func requireOwnClass(_ storeType: String, _ url: URL) throws {
        guard usesStoreSpecificMigrationManager, let storeClass = StoreClasses.shared.all[storeType] else { return }
        let managerClass: AnyClass = storeClass.migrationManagerClass()
        guard managerClass != NSMigrationManager.self, managerClass != type(of: self) else { return }
        throw CocoaError(
            .migration,
            "The store class \(storeClass) is migrated by the class \(managerClass). Use a manager of that class, or set "
                + "usesStoreSpecificMigrationManager to false.", url: url)
    }

    /// Migrates a store. See
    /// ``migrateStore(from:sourceType:options:with:toDestinationURL:destinationType:destinationOptions:)``.
    public func migrateStore(
        from sourceURL: URL, type sourceType: NSPersistentStore.StoreType,
        options sourceOptions: [AnyHashable: Any]? = nil,
        mapping: NSMappingModel, to destinationURL: URL, type destinationType: NSPersistentStore.StoreType,
        options destinationOptions: [AnyHashable: Any]? = nil
    ) throws {
        try migrateStore(
            from: sourceURL, sourceType: sourceType.rawValue, options: sourceOptions, with: mapping,
            toDestinationURL: destinationURL, destinationType: destinationType.rawValue,
            destinationOptions: destinationOptions)
    }

    // MARK: - Associations

    /// Records that a destination instance was created for a source instance. Default policies call it.
    open func associate(
        sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
        for entityMapping: NSEntityMapping
    ) {
        associations.add(sourceInstance, destinationInstance, mapping: entityMapping.name)
    }

    /// The destination instances that a mapping has created for source instances, in their order; nil means all of the
    /// mapping.
    open func destinationInstances(
        forEntityMappingName mappingName: String, sourceInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        guard let sourceInstances else { return associations.destinations(mapping: mappingName) }
        return sourceInstances.flatMap { associations.destinations(of: $0.objectID, mapping: mappingName) }
    }

    /// The source instances that a mapping has created destination instances for, in their order; nil means all of the
    /// mapping.
    open func sourceInstances(
        forEntityMappingName mappingName: String, destinationInstances: [NSManagedObject]?
    ) -> [NSManagedObject] {
        let sources =
            destinationInstances.map { instances in
                instances.flatMap { associations.sources(of: $0, mapping: mappingName) }
            } ?? associations.sources(mapping: mappingName)
        return sources.map { sourceContext.object(with: $0) }
    }
}

extension NSMigrationManager: KeyValueObservable {}

extension KeyValueObservable where Self: NSMigrationManager {
    /// Calls a block whenever the progress of a migration has changed, on the thread that migrates. That the progress is 0 again after
    /// the migration is not announced.
    ///
    /// - Returns: The observation. Keep a reference to it: it ends when it is deallocated.
    public func observe(
        _ keyPath: KeyPath<Self, Float>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Self, NSKeyValueObservedChange<Float>) -> Void
    ) -> NSKeyValueObservation {
        let observation = NSKeyValueObservation(
            of: self, key: "migrationProgress", options: options, value: { $0[keyPath: keyPath] }, changeHandler)
        add(observation)
        if options.contains(.initial) { observation.didChange?(nil) }
        return observation
    }
}
