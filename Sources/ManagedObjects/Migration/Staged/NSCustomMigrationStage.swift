import Foundation

/// An inferred migration between two versions of a model, with code that is run before and after it.
open class NSCustomMigrationStage: NSMigrationStage {
    /// The version before the migration.
    public let currentModel: NSManagedObjectModelReference
    /// The version after the migration.
    public let nextModel: NSManagedObjectModelReference
    /// Called before the migration; the manager's container has the current model. An error ends the migration, and the
    /// store stays at the current version, without the changes of the handler.
    open var willMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?
    /// Called after the migration; the manager's container has the next model. An error ends the migration, and the store
    /// stays at the current version, without the changes of either handler.
    open var didMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?

    /// Creates a stage between two versions.
    public init(
        migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference
    ) {
        self.currentModel = currentModel
        self.nextModel = nextModel
        super.init()
    }
}
