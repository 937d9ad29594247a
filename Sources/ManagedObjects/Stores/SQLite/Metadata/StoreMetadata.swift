import Foundation
import GRDB
import ModelFiles

/// What a store says of itself: the row of `Z_METADATA`.
struct StoreMetadata: @unchecked Sendable {  // because property list values are never changed
    /// The store's identifier, in upper case.
    var uuid: String
    /// Everything else. Keys that nobody here knows are kept.
    var content: [String: Any]

    /// The version of Core Data whose format the stores made here have.
    private static let frameworkVersion = 1344

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
        guard try database.tableExists("Z_METADATA"),
            let row = try Row.fetchOne(
                database, sql: "SELECT Z_UUID, Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1")
        else {
            throw CocoaError(
                .fileReadCorruptFile, "The database has no metadata: it is not a store of Core Data.", url: url)
        }
        uuid = row["Z_UUID"] ?? UUID().uuidString
        // Some files have been stripped of their property list.
        content = [:]
        if let plist = row["Z_PLIST"] as Data? {
            guard
                let read = try? PropertyListSerialization.propertyList(from: plist, options: [], format: nil),
                let dictionary = read as? [String: Any]
            else {
                throw CocoaError(.fileReadCorruptFile, "The metadata of the store are damaged.", url: url)
            }
            content = dictionary
        }
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
        let kept = content.filter { Self.isFrameworkKey($0.key) }
        copy.content = kept.merging(changed) { $1 }
        // Another process may have changed them since the program has read the metadata.
        copy.historyFollowers = historyFollowers
        return copy
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
