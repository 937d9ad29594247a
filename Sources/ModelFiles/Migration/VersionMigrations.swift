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
    }

    /// The versions in order.
    public let entries: [Entry]
    /// The name of the current version.
    public let current: String

    /// The names of the versions before the current one from which it cannot be reached.
    public var unreachable: [String] { entries.filter { $0.path == nil }.map(\.name) }

    /// Examines the versions of a file. Cost: the version hashes of all versions, and an inference for each step; one for each pair
    /// of versions if a step is impossible.
    ///
    /// - Parameters:
    ///   - file: The versions.
    ///   - order: The names of the versions, the oldest first; nil for the order of the file.
    ///   - mappings: The mapping models.
    /// - Throws: ``ModelError`` if a name of `order` is no version, or one is missing.
    public init(of file: ModelFile, order: [String]? = nil, mappings: [Mapping] = []) throws {
        let versions = try order.map { try Self.ordered(file.versions, by: $0) } ?? file.versions
        let hashes = versions.map { VersionHash($0.model) }
        let entityHashes = hashes.map(\.entityHashes)
        let models = versions.map { IndexedModel($0.model) }
        // Each version's path asks for the same steps again.
        var knownMappings: [Int: String?] = [:]
        var knownKinds: [Int: Kind] = [:]
        current = file.current.name
        let end = versions.firstIndex { $0.name == file.current.name } ?? versions.count - 1
        func mapping(_ from: Int, _ to: Int) -> String? {
            if mappings.isEmpty { return nil }
            let pair = from * versions.count + to
            if let known = knownMappings[pair] { return known }
            let name = mappings.first { mapping in
                MappingArchive.fits(mapping.entities, from: entityHashes[from], to: entityHashes[to])
            }?.name
            knownMappings[pair] = .some(name)
            return name
        }
        func findKind(_ from: Int, _ to: Int) -> Kind {
            if entityHashes[from] == entityHashes[to] { return .none }
            if let name = mapping(from, to) { return .mapping(name) }
            let obstacles = InferredMapping(from: models[from], to: models[to]).obstacles
            return obstacles.isEmpty ? .inferred : .impossible(obstacles)
        }
        func kind(_ from: Int, _ to: Int) -> Kind {
            let pair = from * versions.count + to
            if let known = knownKinds[pair] { return known }
            let kind = findKind(from, to)
            knownKinds[pair] = kind
            return kind
        }
        entries = versions.indices.map { index in
            let path =
                index >= end
                ? [versions[index].name]
                : VersionPath.steps(
                    from: index, to: end, isMapped: { mapping($0, $1) != nil },
                    isInferred: { from, to in
                        if case .impossible = kind(from, to) { false } else { true }
                    }
                ).map { [versions[index].name] + $0.map { versions[$0.to].name } }
            return Entry(
                name: versions[index].name, checksum: hashes[index].checksum,
                step: index == 0 ? nil : kind(index - 1, index), path: path)
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
