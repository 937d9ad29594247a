import AtomicFiles
import CoreDataErrors
import Foundation
import ManagedObjects
import MemoryStores

/// The migration of a store that is added to a coordinator and was written with another version of its model.
///
/// The source model is the one in the program's bundles whose version hashes the store has, or else the model that the
/// store contains: an addition to Core Data. A mapping model in the bundles takes precedence over an inferred one. With an
/// inferred mapping, a store in SQLite or PostgreSQL is migrated in place by SQL. Otherwise the new store is created beside the old one and
/// replaces it when it is complete. The store keeps its UUID, the program's own metadata and, if tables are not merged, the
/// primary keys.
struct StoreMigration {
    let coordinator: NSPersistentStoreCoordinator
    let storeClass: NSPersistentStore.Type
    let type: String
    var url: URL
    let configuration: String?
    let options: [AnyHashable: Any]
    let metadata: [String: Any]
    let isReadOnly: Bool

    /// Nil if the store fits the coordinator's model or is not to be migrated.
    init?(of store: NSPersistentStore, in coordinator: NSPersistentStoreCoordinator) {
        guard store.flag(forOption: NSMigratePersistentStoresAutomaticallyOption), !coordinator.isFitting(store),
            let url = store.url, let metadata = store.metadata
        else { return nil }
        self.coordinator = coordinator
        storeClass = Swift.type(of: store)
        type = store.type
        self.url = url
        configuration = store.configurationIfAny
        options = store.options ?? [:]
        self.metadata = metadata
        isReadOnly = store.isReadOnly
    }

    /// Migrates the store. Afterwards it has the coordinator's model.
    ///
    /// - Throws: Code 134130 if no source model is found, 134140 if no mapping model is found and none can be inferred,
    ///   134100 if the store is to be opened for reading only, and errors of the migration. The store is then unchanged.
    func run() throws {
        guard !isReadOnly else {
            throw CocoaError(
                .persistentStoreIncompatibleVersionHash,
                "The store was written with another version of the model and cannot be migrated, because it is opened for "
                    + "reading only.",
                url: url, userInfo: ["metadata": metadata, "reason": "The store is read-only."])
        }
        if let manager = options[NSPersistentStoreStagedMigrationManagerOptionKey] as? NSStagedMigrationManager {
            return try StagedMigration(manager: manager, migration: self).run()
        }
        try migrate(to: coordinator.managedObjectModel)
    }

    /// The class of the store if it is in a database: it is then migrated by statements.
    var database: (any DatabaseStore.Type)? { storeClass as? any DatabaseStore.Type }

    /// The migration of another file, which is a copy of the store.
    func at(_ url: URL) -> StoreMigration {
        var other = self
        other.url = url
        return other
    }

    /// Migrates the store from its present version to another.
    ///
    /// - Parameter models: The intermediate versions, to which the store is migrated in turn; each step is inferred,
    ///   and all steps are one transaction. In SQLite and PostgreSQL only.
    func migrate(to model: NSManagedObjectModel, through models: [NSManagedObjectModel] = []) throws {
        // A stage may have migrated the store since it was opened.
        let metadata =
            database != nil ? try storeClass.metadataForPersistentStore(with: url) : self.metadata
        let sourceModel = try sourceModel(metadata)
        var steps = [sourceModel] + models + [model]
        if !models.isEmpty, database != nil {
            for (before, after) in zip(steps, steps.dropFirst()) { _ = try inferredMapping(from: before, to: after) }
        } else {
            let mapping = try mappingModel(from: sourceModel, to: model)
            guard mapping.isInferred, database != nil else {
                return try migrateByObjects(from: sourceModel, to: model, mapping)
            }
            steps = [sourceModel, model]
        }
        try InPlaceMigration(url: url, configuration: configuration, options: options, models: steps).run()
    }

    // MARK: - Models

