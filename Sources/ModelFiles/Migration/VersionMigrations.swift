import Foundation

/// The possible migrations between the versions of a model: the steps between consecutive versions, and from each version to
/// the current one.
public struct VersionMigrations: Sendable {
    /// A mapping model with the name of its file.
    public typealias Mapping = (name: String, entities: [MappingArchive.Entity])

    /// How a step migrates a store.
    public enum Kind: Sendable, Equatable {
        /// The version hashes are equal: stores open with either version.
        case none
        /// Core Data infers the migration.
        case inferred
        /// The mapping model with this name.
        case mapping(String)
        /// The migration cannot be inferred, and there is no mapping model.
        case impossible([InferredMapping.Obstacle])
    }

    /// A version, and how its stores are migrated.
    public struct Entry: Sendable {
        /// The name of the version.
        public var name: String
        /// The checksum that staged migration identifies the version by.
        public var checksum: String
        /// The step from the version before; nil for the first.
        public var step: Kind?
        /// The names of the versions that a store passes during its migration, from this version to the current one; nil if the
        /// current one cannot be reached. For the current version and for later ones, only their own name.
        public var path: [String]?
        /// What prevents a migration directly to the current version, if that version cannot be reached; otherwise empty.
        public var obstacles: [InferredMapping.Obstacle] = []
    }

    /// The versions in order.
    public let entries: [Entry]
    /// The name of the current version.
    public let current: String

    /// The names of the versions before the current one from which it cannot be reached.
    public var unreachable: [String] { entries.filter { $0.path == nil }.map(\.name) }

    /// Examines the versions of a file. Cost: the version hashes of all versions, and an inference for each step. Where versions do
    /// not reach the current one by their steps, a search for an obstacle for each pair of a version before and one after.
    ///
    /// - Parameters:
    ///   - file: The versions.
    ///   - order: The names of the versions, the oldest first; nil for the order of the file.
    ///   - mappings: The mapping models.
    /// - Throws: ``ModelError`` if a name of `order` is not a version, or one is missing.
    public init(of file: ModelFile, order: [String]? = nil, mappings: [Mapping] = []) throws {
        let versions = try order.map { try Self.ordered(file.versions, by: $0) } ?? file.versions
        let models = versions.map { IndexedModel($0.model) }
        current = file.current.name
        let end = versions.firstIndex { $0.name == file.current.name } ?? versions.count - 1
        func mapping(_ from: Int, _ to: Int) -> String? {
            mappings.first { MappingArchive.fits($0.entities, from: models[from].hashes, to: models[to].hashes) }?.name
        }
        func obstacles(_ from: Int, _ to: Int) -> [InferredMapping.Obstacle] {
            InferredMapping(from: models[from], to: models[to]).obstacles
        }
        func kind(_ from: Int, _ to: Int) -> Kind {
            if models[from].hashes == models[to].hashes { return .none }
            if let name = mapping(from, to) { return .mapping(name) }
            let obstacles = obstacles(from, to)
            return obstacles.isEmpty ? .inferred : .impossible(obstacles)
        }
        let steps = versions.indices.dropFirst().map { kind($0 - 1, $0) }
        // What prevents one migration mostly prevents those of other versions too.
        var suspect: String?
        let ways = VersionPath.all(
            from: 0, to: end, isMapped: { mapping($0, $1) != nil },
            isInferred: { from, to in
                if to == from + 1 {
                    if case .impossible = steps[from] { return false }
                    return true
                }
                var inference = MigrationInference(from: models[from], to: models[to])
                guard let entity = inference.entityWithObstacle(suspect: suspect) else { return true }
                suspect = entity
                return false
            })
        entries = versions.indices.map { index in
            let way = index < end ? ways[index] : []
            return Entry(
                name: versions[index].name, checksum: VersionHash.checksum(models[index].hashes),
                step: index == 0 ? nil : steps[index - 1],
                path: way.map { [versions[index].name] + $0.map { versions[$0.to].name } },
                obstacles: way == nil ? obstacles(index, end) : [])
        }
    }

    private static func ordered(_ versions: [ModelFile.Version], by names: [String]) throws -> [ModelFile.Version] {
        if let missing = versions.first(where: { !names.contains($0.name) }) {
            throw ModelError(.unknownFormat, "The order does not contain the version \"\(missing.name)\".")
        }
        guard Set(names).count == names.count else {
            throw ModelError(.unknownFormat, "The order contains a version twice.")
        }
        return try names.map { name in
            guard let version = versions.first(where: { $0.name == name }) else {
                throw ModelError(.unknownFormat, "There is no version \"\(name)\".")
            }
            return version
        }
    }
}
