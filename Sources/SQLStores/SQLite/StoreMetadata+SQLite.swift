import AtomicFiles
import CoreDataErrors
import Foundation
import GRDB
import ManagedObjects
import ModelFiles
import SQLiteConnections

// The rows of an SQLite store about itself.

extension StoreMetadata {
    /// Reads the row.
    ///
    /// - Parameter tables: The names of the database's tables, if they are known.
    /// - Throws: Code 259 if the database is not a store of Core Data.
    package init(in database: Database, url: URL?, tables: Set<String>? = nil) throws {
        let reader = StoreReader(database)
        let names = try tables ?? reader.tableNames()
        guard names.contains("Z_METADATA"),
            let row = try reader.firstRow(
                "SELECT Z_UUID, Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1")
        else {
            // A database that has other tables of a store is a damaged one.
            var reason =
                names.contains("Z_PRIMARYKEY")
                ? "The metadata of the store are missing: the table Z_METADATA does not exist, or has no row."
                : "The database has no table Z_METADATA: it is not a store of Core Data."
            // A store that was copied while it was in use, without its log.
            if names.isEmpty, let url, FileStatus(SQLiteFile(url).path + "-wal") == nil {
                reason += " If it is a copy of one, copy \(url.lastPathComponent)-wal too: it may contain the data."
            }
            throw CocoaError(.fileReadCorruptFile, reason, url: url)
        }
        guard let identifier = row.isNull(0) ? UUID().uuidString : row.text(0) else {
            throw CocoaError(
                .fileReadCorruptFile, "The metadata of the store are damaged: Z_UUID is not text.", url: url)
        }
        // In some files the property list has been removed.
        try self.init(uuid: identifier, propertyList: row.isNull(1) ? nil : row.data(1) ?? Data(), url: url)
    }

    /// Writes the row, inserting it if it does not exist.
    package func write(to database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)",
            arguments: [uuid, propertyList()])
    }
}

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
