import Foundation
import ManagedObjects

/// A stage of a staged migration: ``NSLightweightMigrationStage`` or ``NSCustomMigrationStage``.
open class NSMigrationStage: NSObject {
    /// A name for messages.
    open var label: String!

    override init() {}
}

/// Versions of a model between which a store is migrated by inference. Consecutive lightweight stages are one inferred
/// migration, from the version of the store to the last one, unless ``ChainedLightweightStagesOption`` is set.
open class NSLightweightMigrationStage: NSMigrationStage {
    /// The checksums of the versions; see ``NSManagedObjectModel/versionChecksum``.
    public let versionChecksums: [String]

    /// Creates a stage of the versions with these checksums.
    public init(_ versionChecksums: [String]) {
        self.versionChecksums = versionChecksums
        super.init()
    }
}

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

/// The option whose value is the ``NSStagedMigrationManager`` of a store.
public let NSPersistentStoreStagedMigrationManagerOptionKey: String = "NSPersistentStoreStagedMigrationManagerOptionKey"

/// Whether a staged migration visits each version of its lightweight stages, so that only neighbouring versions must be
/// inferable: a Boolean. The models are those of ``NSStagedMigrationManager/lightweightModels``, of the custom stages and of
/// the program's bundles. An addition to Core Data.
public let ChainedLightweightStagesOption: String = "CoralChainedLightweightStagesOption"

/// Migrates a store through several versions of its model, with code between them.
///
/// Pass it with ``NSPersistentStoreStagedMigrationManagerOptionKey``, besides the two options of automatic migration. Use it
/// for one store at a time.
open class NSStagedMigrationManager: NSObject {
    /// The stages, in the order in which they are run.
    public let stages: [NSMigrationStage]

    /// A container with the store, while a handler runs; nil otherwise. Save the changes of its contexts in the handler.
    open internal(set) var container: NSPersistentContainer?

    /// The models of versions of lightweight stages, for ``ChainedLightweightStagesOption``. An addition to Core Data.
    open var lightweightModels: [NSManagedObjectModelReference] = []

    /// Creates a manager of stages.
    public init(_ stages: [NSMigrationStage]) { self.stages = stages }
}
