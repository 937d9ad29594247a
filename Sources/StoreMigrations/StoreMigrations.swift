import Foundation
import ManagedObjects

// Migration. Reading begins here.
//
// `InferredMapping` (in `ModelFiles`) is the mapping of two models as a value; `NSMappingModel` makes mappings from this value, or reads
// them from a `.cdm` or an `.xcmappingmodel` (`MappingArchive`, `MappingSource`). `StoreMigration` finds the models when a store is added.
//
// By objects: `MigrationRun` is one call of a manager. It has two `MigrationStack`s with copies of the models, and three stages, which
// share `MigrationAssociations`; `MappingValues` evaluates the expressions. The new store copies the history (`MigratedHistory`).
//
// In place, without objects: `InPlaceMigration` names the work, and `SQLStores/Migration` does it. `MigratedSchema` relates the tables and
// columns of two schemas, and `InPlacePlan` is the list of statements, executed in one transaction: `TableMigration` and
// `JoinTableMigration` for each table, `LinkMigration` for a relationship that is stored in another way, `ReferenceMigration` and
// `DerivedColumns` for values that depend on other rows, `DeferredCleanUp` for what is removed later. After it, connections with the old
// model throw errors (`StoreConnection.refuseStates(unless:)`).
//
// In stages: `StagedMigration` runs the stages of a manager, each custom stage on a copy (`StoreReplacement`).

/// The migration of this module, which the engine finds by the name of this class.
package final class Migrations: StoreMigrating {
    package init() {}

    package func migrate(
        _ store: NSPersistentStore, in coordinator: NSPersistentStoreCoordinator, willMigrate: () -> Void
    ) throws -> Bool {
        guard let migration = StoreMigration(of: store, in: coordinator) else { return false }
        willMigrate()
        try migration.run()
        return true
    }

    package var managerClass: AnyClass { NSMigrationManager.self }
}
