import Foundation
import KeyedArchives

/// An atomic store in a file of one of the engine's own formats. It uses only `NSAtomicStore`'s public methods, as a
/// program's own class does. The format encodes and decodes the file.
class FileStore: NSAtomicStore, @unchecked Sendable {  // because its state is used while the store is locked
    class var format: any StoreFileFormat.Type { preconditionFailure("A file store has a format.") }

    /// The document that was read, until nodes have been created from it; nil for a new store.
    private var document: StoreDocument?
    private var lastReference: Int64 = 0
    private var declaration: String?
    /// The state of the file when it was last read or written.
    private var fileState: FileState?

    /// Larger files are rejected, because the whole file is in memory.
    private static let sizeLimit = 1 << 30

    override var type: String { Self.format.storeType }

    // MARK: - Metadata

    override func loadMetadata() throws {
        guard let url, url.isFileURL, let model = persistentStoreCoordinator?.managedObjectModel else {
            throw CocoaError(
                .persistentStoreOpen, "A store of type \(type) needs a coordinator and a file URL.", url: url)
        }
        try requireDistinctNames(model)
        fileState = FileState(url)
        if !isReadOnly, fileState.map({ $0.size == 0 }) != false {
            return didLoadMetadata(
                StoreMetadata.version(of: model, configuration: configurationIfAny)
                    .merging(["NSPersistenceFrameworkVersion": StoreMetadata.frameworkVersion]) { $1 })
        }
        let document = try Self.document(at: url)
        identifier = document.uuid
        didLoadMetadata(document.metadata)
        self.document = document
    }

    /// Rejects a model with names that are the same in the format's spelling.
    private func requireDistinctNames(_ model: NSManagedObjectModel) throws {
        let format = Self.format
        func require(_ names: [String], _ spelling: (String) -> String) throws {
            guard Set(names.map(spelling)).count < names.count else { return }
            throw CocoaError(
                .persistentStoreIncompatibleSchema,
                "Stores of type \(type) do not tell names apart that differ in case: \(names.sorted()).", url: url)
        }
        try require(model.entities.compactMap(\.name), format.entityName)
        for entity in model.orderedEntities {
            try require(entity.layout.slots.compactMap(\.name) + entity.layout.toMany.map(\.name), format.propertyName)
        }
    }

    private static func document(at url: URL) throws -> StoreDocument {
        let size = try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int ?? 0
        guard size <= sizeLimit else {
            throw CocoaError(.fileReadTooLarge, "The file is larger than \(sizeLimit) bytes.", url: url)
        }
        return try format.document(from: Data(contentsOf: url), url: url)
    }

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        let document = try document(at: url)
        return document.metadata.merging([NSStoreTypeKey: format.storeType, NSStoreUUIDKey: document.uuid]) { $1 }
    }

    override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        var document = try document(at: url)
        let changed = metadata ?? [:]
        document.uuid = changed[NSStoreUUIDKey] as? String ?? document.uuid
        document.metadata = StoreMetadata.replacing(document.metadata, with: changed)
        document.metadata = document.metadata.filter { !keysBesides.contains($0.key) }
        try format.data(of: document, url: url).write(to: url, options: .atomic)
    }

    /// The metadata keys that the file stores elsewhere.
    private static let keysBesides = [NSStoreTypeKey, NSStoreUUIDKey]

    // MARK: - Reading

    override func load() throws {
        guard let document else { return try save() }
        self.document = nil
        declaration = document.declaration
        lastReference = max(document.lastReference, document.objects.map(\.reference).max() ?? 0)
        let reader = FileStoreReader(self, Self.format)
        addCacheNodes(Set(try reader.nodes(of: document)))
    }

    override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
        lastReference += 1
        return NSNumber(value: lastReference)
    }

    override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        let node = FileStoreNode(objectID: managedObject.objectID)
        updateCacheNode(node, from: managedObject)
        return node
    }

    // MARK: - Writing

    override func save() throws {
        guard let url else { throw CocoaError(.persistentStoreSave, "The store has no URL.") }
        if let fileState, FileState(url) != fileState {
            throw CocoaError(
                .persistentStoreSave,
                "The file has been changed since the store read it; saving would undo these changes.", url: url)
        }
        let metadata = (metadata ?? [:]).filter { !Self.keysBesides.contains($0.key) }
        var document = StoreDocument(uuid: identifier, metadata: metadata, lastReference: lastReference)
        document.declaration = declaration
        let writer = FileStoreWriter(self, Self.format)
        document.objects = try cacheNodes().compactMap { $0 as? FileStoreNode }
            .sorted { $0.reference < $1.reference }.map(writer.object)
        try Self.format.data(of: document, url: url).write(to: url, options: .atomic)
        fileState = FileState(url)
    }

    override func move(to url: URL) -> Bool {
        fileState = nil
        return super.move(to: url)
    }

    /// Replaces a file by a copy of another one, after checking that it is a store.
    static func replaceStore(at destination: URL, withStoreAt source: URL) throws {
        if destination.standardizedFileURL == source.standardizedFileURL { return }
        let data = try Data(contentsOf: source)
        _ = try format.document(from: data, url: source)
        try FileManager.default.createDirectory(
            at: destination.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: destination, options: .atomic)
    }
}

/// The properties by which two states of a file are distinguished.
private struct FileState: Equatable {
    let size: Int
    private let modified: Date?
    private let number: Int?

    /// Nil if there is no file.
    init?(_ url: URL) {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: url.path) else { return nil }
        size = attributes[.size] as? Int ?? 0
        modified = attributes[.modificationDate] as? Date
        number = attributes[.systemFileNumber] as? Int
    }
}
