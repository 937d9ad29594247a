import Foundation
import ModelFiles
import SQLStores

/// Whether a migration in place may postpone the removal of columns and tables that the new model does not have: a
/// Boolean. The same key in a store's metadata is true until they are removed. See
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
    static func statements(_ catalog: SQLCatalog) -> [SQLAlteration] {
        let tables = catalog.columns.keys.filter(isLeft).sorted()
        let columns = catalog.columns.filter { !isLeft($0.key) }.sorted { $0.key < $1.key }
            .flatMap { table, columns in columns.filter(isLeft).map { (table, $0) } }
        return tables.map(SQLAlteration.dropTable) + columns.map { .dropColumns([$1], of: $0) }
    }
}
