import Foundation
import ModelFiles

extension NSManagedObjectModel {
    /// Whether a store was written with the entities of a configuration, or of the whole model if the name is nil.
    ///
    /// True when the store's metadata has as many version hashes as there are entities, and all of them are equal.
    public func isConfiguration(
        withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
    ) -> Bool {
        guard let entities = entities(forConfigurationName: configuration),
            let stored = StoreModelHashes(metadata: metadata)
        else { return false }
        let names = Set(entities.compactMap(\.name))
        return entityVersionHashesByName.filter { names.contains($0.key) } == stored.hashes
    }

    /// The checksum of all entities, base64: `NSStoreModelVersionChecksumKey` of a store's metadata.
    public var versionChecksum: String { VersionHash(modelValue()).checksum }

    /// The checksum of each version in a `.momd`, by the version's name.
    ///
    /// - Throws: `CocoaError` if the folder does not exist or contains no readable model.
    public class func checksumsForVersionedModel(at modelURL: URL) throws -> [String: String] {
        try ModelBundles.checksums(ofVersionedModelAt: modelURL)
    }
}

/// The version hashes in a store's metadata.
internal struct StoreModelHashes {
    let hashes: [String: Data]

    /// Nil if the metadata has none.
    init?(metadata: [String: Any]) {
        guard let stored = metadata["NSStoreModelVersionHashes"] as? [String: Any] else { return nil }
        hashes = stored.compactMapValues { ($0 as? Data) ?? ($0 as? NSData).map { Data(referencing: $0) } }
        guard hashes.count == stored.count else { return nil }
    }
}
