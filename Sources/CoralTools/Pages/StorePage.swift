import CodedErrors
import Coral
import GraphDocuments

/// An HTML page that shows the objects of a store, or some objects with those that belong to them, with links for their
/// relationships. It can be viewed in a browser or sent to people without the tools.
///
///     try StorePage().exportStore(of: coordinator, to: AtomicFile(path: "Notes.html"))
///
/// The page is self-contained: it uses no other file and no network. It cannot be imported. Every object is a table
/// with an anchor, `#Note/p12`. Long text is truncated, binary data is shown as its size, and small pictures are shown.
///
/// Cost: the graph is read twice, first for the objects' names. Memory grows with the number of objects, by their
/// names.
public struct StorePage: Sendable {
    /// The part of the graph that is shown.
    public var shape: GraphShape
    /// The policy for values whose external files do not exist.
    public var missingFiles = MissingFilePolicy.keep
    /// The page's title.
    public var title = "Store"
    /// The maximum number of characters shown of a text.
    public var textLimit = 2000
    /// The maximum size of pictures that are shown, in bytes; for larger ones only the size is shown.
    public var pictureLimit = 200_000
    /// The maximum number of objects; of more the page is not written, because browsers do not show it. A page of a hundred
    /// thousand objects has some 90 MB.
    public var objectLimit = 100_000

    /// A page of a part of the graph.
    public init(shape: GraphShape = .ownership) { self.shape = shape }

    /// Writes the content of the coordinator's stores, ordered by entity and primary key, from one state.
    ///
    /// Throws `PageError` if there are more objects than ``objectLimit``, `ShapeError`, errors of fetching and of the sink, and
    /// `CocoaError.userCancelled`. Progress counts each object twice.
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
        let context = try snapshot.makeContext()
        let labels = context.performAndWait { LabelAttribute.names(in: context) }
        return try write(to: sink, labels, progress) { writer, progress in
            try exporter.exportStore(of: snapshot) { try $0.exportStore(to: &writer, progress: progress) }
        }
    }

    /// Writes the results of a fetch and the objects that the shape embeds. Throws as `exportStore(of:to:progress:)`
    /// does.
    @discardableResult
    public func export(
        _ request: NSFetchRequest<NSManagedObjectID>, in context: NSManagedObjectContext, to sink: any ByteSink,
        progress: Progress? = nil
    ) throws -> ExportResult {
        request.resultType = .managedObjectIDResultType
        return try context.readingOneState {
            let ids = try context.fetch(request)
            return try write(to: sink, LabelAttribute.names(in: context), progress) { writer, progress in
                let session = try ExportSession(exporter, context: context, store: ids.first?.persistentStore)
                return try session.export(from: ids, to: &writer, progress: progress)
            }
        }
    }

    private var exporter: GraphExporter {
        var exporter = GraphExporter(layout: .flat, shape: shape)
        exporter.missingFiles = missingFiles
        return exporter
    }

    private func write(
        to sink: any ByteSink, _ labels: [String: String], _ progress: Progress?,
        _ export: (inout any GraphWriter, Progress?) throws -> ExportResult
    ) throws -> ExportResult {
        var names: any GraphWriter = PageNameCollector(labels: labels, objectLimit: objectLimit)
        _ = try export(&names, progress)
        guard let names = names as? PageNameCollector else { return ExportResult() }
        progress?.completedUnitCount = 0
        var page: any GraphWriter = PageWriter(self, names, to: ByteOutput(to: sink))
        return try export(&page, progress)
    }
}

extension StorePage: ErrorDomain {}

/// Why a page is not written.
public typealias PageError = CodedError<StorePage>

extension PageError.Code {
    /// The page would have more objects than its limit.
    public static let tooManyObjects = Self(rawValue: "tooManyObjects")
}