    private func sourceModel(_ metadata: [String: Any]) throws -> NSManagedObjectModel {
        if let found = NSManagedObjectModel.mergedModel(from: Self.bundles, forStoreMetadata: metadata) { return found }
        if let own = try? database?.storedModel(at: url),
            let found = NSManagedObjectModel(byMerging: [own], forStoreMetadata: metadata)
        {
            return found
        }
        throw CocoaError(
            .migrationMissingSourceModel,
            "The store was written with another version of the model, which is neither in the program's bundles nor in the "
                + "store. Add that version to the program.",
            url: url, userInfo: ["metadata": metadata, "reason": "Can't find model for source store"])
    }

    private static var bundles: [Bundle] { [.main] + (Bundle.allBundles + Bundle.allFrameworks).filter { $0 != .main } }

    private func mappingModel(
        from sourceModel: NSManagedObjectModel, to model: NSManagedObjectModel
    ) throws -> NSMappingModel {
        if let found = NSMappingModel(from: Self.bundles, forSourceModel: sourceModel, destinationModel: model) {
            return found
        }
        return try inferredMapping(from: sourceModel, to: model)
    }

    private func inferredMapping(
        from sourceModel: NSManagedObjectModel, to model: NSManagedObjectModel
    ) throws -> NSMappingModel {
        var userInfo: [String: Any] = ["sourceModel": sourceModel, "destinationModel": model]
        guard NSPersistentStore.flag(NSInferMappingModelAutomaticallyOption, in: options) else {
            userInfo["reason"] = "Can't find mapping model for migration"
            throw CocoaError(
                .migrationMissingMappingModel,
                "Persistent store migration failed: the program's bundles have no mapping model of the two versions of the "
                    + "model. To infer one, add the store with NSInferMappingModelAutomaticallyOption.",
                url: url, userInfo: userInfo)
        }
        do {
            return try NSMappingModel.inferredMappingModel(
                from: sourceModel, to: model, configuration: configuration)
        } catch {
            userInfo["reason"] = error.localizedDescription
            userInfo[NSUnderlyingErrorKey] = error
            throw CocoaError(
                .migrationMissingMappingModel,
                "Persistent store migration failed: the program's bundles have no mapping model of the two versions of the "
                    + "model. \(error.localizedDescription)",
                url: url, userInfo: userInfo)
        }
    }

    // MARK: - By objects

    private func migrateByObjects(
        from sourceModel: NSManagedObjectModel, to model: NSManagedObjectModel, _ mapping: NSMappingModel
    ) throws {
        let manager = NSMigrationManager(sourceModel: sourceModel, destinationModel: model)
        manager.keepsHistory = true
        manager.destinationConfiguration = configuration
        manager.destinationIdentifier = metadata[NSStoreUUIDKey] as? String
        // Apple's in-place migration does not validate objects either.
        manager.validatesDestination = !mapping.isInferred
        if let database {
            return try database.replaceStore(at: url, metadata: metadata) { source, destination in
                try migrate(manager, from: source, to: destination, mapping)
            }
        }
        guard storeClass is NSAtomicStore.Type, url.isFileURL else {
            throw CocoaError(
                .migration, "Stores of the class \(storeClass) cannot be migrated when they are added.", url: url)
        }
        let folder = try PartialFolder(for: url)
        try migrate(manager, from: url, to: folder.item, mapping)
        try folder.commit()
    }

    private func migrate(
        _ manager: NSMigrationManager, from source: URL, to destination: URL, _ mapping: NSMappingModel
    )
        throws
    {
        var options = options
        // The history is copied at the end; the insertions of the manager are not recorded, because they are not
        // changes of the program.
        for key in [NSMigratePersistentStoresAutomaticallyOption, NSPersistentHistoryTrackingKey] { options[key] = nil }
        try manager.migrateStore(
            from: source, sourceType: type, options: options, with: mapping, toDestinationURL: destination,
            destinationType: type, destinationOptions: options)
    }
}
