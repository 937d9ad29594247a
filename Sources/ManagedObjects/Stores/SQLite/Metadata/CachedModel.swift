import Foundation
import GRDB
import ModelFiles
import SQLiteConnections

/// The model that is cached in a store: the row of `Z_MODELCACHE`.
enum CachedModel {
    /// The model; nil if an old or stripped store has none.
    ///
    /// - Parameter tables: The names of the database's tables, if they are known.
    /// - Throws: `ModelError` if it is damaged.
    static func read(in database: Database, tables: Set<String>? = nil) throws -> Model? {
        let reader = StoreReader(database)
        guard try (tables ?? reader.tableNames()).contains("Z_MODELCACHE"),
            let row = try reader.firstRow("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1"), !row.isNull(0)
        else { return nil }
        guard let content = row.data(0) else {
            throw ModelError(.malformedFile, "The cached model is damaged: Z_CONTENT is a number.")
        }
        return try ModelCache.read(content)
    }

    static func write(_ model: NSManagedObjectModel, to database: Database) throws {
        let content = try ModelCache.write(model.modelValue())
        // Stores of old versions of Core Data lack the table.
        try database.execute(sql: "CREATE TABLE IF NOT EXISTS Z_MODELCACHE (Z_CONTENT BLOB)")
        try database.execute(sql: "DELETE FROM Z_MODELCACHE")
        try database.execute(sql: "INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)", arguments: [content])
    }
}
