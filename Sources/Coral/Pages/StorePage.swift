import CoreData
import GraphDocuments

/// One page of HTML that shows the objects of a store, or some of them and what belongs to them, with links along their
/// relationships: to look at in a browser, or to send to somebody who has no tools.
///
///     try StorePage().writeStore(of: coordinator, to: AtomicFile(path: "Notes.html"))
///
/// The page stands alone: no other file, nothing from a network. It cannot be imported again. Every object is a table under
/// an address of its own, `#Note/p12`. Large text is cut, and of binary data the size is said; small pictures are shown.
///
/// Cost: the graph is read twice, first for what objects are called. Memory grows with the number of objects, by their names.
public struct StorePage: Sendable {
    /// Which part of the graph is shown.
    public var shape: GraphShape
    /// What becomes of values whose files beside the store do not exist.
    public var missingFiles = MissingFilePolicy.keep
    /// The page's title.
    public var title = "Store"
    /// The most characters that are shown of a text.
    public var textLimit = 2000
    /// The largest picture that is shown, in bytes; larger ones are only named.
    public var pictureLimit = 200_000

    /// A page of the graph that a shape says.
    public init(shape: GraphShape = .ownership) { self.shape = shape }

    /// Writes all that the coordinator's stores hold, in the order of entities and keys, all of one state.
    ///
    /// Throws `ShapeError`, what fetching and the sink throw, and `CocoaError.userCancelled`. Progress counts objects, each
    /// of them twice.
    @discardableResult
    public func writeStore(
        of coordinator: NSPersistentStoreCoordinator, to sink: any ByteSink, progress: Progress? = nil
    ) throws -> ExportResult {
        try writeStore(of: StoreSnapshot(of: coordinator), to: sink, progress: progress)
    }

    /// Writes all that a snapshot's stores hold, as `writeStore(of:to:progress:)` of a coordinator does.
    @discardableResult
    public func writeStore(
        of snapshot: StoreSnapshot, to sink: any ByteSink, progress: Progress? = nil
    ) throws -> ExportResult {
        try write(to: sink, progress) { writer, progress in
            try exporter.exportStore(of: snapshot) { try $0.exportStore(to: &writer, progress: progress) }
        }
    }

    /// Writes what a fetch finds, and what the shape embeds. Throws as `writeStore(of:to:progress:)` does.
    @discardableResult
    public func write(
        _ request: NSFetchRequest<NSManagedObjectID>, in context: NSManagedObjectContext, to sink: any ByteSink,
        progress: Progress? = nil
    ) throws -> ExportResult {
        request.resultType = .managedObjectIDResultType
        return try context.readingOneState {
            let ids = try context.fetch(request)
            return try write(to: sink, progress) { writer, progress in
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
        to sink: any ByteSink, _ progress: Progress?,
        _ export: (inout any GraphWriter, Progress?) throws -> ExportResult
    ) throws -> ExportResult {
        var names: any GraphWriter = PageNameCollector()
        _ = try export(&names, progress)
        guard let names = names as? PageNameCollector else { return ExportResult() }
        progress?.completedUnitCount = 0
        var page: any GraphWriter = PageWriter(self, names, to: ByteOutput(to: sink))
        return try export(&page, progress)
    }
}
