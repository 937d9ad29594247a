import AtomicFiles
import Foundation
import ModelFiles
import Synchronization

extension NSManagedObjectModel {
    /// Reads a model: a compiled one (`.mom`, or the current version in a `.momd`), or a source one (`.xcdatamodel`, or
    /// the current version in a `.xcdatamodeld`), which Apple's framework cannot read.
    ///
    /// Nil if there is none, or it cannot be read; ``model(contentsOf:)`` throws the reason. Cost: the file is read, and of a
    /// `.momd` that of the current version. A compiled file that has not changed is read once.
    public convenience init?(contentsOf url: URL) {
        guard let value = try? ModelFileCache.currentModel(at: url) else { return nil }
        try? self.init(value: value)
    }

    /// Reads a model as ``init(contentsOf:)`` does: an addition to Core Data's API, which throws the reason of a
    /// failure.
    ///
    /// - Throws: `CocoaError.fileReadCorruptFile` or `.fileReadNoSuchFile`, with the reason, the file and the line in
    ///   its description.
    public static func model(contentsOf url: URL) throws -> NSManagedObjectModel {
        do {
            return try NSManagedObjectModel(value: ModelFileCache.currentModel(at: url))
        } catch let error as ModelError {
            throw CocoaError(
                error.code == .unreadableFile ? .fileReadNoSuchFile : .fileReadCorruptFile,
                userInfo: [
                    NSLocalizedDescriptionKey: error.description, NSURLErrorKey: url, NSUnderlyingErrorKey: error,
                ])
        }
    }
}

/// The models that were read from compiled files. An app that looks for the version of a store reads the files of all versions, often
/// several times.
enum ModelFileCache {
    private struct Entry {
        let status: FileStatus
        let model: Model
    }

    private struct Entries {
        var byPath: [String: Entry] = [:]
        var byteCount: Int64 = 0
    }

    /// The size in bytes of the files whose models are kept: those of about 200 versions of a large model.
    private static let capacity: Int64 = 8 << 20
    private static let entries = Mutex(Entries())

    /// The model at a URL. Cost: for a file that has not changed since it was read, its status; folders are read each time.
    ///
    /// - Parameter read: Reads the model.
    static func currentModel(
        at url: URL, _ read: (URL) throws -> Model = ModelFile.readCurrentModel(at:)
    ) throws -> Model {
        let path = url.path
        guard let status = FileStatus(path), status.isRegular else { return try read(url) }
        let known = entries.withLock { $0.byPath[path] }
        if let known, known.status.isUnchanged(status) { return known.model }
        let model = try read(url)
        // A file that has just been changed may change again without another time.
        guard status.age > 2, status.byteCount <= capacity else { return model }
        entries.withLock { entries in
            if entries.byteCount + status.byteCount > capacity { entries = Entries() }
            let replaced = entries.byPath.updateValue(Entry(status: status, model: model), forKey: path)
            entries.byteCount += status.byteCount - (replaced?.status.byteCount ?? 0)
        }
        return model
    }
}

// MARK: - Plain values

extension NSManagedObjectModel {
    /// Creates a model from a plain value.
    ///
    /// - Throws: `ModelError` if the value is inconsistent.
    package convenience init(value: Model) throws {
        self.init()
        var reader = ModelValueReader()
        try reader.read(value, into: self)
    }

    /// The model as a plain value. Cost: one value for each entity and property.
    package final func modelValue() -> Model { ModelValueWriter().value(of: self) }
}

// MARK: - Stores

extension NSManagedObjectModel {
    /// The entities of which a store with the configuration has objects: the listed ones and their subentities, listed or not,
    /// whose objects are objects of them; all if the name is nil, and nil if the configuration does not exist.
    package final func storedEntities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
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

// MARK: - Merging

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
