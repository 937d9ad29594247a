import CoreData
import GraphDocuments

/// Writes graphs of managed objects to documents: some objects and what belongs to them, what a fetch finds, or whole stores.
///
///     let exporter = GraphExporter(format: .json, shape: .everything)
///     try exporter.export([note], to: url)
///
/// The same data give the same bytes. Objects that are not saved are written as they are in their context. Call it where the
/// context may be used: on its queue. Every method takes a `Progress`, counted in objects; cancelling it makes the method
/// throw `CocoaError.userCancelled`, and leaves no file.
public struct GraphExporter: Sendable {
    /// The format of the documents.
    public var format: GraphFormat
    /// How records are laid out; nil for the format's own, which is flat, or lines.
    public var layout: DocumentShape?
    /// Which part of the graph is written. A whole store is written whole, but for what the shape excludes or omits.
    public var shape: GraphShape
    /// How documents of somebody else's design say what objects hold; nil for documents of ours.
    public var mapping: Mapping?
    /// What identifies objects: in the plain shape and by a mapping, where references are keys, and where `idScheme` says so.
    public var identity = ImportIdentity()
    /// What ids are made from, in documents of ours: by default the store's keys. With `.key` an object that has a declared
    /// identity is called by it, as `Tag/=home`, and is so in every store.
    public var idScheme = IDScheme.stored
    /// How dates are written in the plain shape: with all their digits, unless said otherwise.
    public var plainDates = PlainLayout.DateForm.exact
    /// How decimals are written in the plain shape.
    public var plainDecimals = PlainLayout.DecimalForm.string
    /// What becomes of values whose files beside the store do not exist. The result counts and names them. The plain shape
    /// and documents of a mapping have no place for a reference, and have null.
    public var missingFiles = MissingFilePolicy.keep
    /// The number of objects that are loaded together, and at most held in memory by a flat or line export.
    public var batchSize: Int
    /// The size in bytes from which binary and transformable values stand in files of their own, in a folder beside the
    /// document (`notes.json.files` beside `notes.json`); nil for in the document. Documents in memory have no folder and
    /// hold everything.
    public var externalFileThreshold: Int?

    /// An exporter of a format, with a layout, and a shape that says what belongs to objects.
    public init(
        format: GraphFormat = .json, layout: DocumentShape? = nil, shape: GraphShape = .ownership,
        batchSize: Int = 500
    ) {
        self.format = format
        self.layout = layout
        self.shape = shape
        self.batchSize = batchSize
    }

    // MARK: - Objects

    /// Writes objects and what the shape embeds to a file, which is replaced when all is written.
    ///
    /// Throws `ExportError` where the objects have no context or several, `ShapeError`, `DocumentError` where the file cannot
    /// be written, and what fetching throws.
    @discardableResult
    public func export(
        _ objects: [NSManagedObject], to url: URL, progress: Progress? = nil
    ) throws -> ExportResult {
        try context(of: objects).readingOneState {
            let session = try session(for: objects)
            var writer = try session.makeWriter(to: AtomicFile(path: url.path), document: url)
            return try session.export(from: objects.map(\.objectID), to: &writer, progress: progress)
        }
    }

    /// Objects and what the shape embeds as a document in memory. Throws as `export(_:to:progress:)` does.
    public func data(_ objects: [NSManagedObject], progress: Progress? = nil) throws -> Data {
        let sink = MemorySink()
        try export(objects, to: sink, progress: progress)
        return sink.data
    }

    /// Writes objects and what the shape embeds to any sink of bytes.
    @discardableResult
    public func export(
        _ objects: [NSManagedObject], to sink: any ByteSink, progress: Progress? = nil
    ) throws -> ExportResult {
        try context(of: objects).readingOneState {
            try session(for: objects).export(from: objects.map(\.objectID), to: sink, progress: progress)
        }
    }

    /// Objects and what the shape embeds as dictionaries and arrays of Foundation's objects: the header under `$header`, then
    /// the objects. The format does not matter here. Everything is in memory.
    public func dictionary(
        _ objects: [NSManagedObject], style: DictionaryStyle, progress: Progress? = nil
    ) throws -> [String: Any] {
        try dictionaries(objects, style: style, progress: progress)?.document ?? [:]
    }

    func dictionaries(
        _ objects: [NSManagedObject], style: DictionaryStyle, progress: Progress?
    ) throws -> DictionaryGraphWriter? {
        try dictionaries(from: session(for: objects), objects, style: style, progress: progress)
    }

