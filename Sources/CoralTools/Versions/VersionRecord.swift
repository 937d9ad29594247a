import Foundation
import ModelFiles

/// The record of the versions of a model that have shipped: a folder with the compiled model of each, and a small store.
package struct VersionRecord: Codable, Sendable, Equatable {
    /// A version that has shipped. Releases with the same version hashes are one version.
    package struct Version: Codable, Sendable, Equatable {
        /// The releases of the app with this version, the oldest first.
        package var releases: [String]
        /// The name of the version in the model's file.
        package var modelName: String
        /// The checksum that staged migration identifies the version by.
        package var checksum: String
        /// The developer's own names of the version.
        package var identifiers: [String]
        /// The version hashes of the entities.
        package var hashes: [String: Data]
        /// The paths of the compiled model and of the store, relative to the record.
        package var model: String
        package var store: String?
        /// The SHA-256 of the files, in hexadecimal digits.
        package var digests: [String: String]

        /// The name of the first release.
        package var name: String { releases.first ?? modelName }

        package init(
            releases: [String], modelName: String, hash: VersionHash, identifiers: [String], model: String,
            store: String?
        ) {
            (self.releases, self.modelName, self.identifiers) = (releases, modelName, identifiers)
            (checksum, hashes) = (hash.checksum, hash.entityHashes)
            (self.model, self.store, digests) = (model, store, [:])
        }
    }

    /// The versions, the oldest first.
    package var versions: [Version] = []

    /// The name of the file with the record in its folder.
    package static let fileName = "versions.json"

    package init() {}

    /// Reads the record in a folder.
    ///
    /// - Throws: ``ModelError`` if there is none, or it is damaged.
    package init(at folder: URL) throws {
        let file = folder.appendingPathComponent(Self.fileName)
        guard FileManager.default.fileExists(atPath: file.path) else {
            throw ModelError(
                .unreadableFile, "There is no record of versions: create one with coral versions init.", file: file.path
            )
        }
        do {
            self = try JSONDecoder().decode(VersionRecord.self, from: Data(contentsOf: file))
        } catch {
            throw ModelError(.malformedFile, "The record of versions is damaged.", file: file.path)
        }
        let paths = versions.flatMap { [$0.model] + ($0.store.map { [$0] } ?? []) }
        // A record is a part of a repository, and not trusted to name files elsewhere.
        if let path = paths.first(where: { $0.hasPrefix("/") || $0.split(separator: "/").contains("..") }) {
            throw ModelError(.malformedFile, "The record names a file outside its folder: \(path).", file: file.path)
        }
    }

    /// The content of the file with the record.
    package func data() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self) + Data("\n".utf8)
    }

    /// The version that a release has; nil if it is not recorded.
    package func version(ofRelease release: String) -> Version? { versions.first { $0.releases.contains(release) } }

    /// The SHA-256 of a file, in hexadecimal digits.
    ///
    /// - Throws: The system's error if it cannot be read.
    package static func digest(of file: URL) throws -> String {
        SecureHash.sha256(try Data(contentsOf: file)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
