import CoreData
import Foundation
import GraphDocuments

/// Writes graphs of managed objects to documents: objects with the objects they own, the results of a fetch, or whole
/// stores.
///
///     let exporter = GraphExporter(format: .json, shape: .everything)
///     try exporter.export([note], to: url)
///
/// The same data give the same bytes. Unsaved objects are written as they are in their context. Call it on the
/// context's queue. Every method takes a `Progress`, counted in objects; when it is cancelled, the method throws
/// `CocoaError.userCancelled` and leaves no file.
public struct GraphExporter: Sendable {
    /// The format of the documents.
    public var format: GraphFormat
    /// The arrangement of records; nil for the format's default, which is flat, or lines.
    public var layout: DocumentLayout?
    /// The part of the graph that is written. A whole store is written completely, except for excluded and omitted
    /// properties and entities.
    public var shape: GraphShape
    /// How documents in another program's format map to the model; nil for this package's own documents.
    public var mapping: Mapping?
    /// The identity of objects: used for references to objects outside the document, and for all references in the plain layout and
    /// with a mapping.
    public var identity = ObjectIdentity()
    /// The source of ids in this package's own documents: by default the store's primary keys. With `.key` an object
    /// with a declared identity gets an id of its natural key, such as `Tag/=home`, which is the same in every store.
    package var idScheme = IDScheme.stored
    /// Whether other stores must be able to resolve all references of a document of objects: an export
    /// throws `ExportError` if a reference to an object outside the document has no natural key. Otherwise the result
    /// lists such references (`ExportResult.keylessReferences`).
    public var isPortable = false
    /// Whether dates in the plain layout are rounded to milliseconds. By default they have full precision.
    public var roundsDatesToMilliseconds = false
    /// Whether decimals in the plain layout are numbers instead of strings.
    public var writesDecimalsAsNumbers = false
    /// The policy for values whose external files do not exist. The result counts and lists them. The plain layout and
    /// documents of a mapping cannot represent such a reference and have null.
    public var missingFiles = MissingFilePolicy.keep
    /// The number of objects that are loaded together. A flat or line export holds at most one batch in memory.
    public var batchSize: Int
    /// The size in bytes from which binary and transformable values are written to files of their own, in a folder
    /// beside the document (`notes.json.files` beside `notes.json`); nil writes them into the document. Documents in
    /// memory have no folder and contain all values.
    public var externalFileThreshold: Int?

    /// Creates an exporter for a format, a layout, and a shape.
    public init(
        format: GraphFormat = .json, layout: DocumentLayout? = nil, shape: GraphShape = .ownership,
        batchSize: Int = 500
    ) {
        self.format = format
        self.layout = layout
        self.shape = shape
        self.batchSize = batchSize
    }

    // MARK: - Objects

    /// Writes objects and the objects that the shape embeds to a file, which is replaced atomically. Without objects the document is
    /// empty, and its header does not describe the model.
    ///
    /// Throws `ExportError` if an object is deleted, or the objects have no context or several, `ShapeError`, `DocumentError` if the file cannot
    /// be written, and errors of fetching.
    @discardableResult
    public func export(
        _ objects: [NSManagedObject], to url: URL, progress: Progress? = nil
    ) throws -> ExportResult {
        guard !objects.isEmpty else { return try exportNothing(to: AtomicFile(path: url.path)) }
        let context = try context(of: objects)
        return try context.readingOneState {
            let session = try session(for: objects, in: context)
            var writer = try session.makeWriter(to: AtomicFile(path: url.path), document: url)
            return try session.export(
                from: objects.map(\.objectID), to: &writer, requiresRoots: true, progress: progress)
        }
    }

    /// Objects and the objects that the shape embeds as a document in memory. Throws as `export(_:to:progress:)` does.
    public func encoded(_ objects: [NSManagedObject], progress: Progress? = nil) throws -> Data {
        let sink = MemorySink()
        try export(objects, to: sink, progress: progress)
        return sink.data
    }

    /// Writes objects and the objects that the shape embeds to any sink of bytes.
    @discardableResult
    public func export(
        _ objects: [NSManagedObject], to sink: any ByteSink, progress: Progress? = nil
    ) throws -> ExportResult {
        guard !objects.isEmpty else { return try exportNothing(to: sink) }
        let context = try context(of: objects)
        return try context.readingOneState {
            try session(for: objects, in: context).export(
                from: objects.map(\.objectID), to: sink, requiresRoots: true, progress: progress)
        }
    }

