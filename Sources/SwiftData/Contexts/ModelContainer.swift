import CoreData
import Foundation
import ManagedObjects
import Synchronization

/// The stores of a schema, from which contexts read and to which they save.
///
/// ```swift
/// let container = try ModelContainer(for: Trip.self)
/// let context = ModelContext(container)
/// ```
///
/// Opening a store creates it, or migrates it: by inference, or by the stages of a ``SchemaMigrationPlan``.
public class ModelContainer: Equatable, @unchecked Sendable {  // because what changes is guarded by a lock
    public final let schema: Schema
    public final let migrationPlan: (any SchemaMigrationPlan.Type)?
    package final let coordinator: NSPersistentStoreCoordinator
    private let state: Mutex<State>
    private final var remoteChanges: RemoteChanges?
    /// The stores of the program's own kinds.
    final let dataStores: [any SnapshotStore]

    private struct State: @unchecked Sendable {  // because schemas in configurations are not changed
        var configurations: Set<ModelConfiguration>
    }

    public var configurations: Set<ModelConfiguration> {
        get { state.withLock { $0.configurations } }
        set { state.withLock { $0.configurations = newValue } }
    }

    /// Opens the stores of some models.
    ///
    /// - Parameters:
    ///   - forTypes: The models; those that they refer to are added.
    ///   - configurations: Where the models are kept; the default configuration if empty.
    /// - Throws: ``SwiftDataError``, or the `CocoaError` of the store that cannot be opened.
    public convenience init(
        for forTypes: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration...
    ) throws {
        try self.init(for: Schema(forTypes), migrationPlan: migrationPlan, configurations: configurations)
    }

    /// Opens the stores of a schema.
    public convenience init(
        for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration...
    ) throws {
        try self.init(for: givenSchema, migrationPlan: migrationPlan, configurations: configurations)
    }

    /// Opens the stores of a schema.
    public init(
        for givenSchema: Schema, migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: [ModelConfiguration]
    ) throws {
        schema = givenSchema
        self.migrationPlan = migrationPlan
        let configurations = configurations.isEmpty ? [ModelConfiguration()] : configurations
        state = Mutex(State(configurations: Set(configurations)))
        coordinator = try StoreOpening(schema: givenSchema, plan: migrationPlan, configurations: configurations).open()
        dataStores = []
        remoteChanges = postRemoteChanges()
    }

    /// Opens stores of any kind for some models.
    ///
    /// - Throws: ``SwiftDataError``, the error of a store, or that of a configuration's `validate()`.
    @_disfavoredOverload
    public convenience init(
        for forTypes: any PersistentModel.Type..., configurations: any DataStoreConfiguration...
    ) throws {
        try self.init(for: Schema(forTypes), configurations: configurations)
    }

    /// Opens stores of any kind for a schema.
    @_disfavoredOverload
    public init(for givenSchema: Schema, configurations: [any DataStoreConfiguration]) throws {
        (schema, migrationPlan) = (givenSchema, nil)
        let configurations = configurations.isEmpty ? [ModelConfiguration()] : configurations
        state = Mutex(State(configurations: Set(configurations.compactMap { $0 as? ModelConfiguration })))
        let opening = StoreOpening(schema: givenSchema, plan: nil, configurations: configurations)
        coordinator = try opening.open()
        dataStores = try coordinator.persistentStores.compactMap { try ($0 as? CustomStore)?.dataStore }
        remoteChanges = postRemoteChanges()
    }

    /// A container over stores that are open already.
    init(schema: Schema, coordinator: NSPersistentStoreCoordinator, configuration: ModelConfiguration) {
        (self.schema, migrationPlan, self.coordinator) = (schema, nil, coordinator)
        dataStores = []
        state = Mutex(State(configurations: [configuration]))
    }

    /// The context of the main actor, which saves by itself; see ``ModelContext/autosaveEnabled``.
    @MainActor public var mainContext: ModelContext {
        if let madeMainContext { return madeMainContext }
        let made = ModelContext(self, isMain: true)
        madeMainContext = made
        return made
    }
    /// The main context, if it is used.
    @MainActor final private(set) var madeMainContext: ModelContext?

    /// Deletes the files of all stores and creates empty ones. Existing contexts must not be used any more.
    ///
    /// - Throws: The error of the file system or the store.
    public func erase() throws {
        for store in coordinator.persistentStores {
            if let store = store as? CustomStore {
                try store.erase()
                continue
            }
            guard let url = store.url else { continue }
            let (type, configuration, options) = (store.type, store.configurationName, store.options)
            try coordinator.remove(store)
            let destruction = Result { try coordinator.destroyPersistentStore(at: url, ofType: type, options: options) }
            // After a failure too: the container keeps its stores, and what is in them.
            try coordinator.addPersistentStore(
                ofType: type, configurationName: configuration, at: url, options: options)
            try destruction.get()
        }
    }

