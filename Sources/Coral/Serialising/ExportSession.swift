import CoreData
import GraphDocuments

// How an export runs.
//
// 1. `GraphShape` describes a part of the graph; `ShapePlan` resolves it against the model once for each entity, so
//    that nothing is looked up per object.
// 2. A whole store is read entity by entity, sorted by name and key, in batches (`ObjectLoader`), through a context of
//    its own that is reset after each batch and always reads the same state: `StoreSnapshot` holds a query generation,
//    and all code that reads stores in several steps (pages, comparisons, checks, copies, subsets, the commands) uses
//    one. If an export starts from roots, `GraphWalker` first finds the ids breadth first with a work list, without
//    recursion. Memory grows with the number of ids, not with the contents of objects. If an entity of a store has
//    several batches, another thread reads the next one in a context of its own while the current one is written
//    (`DraftBatches`).
// 3. `ObjectRecorder` creates drafts of a batch, `ObjectLoader.missing` finds dangling references, and the drafts
//    become records. `RecordComposer` decides what a record contains; a `RecordSource` reads the values, of a draft or
//    of a row. `OutsideReferences` creates the references to objects outside the document, from primary key and natural
//    key, and finds the objects that have no natural key.
// 4. A `GraphWriter` writes them. `NestedWalk` produces the nested layout; it is iterative and has a depth limit.
//
// A value whose file beside the store does not exist is represented by a reference to that file
// (`StoreEngine.missingFile`), from the row to the document (`ExternalFile.isMissing`) and back to the row of a restored
// store. `ExportSession` counts these values and treats them according to `MissingFilePolicy`.
//
// Whole stores of the engine are exported without objects, by the module `CoralRows`: `StoreRows` of the engine returns
// rows. `RowExport` writes the plain layout column by column, without records; `RowRecorder` reads rows for the
// records of flat documents and lines, entity by entity. Both resolve their columns before the first byte is written,
// or return the reason why objects are needed. Exports by rows and through objects write the
// same bytes.
//
// Exports, imports and copies represent how they are executed by a value (`Coral/Execution`): `ExecutionPath` is rows,
// objects with an `ObjectsReason`, or both; `RowCapability` is the result of the check whether rows suffice, with the
// plan for the rows. The public methods named `explain` and `explainStore` return the path.
//
// `Coral/Values` has a file for each attribute type: an `AttributeCodec` converts between key-value coding and
// documents, converts other types, and decides equality; a `RowCodec` of `CoralRows` does the same for the columns and
// cells of rows.
// `AttributePlan` is an attribute of the model with its codec.
//
// The command opens stores with `keepingStoredArchives()`: a copy of the model whose transformable attributes contain
// the stored bytes. Version hashes do not cover transformers, so the store opens, no class of the app is needed, and
// bytes that cannot be decoded are preserved.