    /// Objects and the objects that the shape embeds as dictionaries and arrays of Foundation's objects: the header
    /// under `$header`, then the objects. The exporter's format is not used. The whole result is in memory.
    public func dictionary(
        _ objects: [NSManagedObject], style: DictionaryStyle, progress: Progress? = nil
    ) throws -> [String: Any] {
        guard !objects.isEmpty else {
            var writer: any GraphWriter = try DictionaryGraphWriter(
                style: style, layout: layout ?? format.defaultLayout)
            _ = try exportNothing(to: &writer)
            return (writer as? DictionaryGraphWriter)?.document ?? [:]
        }
        return try dictionaries(objects, style: style, progress: progress)?.document ?? [:]
    }

    func dictionaries(
        _ objects: [NSManagedObject], style: DictionaryStyle, progress: Progress?
    ) throws -> DictionaryGraphWriter? {
        try dictionaries(from: session(for: objects), objects, style: style, progress: progress)
    }

    /// Objects as independent dictionaries: without a header, and with URIs as ids.
    func separateDictionaries(_ objects: [NSManagedObject], style: DictionaryStyle) throws -> [[String: Any]] {
        if objects.isEmpty { return [] }
        let session = try ExportSession(self, context: context(of: objects), store: nil)
        return try dictionaries(from: session, objects, style: style, progress: nil)?.objects ?? []
    }

    private func dictionaries(
        from session: ExportSession, _ objects: [NSManagedObject], style: DictionaryStyle, progress: Progress?
    ) throws -> DictionaryGraphWriter? {
        var writer: any GraphWriter = try DictionaryGraphWriter(style: style, layout: session.layout)
        try session.context.readingOneState {
            _ = try session.export(
                from: objects.map(\.objectID), to: &writer, requiresRoots: true, progress: progress)
        }
        return writer as? DictionaryGraphWriter
    }

    /// Objects as dictionaries of Foundation's objects according to the mapping: an array, or with the flat layout a
    /// dictionary with an array for each entity. Requires a `mapping`. The whole result is in memory.
    public func mappedDictionaries(
        _ objects: [NSManagedObject], style: DictionaryStyle = .native, progress: Progress? = nil
    ) throws -> Any {
        let session = try session(for: objects)
        guard let plan = session.mapping else {
            throw ExportError(.unsupported, "The exporter has no mapping.")
        }
        var writer: any GraphWriter = try MappedDictionaryWriter(
            plan: plan, style: style, byEntity: session.layout == .flat)
        try session.context.readingOneState {
            _ = try session.export(
                from: objects.map(\.objectID), to: &writer, requiresRoots: true, progress: progress)
        }
        return (writer as? MappedDictionaryWriter)?.document ?? []
    }

    func session(for objects: [NSManagedObject]) throws -> ExportSession {
        try session(for: objects, in: context(of: objects))
    }

    private func session(for objects: [NSManagedObject], in context: NSManagedObjectContext) throws -> ExportSession {
        try ExportSession(self, context: context, store: objects.first?.objectID.persistentStore)
    }

    private func context(of objects: [NSManagedObject]) throws -> NSManagedObjectContext {
        try objects.commonContext(to: "export") { ExportError(.noContext, $0) }
    }

    /// Writes a document without objects. Its header does not describe a model, which only objects have.
    private func exportNothing(to writer: inout any GraphWriter) throws -> ExportResult {
        try writer.begin(DocumentHeader(layout: layout ?? format.defaultLayout))
        try writer.finish()
        return ExportResult()
    }

    private func exportNothing(to sink: any ByteSink) throws -> ExportResult {
        guard mapping == nil else {
            throw ExportError(.unsupported, "Without objects, there is no model for the mapping.")
        }
        let output = ByteOutput(to: sink)
        var writer: any GraphWriter =
            try layout == .plain
            ? PlainJSONWriter(to: output, layout: PlainLayout(entities: []), schema: GraphSchema(entities: []))
            : format.graphWriter(to: output, layout: layout ?? format.defaultLayout)
        return try exportNothing(to: &writer)
    }

    /// Writes the results of a fetch and the objects that the shape embeds. The request's sort descriptors determine
    /// the order of roots in the nested layout.
    @discardableResult
    public func export(
        _ request: NSFetchRequest<NSManagedObjectID>, in context: NSManagedObjectContext, to sink: any ByteSink,
        progress: Progress? = nil
    ) throws -> ExportResult {
        // The caller's request keeps its result type.
        guard let request = request.copy() as? NSFetchRequest<NSManagedObjectID> else { return ExportResult() }
        request.resultType = .managedObjectIDResultType
        return try context.readingOneState {
            let ids = try context.fetch(request)
            let session = try ExportSession(self, context: context, store: ids.first?.persistentStore)
            return try session.export(from: ids, to: sink, progress: progress)
        }
    }

    // MARK: - Whole stores

