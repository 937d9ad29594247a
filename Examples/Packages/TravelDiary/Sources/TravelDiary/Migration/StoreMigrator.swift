import CoreData
import Foundation

/// Migrates a store of version 1 with the policy for travelers.
public final class StoreMigrator {
    private let bundle: Bundle

    public init() {
        bundle = .module
    }

    func model(named name: String) throws -> NSManagedObjectModel {
        guard
            let url = bundle.url(forResource: name, withExtension: "mom", subdirectory: "TravelDiary.momd"),
            let model = NSManagedObjectModel(contentsOf: url)
        else { throw TravelDiaryError.missingModel }
        return model
    }

    /// Whether a store must be migrated before it can be loaded.
    public func needsMigration(_ url: URL) throws -> Bool {
        guard FileManager.default.fileExists(atPath: url.path) else { return false }
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: url)
        return try !model(named: "TravelDiary 2").isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    }

    public func migrate(_ url: URL) throws {
        let source = try model(named: "TravelDiary")
        let destination = try model(named: "TravelDiary 2")
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
        for entityMapping in mapping.entityMappings where entityMapping.destinationEntityName == "Traveler" {
            entityMapping.mappingType = .customEntityMappingType
            entityMapping.entityMigrationPolicyClassName = NSStringFromClass(TravelerMigrationPolicy.self)
        }
        let temporary = url.deletingLastPathComponent().appendingPathComponent(UUID().uuidString + ".sqlite")
        let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
        try manager.migrateStore(
            from: url, sourceType: NSSQLiteStoreType, options: nil, with: mapping, toDestinationURL: temporary,
            destinationType: NSSQLiteStoreType, destinationOptions: nil)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: destination)
        try coordinator.replacePersistentStore(
            at: url, destinationOptions: nil, withPersistentStoreFrom: temporary, sourceOptions: nil,
            ofType: NSSQLiteStoreType)
        try coordinator.destroyPersistentStore(at: temporary, ofType: NSSQLiteStoreType, options: nil)
    }
}
