import CoreDataErrors
import Foundation
import FoundationAdditions
import KeyedArchives
import ModelFiles

/// The metadata of a store: in a database, the row of `Z_METADATA`.
package struct StoreMetadata: @unchecked Sendable {  // because property list values are never changed
    /// The store's identifier, in upper case.
    package var uuid: String
    /// All other entries. Unknown keys are kept.
    package var content: [String: Any]

    /// The version of Core Data whose format new stores have.
    package static let frameworkVersion = 1344

    /// Keys that are added to the metadata of an open store, and whose values the file keeps elsewhere.
    private static let derivedKeys = [NSStoreUUIDKey]

    /// The metadata of a new store.
    package init(model: NSManagedObjectModel, configuration: String?, uuid: String = UUID().uuidString) {
        self.uuid = uuid
        content = [
            NSStoreTypeKey: NSSQLiteStoreType,
            "NSPersistenceFrameworkVersion": Self.frameworkVersion,
            "_NSAutoVacuumLevel": "2",
        ].merging(Self.version(of: model, configuration: configuration)) { $1 }
    }

    /// The entries that identify the version of a model in metadata.
    package static func version(of model: NSManagedObjectModel, configuration: String?) -> [String: Any] {
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
    package var published: [String: Any] { content.merging([NSStoreUUIDKey: uuid]) { $1 } }

    /// The metadata that a store contains: a UUID, and a property list if there is one.
    package init(uuid: String, propertyList: Data?, url: URL?) throws {
        self.uuid = uuid
        content = try propertyList.map { try Self.propertyList($0, url: url) } ?? [:]
    }

    /// The entries of a property list in a damaged store; nil if it is not a dictionary.
    package static func content(of data: Data) -> [String: Any]? { try? propertyList(data, url: nil) }

    /// Decodes a property list that contains a dictionary.
    private static func propertyList(_ data: Data?, url: URL?) throws -> [String: Any] {
        guard let data, let read = try? PropertyListValue(propertyList: data), let content = Self.content(of: read)
        else { throw CocoaError(.fileReadCorruptFile, "The metadata of the store are damaged.", url: url) }
        return content
    }

    /// The entries of a property list; nil if it is not a dictionary.
    package static func content(of list: PropertyListValue) -> [String: Any]? { list.object as? [String: Any] }

    /// The property list that a store contains.
    ///
    /// - Throws: Code 134030 if a value is not of a property list's type.
    package func propertyList() throws -> Data {
        try BinaryPropertyList.write(Self.propertyList(of: content.filter { !Self.derivedKeys.contains($0.key) }))
    }

    /// Metadata as a property list, with sorted keys.
    ///
    /// - Throws: Code 134030 if a value is not of a property list's type.
    package static func propertyList(of metadata: [String: Any]) throws -> PropertyListValue {
        guard let list = PropertyListValue(object: metadata, others: .rejected) else {
            throw CocoaError(
                .persistentStoreSave, "Metadata of a store can only contain property list types, such as strings.")
        }
        return list
    }

    /// The metadata with the changes of a program. Entries of the framework are kept unless the program has replaced
    /// them.
    package func replacing(with changed: [String: Any]) -> StoreMetadata {
        var copy = self
        copy.uuid = changed[NSStoreUUIDKey] as? String ?? uuid
        copy.content = Self.replacing(content, with: changed)
        // Another process may have changed them since the program read the metadata.
        copy.historyFollowers = historyFollowers
        return copy
    }

    /// Metadata with the changes of a program.
    package static func replacing(_ content: [String: Any], with changed: [String: Any]) -> [String: Any] {
        content.filter { StoreMetadataKeys.isOfFramework($0.key) }.merging(changed) { $1 }
    }

    /// The named followers of the store's history, with the number of the last transaction that each has read.
    package var historyFollowers: [String: Int64] {
        get { (content[StoreMetadataKeys.historyFollowers] as? [String: NSNumber] ?? [:]).mapValues(\.int64Value) }
        set {
            content[StoreMetadataKeys.historyFollowers] =
                newValue.isEmpty ? nil : newValue.mapValues { NSNumber(value: $0) }
        }
    }
}
