import AtomicFiles
import CoreDataErrors
import Foundation
import KeyedArchives
import ManagedObjects
import StoreSupport

/// An atomic store in a file of one of the engine's own formats. It uses only `NSAtomicStore`'s public methods, as a
/// program's own class does. The format encodes and decodes the file.
class FileStore: NSAtomicStore, LocatedStore,
    @unchecked Sendable  // because its state is used while the store is locked
{
    class var format: any StoreFileFormat.Type { preconditionFailure("A file store has a format.") }

    /// The document that was read, until nodes have been created from it; nil for a new store.
    private var document: StoreDocument?
    private var lastReference: Int64 = 0
    private var declaration: String?
    /// The state of the file when it was last read or written.
    private var stamp: FileStamp?

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
        stamp = FileStamp(url.path)
        let status = FileStatus(url.path)
        if !isReadOnly, status.map({ $0.isRegular && $0.byteCount == 0 }) != false {
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
                "Stores of type \(type) do not distinguish names that differ in case only: \(names.sorted()).", url: url
            )
        }
        try require(model.entities.compactMap(\.name), format.entityName)
        for entity in model.orderedEntities {
            try require(entity.layout.slots.compactMap(\.name) + entity.layout.toMany.map(\.name), format.propertyName)
        }
    }

    private static func document(at url: URL) throws -> StoreDocument {
        guard let status = FileStatus(url.path) else {
            throw CocoaError(.fileReadNoSuchFile, "There is no file at \(url.path).", url: url)
        }
        // Reading a pipe would wait for a writer.
        guard status.isRegular else {
            throw CocoaError(.fileReadUnknown, "\(url.path) is a folder, a device or a pipe, not a file.", url: url)
        }
        guard status.byteCount <= sizeLimit else {
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
        try write(format.data(of: document, url: url), to: url)
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
        let metadata = (metadata ?? [:]).filter { !Self.keysBesides.contains($0.key) }
        var document = StoreDocument(uuid: identifier, metadata: metadata, lastReference: lastReference)
        document.declaration = declaration
        let writer = FileStoreWriter(self, Self.format)
        document.objects = try cache.nodes.compactMap { $0 as? FileStoreNode }
            .sorted { $0.reference < $1.reference }.map(writer.object)
        try Self.write(Self.format.data(of: document, url: url), to: url, replacing: stamp)
        stamp = FileStamp(url.path)
    }

    package override func move(to url: URL) -> Bool {
        stamp = nil
        return super.move(to: url)
    }

    /// Writes a file atomically: a new file is written beside the location and then renamed. A symbolic link at the
    /// location is preserved, and the file that it refers to is replaced.
    ///
    /// - Parameter stamp: The state of the file that may be replaced; nil for any.
    /// - Throws: Code 134030 if the file has been changed or removed since; errors of the file system.
    private static func write(_ data: Data, to url: URL, replacing stamp: FileStamp? = nil) throws {
        do {
            let folder = try PartialFolder(for: url)
            try data.write(to: folder.item)
            // Immediately before the file is replaced: creating its content may have taken some time.
            if let stamp, FileStamp(url.path) != stamp {
                throw CocoaError(
                    .persistentStoreSave,
                    "The file has been changed since the store read it; a save would overwrite the changes.", url: url)
            }
            try folder.commit()
        } catch let error as FileError {
            throw CocoaError(writingStoreAt: url, error)
        }
    }

    /// Replaces a file by a copy of another one, after checking that it is a store.
    package static func replaceStore(at destination: URL, withStoreFrom source: URL) throws {
        if destination.standardizedFileURL == source.standardizedFileURL { return }
        _ = try document(at: source)
        let data = try Data(contentsOf: source)
        try FileManager.default.createDirectory(
            at: destination.deletingLastPathComponent(), withIntermediateDirectories: true)
        try write(data, to: destination)
    }

    package static var areFiles: Bool { true }

    package static func destroyStore(at url: URL, isForced: Bool) throws {
        if FileManager.default.fileExists(atPath: url.path) { try FileManager.default.removeItem(at: url) }
    }
}
