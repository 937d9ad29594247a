import Foundation
import ModelFiles

extension NSManagedObjectModel {
    /// Creates a model of all entities of several models; nil if two of them have different entities with the same
    /// name.
    ///
    /// The models themselves are not changed. Nil gives an empty model.
    public convenience init?(byMerging models: [NSManagedObjectModel]?) {
        guard let merged = Self.merge((models ?? []).map { $0.modelValue() }) else { return nil }
        try? self.init(value: merged)
    }

    /// Creates a model of the entities with which a store was written; nil if the models do not have all of them.
    ///
    /// - Parameters:
    ///   - models: Models of several versions.
    ///   - metadata: The store's metadata, with `NSStoreModelVersionHashesKey`.
    public convenience init?(byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]) {
        guard let hashes = StoreModelHashes(metadata: metadata)?.hashes else { return nil }
        var chosen: [Model] = []
        var missing = hashes
        for model in models {
            let found = model.entityVersionHashesByName.filter { missing[$0.key] == $0.value }
            guard !found.isEmpty else { continue }
            var value = model.modelValue()
            value.entities.removeAll { found[$0.name] == nil }
            for index in value.configurations.indices {
                value.configurations[index].entityNames.removeAll { found[$0] == nil }
            }
            chosen.append(value)
            for name in found.keys { missing[name] = nil }
        }
        guard missing.isEmpty, let merged = Self.merge(chosen) else { return nil }
        try? self.init(value: merged)
    }

    /// The union of several values; nil if two of them have different parts with the same name.
    private static func merge(_ values: [Model]) -> Model? {
        var merged = Model()
        for value in values {
            for entity in value.entities {
                guard let known = merged.entity(named: entity.name) else {
                    merged.entities.append(entity)
                    continue
                }
                guard known == entity else { return nil }
            }
            for configuration in value.configurations {
                if let index = merged.configurations.firstIndex(where: { $0.name == configuration.name }) {
                    let names = Set(merged.configurations[index].entityNames).union(configuration.entityNames)
                    merged.configurations[index].entityNames = names.sorted()
                } else {
                    merged.configurations.append(configuration)
                }
            }
            for template in value.fetchRequestTemplates {
                let known = merged.fetchRequestTemplates.first { $0.name == template.name }
                if let known, known != template { return nil }
                if known == nil { merged.fetchRequestTemplates.append(template) }
            }
            merged.versionIdentifiers.formUnion(value.versionIdentifiers)
        }
        return merged
    }
}
