import Foundation

/// A class of stores that can be deleted and replaced while they are closed.
package protocol LocatedStore: NSPersistentStore {
    /// Whether stores are in files.
    static var areFiles: Bool { get }

    /// Deletes a store.
    ///
    /// - Parameter isForced: Whether files that cannot be opened are deleted too.
    static func destroyStore(at url: URL, isForced: Bool) throws

    /// Replaces a store by a copy of another one, or creates the copy.
    static func replaceStore(at destination: URL, withStoreFrom source: URL) throws
}

/// A store in a database: what the engine asks beyond the rows.
///
/// The classes are in the module `SQLStores`. The engine itself knows no SQL.
package protocol DatabaseStore: LocatedStore, RowStore {
    /// Whether a location, like `/dev/null`, means a store in memory, which exists as long as it is open.
    static func isInMemory(_ url: URL) -> Bool

    /// The model that a store contains; nil if it contains none.
    static func storedModel(at url: URL) throws -> NSManagedObjectModel?

    /// Migrates a store where it is, by statements.
    static func migrate(_ migration: InPlaceMigration) throws

    /// Replaces a store by its other version, which a closure creates. If anything fails, the store is as it was.
    ///
    /// - Parameters:
    ///   - metadata: The metadata with which the store was opened: it is not replaced if another process has migrated it since.
    ///   - create: Creates the other version from the store at the first location, at the second one.
    static func replaceStore(
        at url: URL, metadata: [String: Any], _ create: (_ source: URL, _ destination: URL) throws -> Void
    ) throws

    /// Calls a closure with the location of the store, or with that of a copy that replaces the store when the closure ends.
    static func changeCopy(ofStoreAt url: URL, _ change: (URL) throws -> Void) throws

    /// Copies the history of a store that was migrated to this one, and rewrites it for the new model.
    func copyHistory(of migration: MigratedHistory) throws

    /// Removes one column or table that a deferred migration has left.
    ///
    /// - Returns: Whether more are left.
    func finishDeferredTask() throws -> Bool

    /// Calls a function on a private queue whenever another process or coordinator has written to the store, until the result is
    /// deallocated. Nil if contexts learn of such changes in another way.
    func watchOthers(_ didWrite: @escaping @Sendable () -> Void) -> AnyObject?
}

// Removing what deferred migrations have left.

extension NSPersistentStoreCoordinator {
    /// The stores in databases from which a deferred migration has something to remove.
    private final var unfinishedStores: [any DatabaseStore] {
        persistentStores.filter { $0.metadata?[NSPersistentStoreDeferredLightweightMigrationOptionKey] != nil }
            .compactMap { $0 as? any DatabaseStore }
    }

    final func finishDeferredTasks() throws {
        for store in unfinishedStores {
            while try store.finishDeferredTask() {}
        }
    }

    final func finishNextDeferredTask() throws { _ = try unfinishedStores.first?.finishDeferredTask() }
}