    /// Deletes all models, as ``erase()`` does. An error is printed; use ``erase()`` to handle it.
    public func deleteAllData() {
        do {
            try erase()
        } catch {
            FileHandle.standardError.write(Data("SwiftData: The data could not be deleted: \(error)\n".utf8))
        }
    }

    /// Whether both are the same container.
    public static func == (lhs: ModelContainer, rhs: ModelContainer) -> Bool { lhs === rhs }

    /// The custom store that keeps the models of a class; nil if a store of the engine does.
    func customStore(of type: any PersistentModel.Type) -> CustomStore? {
        if dataStores.isEmpty { return nil }
        let name = ModelClass.of(type).name
        return coordinator.persistentStores.first { store in
            coordinator.managedObjectModel.entities(forConfigurationName: store.configurationName)?
                .contains { $0.name == name } ?? false
        } as? CustomStore
    }

    /// The class of an entity.
    func modelClass(named name: String) -> ModelClass? {
        coordinator.managedObjectModel.entitiesByName[name]?.companion as? ModelClass
    }
}

/// Opens the stores of a container.
struct StoreOpening {
    let schema: Schema
    let plan: (any SchemaMigrationPlan.Type)?
    let configurations: [any DataStoreConfiguration]

    func open() throws -> NSPersistentStoreCoordinator {
        try checkConfigurations()
        let model = try ManagedModelBuilder.model(of: schema)
        for configuration in configurations where configurations.count > 1 {
            let names = Set(try entityNames(of: configuration))
            model.setEntities(
                model.entities.filter { names.contains($0.name ?? "") }, forConfigurationName: configuration.name)
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        ModelClass.note(schema.classes)
        for configuration in configurations {
            let part = configurations.count > 1 ? configuration.name : nil
            guard let configuration = configuration as? ModelConfiguration else {
                try add(configuration, part, to: coordinator)
                continue
            }
            if !configuration.isStoredInMemoryOnly {
                try FileManager.default.createDirectory(
                    at: configuration.url.deletingLastPathComponent(), withIntermediateDirectories: true)
                let part = part == nil ? nil : Set(try entityNames(of: configuration))
                try MigrationRunner(schema: schema, plan: plan, part: part).migrate(configuration)
            }
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: part, at: configuration.url,
                options: Self.options(of: configuration))
        }
        return coordinator
    }

    /// Opens a store of the program's own kind.
    private func add(
        _ configuration: any DataStoreConfiguration, _ part: String?, to coordinator: NSPersistentStoreCoordinator
    ) throws {
        CustomStore.isUsed.store(true, ordering: .relaxed)
        NSPersistentStoreCoordinator.registerStoreClass(CustomStore.self, type: .init(rawValue: CustomStore.type))
        try coordinator.addPersistentStore(
            ofType: CustomStore.type, configurationName: part,
            at: URL(fileURLWithPath: "/dev/null").appendingPathComponent(configuration.name),
            options: [CustomStore.dataStoreKey: try configuration.open(with: schema, plan)])
    }

    static func options(of configuration: ModelConfiguration) -> [AnyHashable: Any] {
        [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            NSPersistentHistoryTrackingKey: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
            NSReadOnlyPersistentStoreOption: !configuration.allowsSave,
        ]
    }

    private func checkConfigurations() throws {
        for configuration in configurations { try configuration.validate() }
        let files = configurations.compactMap { $0 as? ModelConfiguration }.filter { !$0.isStoredInMemoryOnly }
        if Set(files.map(\.url)).count != files.count || Set(configurations.map(\.name)).count != configurations.count {
            throw SwiftDataError.duplicateConfiguration.because("Two configurations have the same name or file.")
        }
    }

    /// The entities that a configuration keeps: those of its schema, or of the container's.
    private func entityNames(of configuration: any DataStoreConfiguration) throws -> [String] {
        guard let part = configuration.schema else { return schema.entities.map(\.name) }
        if let missing = part.entities.first(where: { schema.entitiesByName[$0.name] == nil }) {
            throw SwiftDataError.configurationSchemaNotFoundInContainerSchema.because(
                "The configuration \(configuration.name) has \(missing.name), which the container's schema does not have."
            )
        }
        return part.entities.map(\.name)
    }
}
