import Foundation
import GRDB
import SQLStores
import SQLiteConnections

// Removing what deferred migrations have left.

extension NSPersistentStoreCoordinator {
    /// Removes what deferred migrations of the coordinator's SQLite stores have left.
    final func finishDeferredTasks() throws {
        for case let store as SQLiteStore in persistentStores {
            while try store.finishDeferredTask() {}
        }
    }

    /// Removes one table or column that deferred migrations of the coordinator's SQLite stores have left.
    final func finishNextDeferredTask() throws {
        let pending = persistentStores.first { store in
            store.metadata?[NSPersistentStoreDeferredLightweightMigrationOptionKey] != nil
        }
        _ = try (pending as? SQLiteStore)?.finishDeferredTask()
    }
}

extension SQLiteStore {
    /// Removes one column or table that a deferred migration has left, and the mark in the metadata with the last one.
    ///
    /// - Returns: Whether more are left.
    fileprivate func finishDeferredTask() throws -> Bool {
        guard metadata?[NSPersistentStoreDeferredLightweightMigrationOptionKey] != nil else { return false }
        do {
            let connection = try content().connection
            let (isFinished, stored) = try connection.write { database in
                let statements = DeferredCleanUp.statements(try SQLCatalog(in: database))
                if let statement = statements.first { try database.execute(SQLQuery(statement)) }
                var metadata = try StoreMetadata(in: database, url: url)
                if statements.count < 2 {
                    metadata.content[NSPersistentStoreDeferredLightweightMigrationOptionKey] = nil
                    try metadata.write(to: database)
                }
                return (statements.count < 2, metadata)
            }
            if isFinished {
                var own: [String: Any] = metadata ?? stored.published
                own[NSPersistentStoreDeferredLightweightMigrationOptionKey] = nil
                if changedMetadata == nil { didLoadMetadata(own) } else { metadata = own }
            }
            return !isFinished
        } catch {
            throw SQLiteError.translated(error, .saving, url: url)
        }
    }
}
