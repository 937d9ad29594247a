import Foundation
import ModelFiles

extension NSManagedObjectModel {
    /// The entities of which a store with the configuration has objects: the listed ones and their subentities, listed or not,
    /// whose objects are objects of them; all if the name is nil, and nil if the configuration does not exist.
    final func storedEntities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
        guard let listed = entities(forConfigurationName: configuration) else { return nil }
        guard listed.count < entities.count else { return listed }
        let roots = Set(listed.map(ObjectIdentifier.init))
        return entities.filter { $0.lineage.contains { roots.contains(ObjectIdentifier($0)) } }
    }

    final func isCompatible(_ configuration: String?, with metadata: [String: Any]) -> Bool {
        guard let entities = storedEntities(forConfigurationName: configuration),
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
