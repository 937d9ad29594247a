import Foundation
import SwiftData

/// Keeps each model as a JSON document, `Entity/key.json`, in a folder that people can read and put under version control.
///
/// Every fetch reads all documents of its entity, so the store is meant for hundreds of models, not for many thousands. It lets the
/// context filter and sort.
public final class FolderStore: DataStore, @unchecked Sendable {  // because a lock guards the folder
    public typealias Configuration = FolderConfiguration
    public typealias Snapshot = DefaultSnapshot

    public let configuration: FolderConfiguration
    public let schema: Schema
    public let identifier: String
    private let lock = NSLock()

    public init(_ configuration: FolderConfiguration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        self.configuration = configuration
        schema = configuration.schema ?? Schema()
        identifier = configuration.name
        try FileManager.default.createDirectory(at: configuration.folder, withIntermediateDirectories: true)
    }

    // MARK: - Fetching

    public func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        if request.descriptor.predicate != nil { throw DataStoreError.preferInMemoryFilter }
        if !request.descriptor.sortBy.isEmpty { throw DataStoreError.preferInMemorySort }
        var found = try lock.withLock { try snapshots(ofEntity: Schema.entityName(for: T.self)) }
        if let offset = request.descriptor.fetchOffset { found.removeFirst(min(offset, found.count)) }
        if let limit = request.descriptor.fetchLimit { found = Array(found.prefix(limit)) }
        return DataStoreFetchResult(descriptor: request.descriptor, fetchedSnapshots: found)
    }

    public func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier], editingState: EditingState
    ) throws -> [PersistentIdentifier: DefaultSnapshot] {
        try lock.withLock {
            try persistentIdentifiers.reduce(into: [:]) { found, identifier in
                let document = document(of: identifier)
                guard FileManager.default.fileExists(atPath: document.path) else { return }
                found[identifier] = try snapshot(in: document)
            }
        }
    }

    private func snapshots(ofEntity name: String) throws -> [DefaultSnapshot] {
        let folder = configuration.folder.appendingPathComponent(name)
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
            .map(snapshot)
    }

    private func snapshot(in document: URL) throws -> DefaultSnapshot {
        try JSONDecoder().decode(DefaultSnapshot.self, from: Data(contentsOf: document))
    }

    // MARK: - Saving

    public func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> DataStoreSaveChangesResult<DefaultSnapshot> {
        try lock.withLock {
            var identifiers: [PersistentIdentifier: PersistentIdentifier] = [:]
            for snapshot in request.inserted {
                identifiers[snapshot.persistentIdentifier] = try .identifier(
                    for: identifier, entityName: snapshot.persistentIdentifier.entityName,
                    primaryKey: UUID().uuidString)
            }
            // Whatever cannot be encoded, or has no folder, is found before the first document is written.
            let documents = try (request.inserted + request.updated).map { snapshot in
                let permanent = identifiers[snapshot.persistentIdentifier] ?? snapshot.persistentIdentifier
                return try contents(
                    of: snapshot.copy(persistentIdentifier: permanent, remappedIdentifiers: identifiers))
            }
            for (contents, document) in documents { try contents.write(to: document, options: .atomic) }
            for snapshot in request.deleted {
                try FileManager.default.removeItem(at: document(of: snapshot.persistentIdentifier))
            }
            return DataStoreSaveChangesResult(for: identifier, remappedIdentifiers: identifiers)
        }
    }

    /// The contents of a model's document, and the document, whose folder exists.
    private func contents(of snapshot: DefaultSnapshot) throws -> (contents: Data, document: URL) {
        let document = document(of: snapshot.persistentIdentifier)
        try FileManager.default.createDirectory(
            at: document.deletingLastPathComponent(), withIntermediateDirectories: true)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return (try encoder.encode(snapshot), document)
    }

    public func erase() throws {
        try lock.withLock {
            for name in schema.entities.map(\.name) {
                let folder = configuration.folder.appendingPathComponent(name)
                if FileManager.default.fileExists(atPath: folder.path) {
                    try FileManager.default.removeItem(at: folder)
                }
            }
        }
    }

    private func document(of identifier: PersistentIdentifier) -> URL {
        configuration.folder.appendingPathComponent(identifier.entityName)
            .appendingPathComponent("\(identifier.documentName).json")
    }
}

extension PersistentIdentifier {
    /// The primary key that the store has given: the end of the encoded identifier.
    fileprivate var documentName: String {
        struct Coded: Decodable {
            struct Parts: Decodable { let primaryKey: String }
            let implementation: Parts
        }
        let coded = try? JSONDecoder().decode(Coded.self, from: JSONEncoder().encode(self))
        return coded?.implementation.primaryKey ?? "unknown"
    }
}