    /// Writes the content of the coordinator's stores to a file, which is replaced atomically.
    @discardableResult
    public func exportStore(
        of coordinator: NSPersistentStoreCoordinator, to url: URL, progress: Progress? = nil
    ) throws -> ExportResult {
        try exportStore(of: StoreSnapshot(of: coordinator), to: url, progress: progress)
    }

    /// Writes the content of a snapshot's stores to a file, which is replaced atomically.
    @discardableResult
    public func exportStore(
        of snapshot: StoreSnapshot, to url: URL, progress: Progress? = nil
    ) throws -> ExportResult {
        try exportStore(of: snapshot) { session in
            try session.exportStore(to: AtomicFile(path: url.path), document: url, progress: progress)
        }
    }

    /// Writes the content of the coordinator's stores through a context of its own, entity by entity, in the order of
    /// names and primary keys. The export reads one state of the stores, even while other contexts save; unsaved
    /// changes of other contexts are not included.
    ///
    /// Cost: for each entity a statement for its primary keys; for each batch a statement for the rows and one for each
    /// to-many relationship. Memory holds one batch, and the primary keys of one entity. Stores of this package's
    /// engine are written without objects, with a statement for each entity and to-many relationship, in the plain
    /// shape as JSON, and in flat documents and lines for every entity whose rows contain all values; memory then holds
    /// one row.
    @discardableResult
    public func exportStore(
        of coordinator: NSPersistentStoreCoordinator, to sink: any ByteSink, progress: Progress? = nil
    ) throws -> ExportResult {
        try exportStore(of: StoreSnapshot(of: coordinator), to: sink, progress: progress)
    }

    /// Writes the content of a snapshot's stores, as `exportStore(of:to:progress:)` of a coordinator does.
    @discardableResult
    public func exportStore(
        of snapshot: StoreSnapshot, to sink: any ByteSink, progress: Progress? = nil
    ) throws -> ExportResult {
        try exportStore(of: snapshot) { try $0.exportStore(to: sink, progress: progress) }
    }

    /// How the objects of each entity would be exported by `exportStore`: from the store's rows, or through managed
    /// objects with the first reason. A document in the plain layout is exported either from rows or through objects.
    ///
    /// Cost: for the plain layout a statement for each key without a uniqueness constraint; nothing is written.
    ///
    /// Throws as `exportStore` does for an exporter that does not fit the model.
    package func explainStore(of coordinator: NSPersistentStoreCoordinator) throws -> [String: ExecutionPath] {
        try exportStore(of: StoreSnapshot(of: coordinator)) { try $0.explainStore() }
    }

    /// Runs an export of whole stores in a context of its own.
    package func exportStore<Result>(
        of snapshot: StoreSnapshot, _ body: (ExportSession) throws -> Result
    ) throws -> Result {
        let context = try snapshot.makeContext()
        return try context.performAndWait {
            try body(ExportSession(self, context: context, snapshot: snapshot))
        }
    }
}

extension GraphFormat {
    /// The format of files with this extension; nil for an unknown extension.
    package init?(fileExtension: String) {
        switch fileExtension.lowercased() {
        case "json": self = .json
        case "jsonl", "ndjson": self = .jsonLines
        case "plist": self = .propertyList
        case "xml": self = .xml
        default: return nil
        }
    }

    /// The layout that a format uses by default.
    package var defaultLayout: DocumentLayout { self == .jsonLines ? .lines : .flat }
}

/// The folder of a document, with the files beside it that contain its large values.
package struct DocumentFolder {
    private let folder: URL?

    /// Nil means that no file may be read.
    package init(_ folder: URL?) { self.folder = folder }

    /// A file's bytes. Throws `ImportError` for a path outside the folder (by `..`, a link, or an absolute path), and
    /// for a file that cannot be read or whose size differs from the size that the document states.
    package func contents(of file: ExternalFile) throws -> Data {
        let parts = file.path.split(separator: "/", omittingEmptySubsequences: false)
        guard let folder, !parts.contains(".."), !parts.contains("."), !parts.contains(""), !file.path.contains("\0")
        else { throw ImportError(.file, "Reading the file \"\(file.path)\" is not allowed.") }
        let url = folder.appendingPathComponent(file.path)
        // A symbolic link could refer to a file outside the folder.
        let path = url.resolvingSymlinksInPath().path
        guard path.hasPrefix(folder.resolvingSymlinksInPath().path + "/") else {
            throw ImportError(.file, "The file \"\(file.path)\" is outside the document's folder.")
        }
        guard let data = try? Data(contentsOf: url) else {
            throw ImportError(.file, "The file \"\(file.path)\" cannot be read.")
        }
        guard file.byteCount.map({ $0 == data.count }) ?? true else {
            throw ImportError(.file, "The file \"\(file.path)\" does not have the size that the document states.")
        }
        return data
    }
}
