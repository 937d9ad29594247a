import Foundation
import ModelFiles

extension NSManagedObjectModel {
    final func isCompatible(_ configuration: String?, with metadata: [String: Any]) -> Bool {
        guard let entities = entities(forConfigurationName: configuration),
            let stored = StoreModelHashes(metadata: metadata)
        else { return false }
        let names = Set(entities.compactMap(\.name))
        return entityVersionHashesByName.filter { names.contains($0.key) } == stored.hashes
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
