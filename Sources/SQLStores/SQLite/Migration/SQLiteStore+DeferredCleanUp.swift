import Foundation
import GRDB
import ManagedObjects
import SQLStatements
import SQLiteConnections

// Removing what deferred migrations have left.

extension SQLiteStore {
    /// Removes one column or table that a deferred migration has left, and the mark in the metadata with the last one.
    ///
    /// - Returns: Whether more are left.
    package func finishDeferredTask() throws -> Bool {
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