/// One run of an exporter: walks the graph, creates records, and writes them.
package final class ExportSession {
    package let context: NSManagedObjectContext
    package let plan: ShapePlan
    package let recorder: ObjectRecorder
    package let layout: DocumentLayout
    /// How documents in another program's format are written.
    package let mapping: MappingPlan?
    package let plainLayout: PlainLayout?
    package let exporter: GraphExporter
    package let store: NSPersistentStore?
    /// The snapshot whose stores are written; nil for an export from a context.
    private let snapshot: StoreSnapshot?
    let model: NSManagedObjectModel
    package var result = ExportResult()
    private var progress: Progress?

    /// Creates a session that exports the stores of a snapshot. Must be called on the context's queue.
    ///
    /// - Parameter context: A context of the snapshot.
    convenience init(_ exporter: GraphExporter, context: NSManagedObjectContext, snapshot: StoreSnapshot) throws {
        try self.init(
            exporter, context: context, store: snapshot.coordinator.persistentStores.first, snapshot: snapshot)
    }

    package init(
        _ exporter: GraphExporter, context: NSManagedObjectContext, store: NSPersistentStore?,
        snapshot: StoreSnapshot? = nil
    ) throws {
        guard let model = ExportSession.model(of: context) else {
            throw ExportError(.noContext, "The context has no persistent store coordinator.")
        }
        self.exporter = exporter
        self.context = context
        self.store = store
        self.snapshot = snapshot
        self.model = model
        layout = exporter.layout ?? (exporter.mapping == nil ? exporter.format.defaultLayout : .nested)
        let identity = exporter.mapping?.completing(exporter.identity, in: model) ?? exporter.identity
        mapping = try exporter.mapping.map { try MappingPlan($0, model: model, identity: identity) }
        var shape = exporter.shape
        if let mapping { mapping.omitUnmapped(from: &shape, model: model) }
        plan = try ShapePlan(shape, model: model)
        let usesKeys = layout == .plain || mapping != nil || exporter.idScheme == .key
        let keys = usesKeys ? try KeyNames(context: context, model: model, identity: identity) : nil
        recorder = ObjectRecorder(plan: plan, names: RecordNames(store: store?.identifier, keys: keys))
        if layout == .plain, let keys {
            plainLayout = try PlainLayout(
                plan, keys: keys, dates: exporter.roundsDatesToMilliseconds ? .milliseconds : .exact,
                decimals: exporter.writesDecimalsAsNumbers ? .number : .string)
        } else {
            plainLayout = nil
        }
    }

    private static func model(of context: NSManagedObjectContext) -> NSManagedObjectModel? {
        sequence(first: context, next: \.parent).lazy.compactMap { $0.persistentStoreCoordinator?.managedObjectModel }
            .first
    }

    // MARK: - Exporting

    package func export(
        from roots: [NSManagedObjectID], to sink: any ByteSink, requiresRoots: Bool = false, progress: Progress?
    ) throws -> ExportResult {
        var writer = try makeWriter(to: sink)
        return try export(from: roots, to: &writer, requiresRoots: requiresRoots, progress: progress)
    }

    /// - Parameter requiresRoots: Whether a root that does not exist is an error; otherwise it is omitted.
    package func export(
        from roots: [NSManagedObjectID], to writer: inout any GraphWriter, requiresRoots: Bool = false,
        progress: Progress?
    ) throws -> ExportResult {
        self.progress = progress
        self.requiresRoots = requiresRoots
        let loader = makeLoader(countsRows: false)
        let included = roots.filter { plan.includes($0.entity) }
        if layout != .plain, mapping == nil {
            let keys = try recorder.names.keys ?? KeyNames(context: context, model: model, identity: exporter.identity)
            recorder.names.outside = OutsideReferences(keys)
            recorder.roots = included
        }
        var header = DocumentHeader(
            layout: layout, idScheme: scheme(of: included), model: model, store: store, isWholeStore: false)
        header.shape = exporter.shape.text
        if layout == .nested {
            try writer.begin(header)
            progress?.begin(included.count)
            recorder.names.outside?.addMembers(included)
            var nested = NestedExport(self, loader: loader)
            try nested.write(included, to: &writer)
        } else {
            let walker = GraphWalker(recorder: recorder, loader: loader) { [unowned self] _ in try checkCancelled() }
            // Unsaved objects are numbered in the order of the walk, whatever the order of writing.
            let ids = try walker.ids(from: included, didMiss: didMiss)
            if let plainLayout { try plan.omitUnwritten(in: plainLayout) }
            recorder.names.outside?.addMembers(ids)
            for id in ids where id.isTemporaryID { _ = recorder.names.name(of: id) }
            progress?.begin(ids.count)
            let groups = Dictionary(grouping: ids) { $0.entity.name ?? "" }
                .sorted { order.comesBefore($0.key, $1.key) }.map { sortedForWriting($0.value) }
            header.roots = try rootNames(included, written: groups, with: loader)
            try writer.begin(header)
            for ids in groups { try write(ids, with: loader, to: &writer) }
        }
        try noteKeylessReferences()
        try writer.finish()
        return result
    }

    /// Reports the references that can be resolved in the objects' own store only. Throws `ExportError` for the first one if
    /// the document must be portable.
    private func noteKeylessReferences() throws {
        for reference in recorder.names.outside?.keyless ?? [] {
            let found = UnresolvableReference(
                .keyless, recorder.names.name(of: reference.owner), reference.relationship,
                to: recorder.names.name(of: reference.target))
            if exporter.isPortable {
                let entity = reference.target.entity.name ?? ""
                throw ExportError(
                    .keylessReference,
                    "\(found) Give \(entity) a key: a uniqueness constraint, coral.identity in the model's user info, or "
                        + "GraphExporter.identity. Or let the shape embed \(reference.relationship).")
            }
            result.keylessReferences.add(found)
        }
    }

    /// The names of the roots, in their order; empty if the document consists of them in this order, or has no header.
    private func rootNames(
        _ roots: [NSManagedObjectID], written: [[NSManagedObjectID]], with loader: ObjectLoader
    ) throws -> [RecordID] {
        var met: Set<NSManagedObjectID> = []
        let distinct = roots.filter { met.insert($0).inserted }
        guard layout != .plain, mapping == nil, !written.joined().elementsEqual(distinct) else { return [] }
        if let keys = recorder.names.keys {
            try keys.prepare(distinct, with: loader)
        }
        return distinct.map(recorder.names.name)
    }

    /// Writes the whole store to a sink; a document in a file may have external files.
    func exportStore(to sink: any ByteSink, document: URL? = nil, progress: Progress?) throws -> ExportResult {
        self.progress = progress
        if case .rows = try Engine.current.writeRows(of: self, to: sink) { return result }
        var writer = try makeWriter(to: sink, document: document)
        return try exportStore(to: &writer, progress: progress)
    }

    /// Writes the whole store, from its rows where possible; the result is the same as with objects.
    ///
    /// - Parameter names: The entities whose own objects are written; nil for all.
    package func exportStore(
        to writer: inout any GraphWriter, progress: Progress?, fromRows: Bool = true, entities names: Set<String>? = nil
    ) throws -> ExportResult {
        self.progress = progress
        let loader = makeLoader(countsRows: true)
        let header = DocumentHeader(
            layout: layout, idScheme: exporter.idScheme == .key ? .mixed : .stored, model: model,
            store: context.persistentStoreCoordinator?.persistentStores.count == 1 ? store : nil, isWholeStore: true)
        try writer.begin(header)
        if let plainLayout { try plan.omitUnwritten(in: plainLayout) }
        let entities = storedEntities.filter { names?.contains($0.name ?? "") ?? true }
        progress?.begin(try entities.reduce(0) { try $0 + count(of: $1) })
        for entity in layout == .nested ? try order.ownersFirst(entities) : entities {
            if fromRows, case .rows = try Engine.current.writeRows(of: entity, in: self, to: &writer) { continue }
            let ids = try loader.ids(of: entity)
            if layout == .nested {
                if nested == nil { nested = NestedExport(self, loader: loader) }
                try nested?.write(ids, to: &writer)
            } else {
                try writeStored(ids, with: loader, to: &writer)
            }
        }
        try writer.finish()
        return result
    }

    /// Whether a root that does not exist is an error.
    private(set) var requiresRoots = false

    /// Throws if a root that does not exist is an error.
    func didMiss(_ root: NSManagedObjectID) throws {
        guard requiresRoots else { return }
        throw ExportError(.noContext, "\(root.uriRepresentation().absoluteString) is deleted.")
    }

    private var nested: NestedExport?

    private var order: EntityOrder { EntityOrder(plan: plan, plainLayout: plainLayout) }

    /// The entities that have rows of their own, in the order of their records.
    var storedEntities: [NSEntityDescription] { order.storedEntities(of: model) }

    private func count(of entity: NSEntityDescription) throws -> Int {
        let request = NSFetchRequest<NSFetchRequestResult>(entityName: entity.name ?? "")
        request.includesSubentities = false
        return try context.count(for: request)
    }

    /// The source of the ids in a document of these objects. The walk may add unsaved objects or objects of other
    /// stores.
    private func scheme(of roots: [NSManagedObjectID]) -> IDScheme {
        if exporter.idScheme == .key { return .mixed }
        if roots.allSatisfy(\.isTemporaryID) { return .walk }
        let stores = context.persistentStoreCoordinator?.persistentStores.count ?? 1
        return context.insertedObjects.isEmpty && stores <= 1 ? .stored : .mixed
    }

    /// Saved objects by primary key, then unsaved ones in the order of the walk.
    private func sortedForWriting(_ ids: [NSManagedObjectID]) -> [NSManagedObjectID] {
        ids.filter { !$0.isTemporaryID }.sortedByName { $0 } + ids.filter(\.isTemporaryID)
    }

    // MARK: - Writing

    /// Writes objects of the stores. If there are several batches, each is read while the one before is written.
    private func writeStored(
        _ ids: [NSManagedObjectID], with loader: ObjectLoader, to writer: inout any GraphWriter
    ) throws {
        guard ids.count > loader.batchSize, let snapshot else {
            try write(ids, with: loader, to: &writer)
            return try context.resetKeepingState()
        }
        let batches = try draftBatches ?? makeDraftBatches(of: snapshot)
        draftBatches = batches
        try batches.forEachBatch(of: ids) { drafts in
            try autoreleasing { try write(drafts, with: loader, to: &writer) }
            try context.resetKeepingState()
        }
    }

    private var draftBatches: DraftBatches?

    private func makeDraftBatches(of snapshot: StoreSnapshot) throws -> DraftBatches {
        let plan = try ShapePlan(plan.shape, model: model)
        if let plainLayout { try plan.omitUnwritten(in: plainLayout) }
        return DraftBatches(
            try snapshot.makeContext(), plan: plan, batchSize: exporter.batchSize, store: store?.identifier)
    }

    private func write(
        _ ids: [NSManagedObjectID], with loader: ObjectLoader, to writer: inout any GraphWriter
    ) throws {
        for start in stride(from: 0, to: ids.count, by: loader.batchSize) {
            try autoreleasing {
                let batch = Array(ids[start..<min(start + loader.batchSize, ids.count)])
                let drafts = try loader.objects(with: batch).compactMap { try $0.map(recorder.draft(of:)) }
                try write(drafts, with: loader, to: &writer)
            }
        }
    }

    private func write(
        _ drafts: [ObjectRecorder.Draft], with loader: ObjectLoader, to writer: inout any GraphWriter
    ) throws {
        for record in try records(of: drafts, with: loader) {
            try checkCancelled()
            try writer.write(record, of: plan.schema.entity(record.entity))
            didWrite(record)
        }
    }

    /// The records of loaded objects; dangling references are reported and omitted.
    func records(of objects: [NSManagedObject], with loader: ObjectLoader) throws -> [GraphRecord] {
        try records(of: try objects.map(recorder.draft(of:)), with: loader)
    }

    /// The records of drafts; dangling references are reported and omitted.
    func records(of drafts: [ObjectRecorder.Draft], with loader: ObjectLoader) throws -> [GraphRecord] {
        for draft in drafts { try applyMissingFilePolicy(to: draft) }
        let missing = try loader.missing(among: drafts.count == 1 ? drafts[0].targets : drafts.flatMap(\.targets))
        if let keys = recorder.names.keys {
            let named = drafts.lazy.filter(\.entity.isReferred).map(\.id)
            let targets = drafts.lazy.flatMap { $0.targets.joined() }.filter { !missing.contains($0) }
            try keys.prepare(Array(named) + targets, with: loader)
        }
        try recorder.names.outside?.note(in: drafts, missing: missing, loader: loader)
        return try drafts.map { draft in
            try recorder.record(of: draft, missing: missing) { relationship, target in
                noteMissing(target, relationship, of: recorder.names.name(of: draft.id))
            }
        }
    }

    /// Reports the values of an object whose files do not exist, and applies the exporter's policy to them.
    private func applyMissingFilePolicy(to draft: ObjectRecorder.Draft) throws {
        for index in draft.values.indices {
            guard case .file(let file) = draft.values[index], file.isMissing else { continue }
            let missing = UnresolvableReference(
                .file, "\(recorder.names.name(of: draft.id))", draft.entity.attributes[index].name, to: file.path)
            switch exporter.missingFiles {
            case .keep: break
            case .skip: draft.values[index] = .null
            case .fail: throw ExportError(.missingFile, missing.description)
            }
            result.missingFiles.add(missing)
        }
    }

    /// Reports a dangling reference.
    package func noteMissing(_ target: RecordID, _ relationship: String, of owner: RecordID) {
        result.danglingReferences.add(UnresolvableReference(.dangling, owner, relationship, to: target))
    }

    package func didWrite(_ record: GraphRecord) {
        result.counts[record.entity, default: 0] += 1
        progress?.completedUnitCount += 1
    }

    /// Sets the total of the progress.
    package func begin(total: Int) { progress?.setTotal(total) }

    /// Counts written objects, and checks for cancellation.
    package func didWrite(_ count: Int, of entity: String) throws {
        if count > 0 { result.counts[entity, default: 0] += count }
        progress?.completedUnitCount += Int64(count)
        try checkCancelled()
    }

    func checkCancelled() throws {
        if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
    }

    private func makeLoader(countsRows: Bool) -> ObjectLoader {
        ObjectLoader(
            context: context, plan: plan, batchSize: exporter.batchSize, storeIdentifier: store?.identifier,
            countsRows: countsRows, names: recorder.names.objects)
    }

    /// A writer of the exporter's format. A document in a file may have external files.
    func makeWriter(to sink: any ByteSink, document: URL? = nil) throws -> any GraphWriter {
        let output = ByteOutput(to: sink)
        if let mapping { return try exporter.format.graphWriter(to: output, plan: mapping, byEntity: layout == .flat) }
        if let plainLayout {
            guard exporter.format == .json else {
                throw ExportError(
                    .unsupported, "The plain layout is written as JSON, not as \(exporter.format.rawValue).")
            }
            return try PlainJSONWriter(to: output, layout: plainLayout, schema: plan.schema)
        }
        let writer = try exporter.format.graphWriter(to: output, layout: layout)
        guard let threshold = exporter.externalFileThreshold, let document else { return writer }
        return ExternalFileWriter(writer, threshold: threshold, folder: ExternalFileFolder(for: document))
    }
}

extension ExportSession {
    /// How each stored entity would be exported in an export of the whole store. Writes nothing.
    func explainStore() throws -> [String: ExecutionPath] {
        let document = try Engine.current.explainRows(of: self)
        var paths: [String: ExecutionPath] = [:]
        for entity in storedEntities {
            paths[entity.name ?? ""] =
                try plainLayout == nil ? Engine.current.explainRows(of: entity, in: self) : document
        }
        return paths
    }
}
