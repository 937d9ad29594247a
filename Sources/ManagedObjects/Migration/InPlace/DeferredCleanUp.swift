import Foundation
import GRDB
import ModelFiles

/// Whether a migration in place may leave columns and tables that the new model does not have for later: a Boolean. The same
/// key in a store's metadata is true while there are some. See
/// ``NSPersistentStoreCoordinator/finishDeferredLightweightMigration()``.
public let NSPersistentStoreDeferredLightweightMigrationOptionKey: String =
    StoreMetadataKeys.deferredMigration

/// The columns and tables that deferred migrations have left in an SQLite store. They have names that no entity and no
/// property has.
enum DeferredCleanUp {
    private static let prefix = "Z__REMOVED"

    static func isLeft(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.utf8.dropFirst(prefix.utf8.count).allSatisfy { (48...57).contains($0) }
    }

    /// A name for a removed column or table.
    ///
    /// - Parameter names: The names that exist; the new one is added.
    static func name(besides names: inout Set<String>) -> String {
        var number = names.count(where: isLeft)
        while !names.insert(prefix + "\(number)").inserted { number += 1 }
        return prefix + "\(number)"
    }

    /// A statement for each column and table that has been left, in the order of their names.
    static func statements(_ catalog: SQLCatalog) -> [String] {
        let tables = catalog.columns.keys.filter(isLeft).sorted()
        let columns = catalog.columns.filter { !isLeft($0.key) }.sorted { $0.key < $1.key }
            .flatMap { table, columns in columns.filter(isLeft).map { (table, $0) } }
        return tables.map { "DROP TABLE \($0)" } + columns.map { "ALTER TABLE \($0) DROP COLUMN \($1)" }
    }
}

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
                if let statement = statements.first { try database.execute(sql: statement) }
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
