import CoreDataErrors
import Foundation

// The engine has no store and migrates none. The modules above it add both; each has a class that the engine finds by its name. They are
// a part of every program, because the module `CoreData` depends on them.

/// A list of classes of stores.
package protocol StoreDirectory {
    init()
    /// The classes, by the type of their stores.
    var classes: [String: NSPersistentStore.Type] { get }
}

/// The migration of stores that were written with another version of their model.
package protocol StoreMigrating: Sendable {
    init()
    /// Migrates a store whose metadata have been read, if its options ask for it and its model is not the coordinator's.
    ///
    /// - Parameter willMigrate: Called before the migration: closes the store.
    /// - Returns: Whether it was migrated.
    func migrate(
        _ store: NSPersistentStore, in coordinator: NSPersistentStoreCoordinator, willMigrate: () -> Void
    ) throws -> Bool
    /// `NSMigrationManager`.
    var managerClass: AnyClass { get }
}

enum LinkedModules {
    /// The classes of the engine's own stores, by type: those in memory, in databases.
    static let storeClasses: [String: NSPersistentStore.Type] =
        ["MemoryStores.MemoryStoreDirectory", "SQLStores.SQLStoreDirectory"]
        .compactMap { NSClassFromString($0) as? any StoreDirectory.Type }
        .reduce(into: [:]) { classes, directory in classes.merge(directory.init().classes) { $1 } }

    /// Nil in a program that links the engine alone.
    static let migration: (any StoreMigrating)? =
        (NSClassFromString("StoreMigrations.Migrations") as? any StoreMigrating.Type)?.init()
}