    /// Objects as dictionaries that stand alone: without a header, and with URIs for ids.
    func separateDictionaries(_ objects: [NSManagedObject], style: DictionaryStyle) throws -> [[String: Any]] {
        let context = try context(of: objects)
        let session = try ExportSession(self, context: context, store: nil)
        return try dictionaries(from: session, objects, style: style, progress: nil)?.objects ?? []
    }

    private func dictionaries(
        from session: ExportSession, _ objects: [NSManagedObject], style: DictionaryStyle, progress: Progress?
    ) throws -> DictionaryGraphWriter? {
        var writer: any GraphWriter = try DictionaryGraphWriter(style: style, shape: session.layout)
        try session.context.readingOneState {
            _ = try session.export(from: objects.map(\.objectID), to: &writer, progress: progress)
        }
        return writer as? DictionaryGraphWriter
    }

    /// Objects and what the mapping holds as dictionaries of Foundation's objects: an array of them, or with the flat layout a
    /// dictionary with an array for each entity. Wants a `mapping`. Everything is in memory.
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
            _ = try session.export(from: objects.map(\.objectID), to: &writer, progress: progress)
        }
        return (writer as? MappedDictionaryWriter)?.document ?? []
    }

    func session(for objects: [NSManagedObject]) throws -> ExportSession {
        try ExportSession(self, context: context(of: objects), store: objects.first?.objectID.persistentStore)
    }

    private func context(of objects: [NSManagedObject]) throws -> NSManagedObjectContext {
        let contexts = Set(objects.map { $0.managedObjectContext.map(ObjectIdentifier.init) })
        guard contexts.count <= 1, let context = objects.first?.managedObjectContext else {
            throw ExportError(.noContext, "Objects to export must be of one context, and there must be one.")
        }
        return context
    }

    /// Writes what a fetch finds, and what the shape embeds. The request's sort descriptors decide the order of roots in the
    /// nested shape.
    @discardableResult
    public func export(
        _ request: NSFetchRequest<NSManagedObjectID>, in context: NSManagedObjectContext, to sink: any ByteSink,
        progress: Progress? = nil
    ) throws -> ExportResult {
        request.resultType = .managedObjectIDResultType
        return try context.readingOneState {
            let ids = try context.fetch(request)
            let session = try ExportSession(self, context: context, store: ids.first?.persistentStore)
            return try session.export(from: ids, to: sink, progress: progress)
        }
    }

    // MARK: - Whole stores

    /// Writes all that the coordinator's stores hold to a file, which is replaced when all is written.
    @discardableResult
    public func exportStore(
        of coordinator: NSPersistentStoreCoordinator, to url: URL, progress: Progress? = nil
    ) throws -> ExportResult {
        try exportStore(of: StoreSnapshot(of: coordinator), to: url, progress: progress)
    }

    /// Writes all that a snapshot's stores hold to a file, which is replaced when all is written.
    @discardableResult
    public func exportStore(
        of snapshot: StoreSnapshot, to url: URL, progress: Progress? = nil
    ) throws -> ExportResult {
        try exportStore(of: snapshot) { session in
            try session.exportStore(to: AtomicFile(path: url.path), document: url, progress: progress)
        }
    }

    /// Writes all that the coordinator's stores hold, entity by entity, in the order of names and keys, through a context of
    /// its own. All of it is of one state, whoever saves meanwhile; what other contexts have not saved is not part of it.
    ///
    /// Cost: for each entity a statement for its keys; for each batch a statement for the rows and one for each to-many
    /// relationship. Memory holds one batch, and the keys of one entity. On this package's own store the plain shape as JSON,
    /// and in flat documents and lines every entity whose rows tell all, are written without objects, with a statement for
    /// each entity and to-many relationship; memory holds a row.
    @discardableResult
    public func exportStore(
        of coordinator: NSPersistentStoreCoordinator, to sink: any ByteSink, progress: Progress? = nil
    ) throws -> ExportResult {
        try exportStore(of: StoreSnapshot(of: coordinator), to: sink, progress: progress)
    }

    /// Writes all that a snapshot's stores hold, as `exportStore(of:to:progress:)` of a coordinator does.
    @discardableResult
    public func exportStore(
        of snapshot: StoreSnapshot, to sink: any ByteSink, progress: Progress? = nil
    ) throws -> ExportResult {
        try exportStore(of: snapshot) { try $0.exportStore(to: sink, progress: progress) }
    }

    /// Runs an export of whole stores in a context of its own.
    func exportStore<Result>(
        of snapshot: StoreSnapshot, _ body: (ExportSession) throws -> Result
    ) throws -> Result {
        let context = try snapshot.makeContext()
        return try context.performAndWait {
            try body(ExportSession(self, context: context, store: snapshot.coordinator.persistentStores.first))
        }
    }
}
