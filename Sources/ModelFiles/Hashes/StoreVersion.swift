import Foundation

/// Which of the known versions of a model a store has, or which one is nearest to it.
public struct StoreVersion: Sendable {
    /// A known version, compared with the hashes of the store.
    public struct Candidate: Sendable {
        /// The name of the version.
        public var name: String
        public var model: Model
        /// The checksum that staged migration identifies the version by.
        public var checksum: String
        /// The number of entities with the same hash as in the store.
        public var equalCount: Int
        /// The number of entities with another hash, or that only the version or only the store has.
        public var differentCount: Int

        /// Whether a store with the hashes opens with the version.
        public var isExact: Bool { differentCount == 0 }
    }

    /// The known versions, the nearest first.
    public let candidates: [Candidate]

    /// The version that the store has; nil if it is not known.
    public var exact: Candidate? { candidates.first.flatMap { $0.isExact ? $0 : nil } }

    /// Compares the known versions with the hashes of a store. Cost: the hashes of each version.
    public init(hashes: [String: Data], among versions: [ModelFile.Version]) {
        candidates = versions.map { version in
            let hash = VersionHash(version.model)
            let own = hash.entityHashes
            let names = Set(own.keys).union(hashes.keys)
            let equal = names.filter { own[$0] == hashes[$0] }.count
            return Candidate(
                name: version.name, model: version.model, checksum: hash.checksum, equalCount: equal,
                differentCount: names.count - equal)
        }.sorted { ($0.differentCount, $1.equalCount) < ($1.differentCount, $0.equalCount) }
    }
}
