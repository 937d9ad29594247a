import Foundation
import GRDB
import KeyedArchives
import ModelFiles

/// What a store says of itself: the row of `Z_METADATA`.
struct StoreMetadata: @unchecked Sendable {  // because property list values are never changed
    /// The store's identifier, in upper case.
    var uuid: String
    /// Everything else. Keys that nobody here knows are kept.
    var content: [String: Any]

    /// The version of Core Data whose format the stores made here have.
    static let frameworkVersion = 1344

    /// Keys that a running store adds to its metadata, and that the file keeps elsewhere.
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

    /// What names the version of a model in metadata.
    static func version(of model: NSManagedObjectModel, configuration: String?) -> [String: Any] {
        let names = Set((model.entities(forConfigurationName: configuration) ?? model.entities).compactMap(\.name))
        let hashes = model.entityVersionHashesByName.filter { names.contains($0.key) }
        return [
            NSStoreModelVersionHashesKey: hashes,
            "NSStoreModelVersionHashesVersion": VersionHash.version,
            "NSStoreModelVersionHashesDigest": VersionHash.digest(hashes),
            "NSStoreModelVersionChecksumKey": model.versionChecksum,
            NSStoreModelVersionIdentifiersKey: model.versionIdentifiers.compactMap { $0 as? String }.sorted(),
        ]
    }

    /// What a program sees.
    var published: [String: Any] { content.merging([NSStoreUUIDKey: uuid]) { $1 } }

    // MARK: - In the store

    /// Reads the row.
    ///
    /// - Throws: Code 259 where the database is no store of Core Data's.
    init(in database: Database, url: URL?) throws {
        let reader = StoreReader(database)
        guard try reader.hasTable("Z_METADATA"),
            let row = try reader.firstRow(
                "SELECT Z_UUID, Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1")
        else {
            throw CocoaError(
                .fileReadCorruptFile, "The database has no metadata: it is not a store of Core Data.", url: url)
        }
        guard let identifier = row.isNull(0) ? UUID().uuidString : row.text(0) else {
            throw CocoaError(
                .fileReadCorruptFile, "The metadata of the store are damaged: Z_UUID is no text.", url: url)
        }
        uuid = identifier
        // Some files have been stripped of their property list.
        content = row.isNull(1) ? [:] : try Self.propertyList(row.data(1), url: url)
    }

    /// The dictionary that a property list is.
    ///
    /// Our own reader looks at the bytes first: it refuses a list that refers to itself or is nested without end, which
    /// Foundation's cannot be trusted with.
    private static func propertyList(_ data: Data?, url: URL?) throws -> [String: Any] {
        guard let data, case .dictionary? = try? PropertyListValue(propertyList: data),
            let read = try? PropertyListSerialization.propertyList(from: data, options: [], format: nil),
            let dictionary = read as? [String: Any]
        else { throw CocoaError(.fileReadCorruptFile, "The metadata of the store are damaged.", url: url) }
        return dictionary
    }

    /// Writes the row, adding it where there is none.
    func write(to database: Database) throws {
        let plist = content.filter { !Self.derivedKeys.contains($0.key) }
        guard PropertyListSerialization.propertyList(plist, isValidFor: .binary) else {
            throw CocoaError(
                .persistentStoreSave, "Metadata of a store can only hold what a property list can, such as strings.")
        }
        let data = try PropertyListSerialization.data(fromPropertyList: plist, format: .binary, options: 0)
        try database.execute(
            sql: "INSERT OR REPLACE INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)",
            arguments: [uuid, data])
    }

    /// The metadata as a program has changed them. What the framework itself keeps there stays, unless it was replaced.
    func replacing(with changed: [String: Any]) -> StoreMetadata {
        var copy = self
        copy.uuid = changed[NSStoreUUIDKey] as? String ?? uuid
        copy.content = Self.replacing(content, with: changed)
        // Another process may have changed them since the program has read the metadata.
        copy.historyFollowers = historyFollowers
        return copy
    }

    /// Metadata as a program has changed them.
    static func replacing(_ content: [String: Any], with changed: [String: Any]) -> [String: Any] {
        content.filter { isFrameworkKey($0.key) }.merging(changed) { $1 }
    }

    /// The named followers of the store's history, with the number of the last transaction that each has read.
    var historyFollowers: [String: Int64] {
        get { (content[Self.followersKey] as? [String: NSNumber] ?? [:]).mapValues(\.int64Value) }
        set { content[Self.followersKey] = newValue.isEmpty ? nil : newValue.mapValues { NSNumber(value: $0) } }
    }

    private static let followersKey = "CoralHistoryFollowers"

    private static func isFrameworkKey(_ key: String) -> Bool {
        key.hasPrefix("NSStore") || key.hasPrefix("_NS") || key == "NSPersistenceFrameworkVersion"
    }
}
