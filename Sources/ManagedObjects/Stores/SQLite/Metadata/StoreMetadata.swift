import AtomicFiles
import CoreDataErrors
import Foundation
import GRDB
import KeyedArchives
import ModelFiles
import SQLiteConnections

/// The metadata of a store: the row of `Z_METADATA`.
struct StoreMetadata: @unchecked Sendable {  // because property list values are never changed
    /// The store's identifier, in upper case.
    var uuid: String
    /// All other entries. Unknown keys are kept.
    var content: [String: Any]

    /// The version of Core Data whose format new stores have.
    static let frameworkVersion = 1344

    /// Keys that are added to the metadata of an open store, and whose values the file keeps elsewhere.
    private static let derivedKeys = [NSStoreUUIDKey]

    /// The metadata of a new store.
    init(model: NSManagedObjectModel, configuration: String?, uuid: String = UUID().uuidString) {
        self.uuid = uuid
        content = [
            NSStoreTypeKey: NSSQLiteStoreType,
            "NSPersistenceFrameworkVersion": Self.frameworkVersion,
            "_NSAutoVacuumLevel": "2",
        ].merging(Self.version(of: model, configuration: configuration)) { $1 }
    }

    /// The entries that identify the version of a model in metadata.
    static func version(of model: NSManagedObjectModel, configuration: String?) -> [String: Any] {
        let entities = model.storedEntities(forConfigurationName: configuration) ?? model.entities
        let names = Set(entities.compactMap(\.name))
        let hashes = model.entityVersionHashesByName.filter { names.contains($0.key) }
        return [
            NSStoreModelVersionHashesKey: hashes,
            "NSStoreModelVersionHashesVersion": VersionHash.version,
            "NSStoreModelVersionHashesDigest": VersionHash.digest(hashes),
            "NSStoreModelVersionChecksumKey": model.versionChecksum,
            NSStoreModelVersionIdentifiersKey: model.versionIdentifiers.compactMap { $0 as? String }.sorted(),
        ]
    }

    /// The metadata that a program reads.
    var published: [String: Any] { content.merging([NSStoreUUIDKey: uuid]) { $1 } }

    // MARK: - Row

    /// Reads the row.
    ///
    /// - Parameter tables: The names of the database's tables, if they are known.
    /// - Throws: Code 259 if the database is not a store of Core Data.
    init(in database: Database, url: URL?, tables: Set<String>? = nil) throws {
        let reader = StoreReader(database)
        let names = try tables ?? reader.tableNames()
        guard names.contains("Z_METADATA"),
            let row = try reader.firstRow(
                "SELECT Z_UUID, Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1")
        else {
            var reason = "The database has no metadata: it is not a store of Core Data."
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

    /// The metadata that a store contains: a UUID, and a property list if there is one.
    init(uuid: String, propertyList: Data?, url: URL?) throws {
        self.uuid = uuid
        content = try propertyList.map { try Self.propertyList($0, url: url) } ?? [:]
    }

    /// The entries of a property list in a damaged store; nil if it is not a dictionary.
    static func content(of data: Data) -> [String: Any]? { try? propertyList(data, url: nil) }

    /// Decodes a property list that contains a dictionary.
    private static func propertyList(_ data: Data?, url: URL?) throws -> [String: Any] {
        guard let data, let read = try? PropertyListValue(propertyList: data), let content = Self.content(of: read)
        else { throw CocoaError(.fileReadCorruptFile, "The metadata of the store are damaged.", url: url) }
        return content
    }

    /// The entries of a property list; nil if it is not a dictionary.
    static func content(of list: PropertyListValue) -> [String: Any]? { list.object as? [String: Any] }

    /// The property list that a store contains.
    ///
    /// - Throws: Code 134030 if a value is not of a property list's type.
    func propertyList() throws -> Data {
        try BinaryPropertyList.write(Self.propertyList(of: content.filter { !Self.derivedKeys.contains($0.key) }))
    }

    /// Metadata as a property list, with sorted keys.
    ///
    /// - Throws: Code 134030 if a value is not of a property list's type.
    static func propertyList(of metadata: [String: Any]) throws -> PropertyListValue {
        guard let list = PropertyListValue(object: metadata, others: .rejected) else {
            throw CocoaError(
                .persistentStoreSave, "Metadata of a store can only contain property list types, such as strings.")
        }
        return list
    }

    /// Writes the row, inserting it if it does not exist.
    func write(to database: Database) throws {
        try database.execute(
            sql: "INSERT OR REPLACE INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)",
            arguments: [uuid, propertyList()])
    }

    /// The metadata with the changes of a program. Entries of the framework are kept unless the program has replaced
    /// them.
    func replacing(with changed: [String: Any]) -> StoreMetadata {
        var copy = self
        copy.uuid = changed[NSStoreUUIDKey] as? String ?? uuid
        copy.content = Self.replacing(content, with: changed)
        // Another process may have changed them since the program read the metadata.
        copy.historyFollowers = historyFollowers
        return copy
    }

    /// Metadata with the changes of a program.
    static func replacing(_ content: [String: Any], with changed: [String: Any]) -> [String: Any] {
        content.filter { StoreMetadataKeys.isOfFramework($0.key) }.merging(changed) { $1 }
    }

    /// The named followers of the store's history, with the number of the last transaction that each has read.
    var historyFollowers: [String: Int64] {
        get { (content[StoreMetadataKeys.historyFollowers] as? [String: NSNumber] ?? [:]).mapValues(\.int64Value) }
        set {
            content[StoreMetadataKeys.historyFollowers] =
                newValue.isEmpty ? nil : newValue.mapValues { NSNumber(value: $0) }
        }
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
