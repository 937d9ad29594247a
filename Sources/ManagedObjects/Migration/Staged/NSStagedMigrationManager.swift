import Foundation

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
