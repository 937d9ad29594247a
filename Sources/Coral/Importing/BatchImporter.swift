import CoreData
import GraphDocuments

/// Imports documents of any length into a store in batches.
///
/// A document in the plain layout (`options.reading.layout`), as JSON, is imported by rows if `rowImporting` and the
/// other options allow it: in one pass and one transaction, so that an error or cancellation leaves the store
/// unchanged. Memory holds some hundred records and some 25 bytes for each object of the document.
///
/// Any other document is imported in batches of objects, each of which is saved on its own. Relationships to records
/// that were not read yet are deferred: if there are any, the document is read a second time for these. Memory holds one
/// batch and the ids of all records. After an error or cancellation the batches saved before it stay in the store. For all-or-nothing imports use
/// `importDocument(_:intoStoreAt:model:…)`, which works on a copy of the store, or `GraphImporter`, which works in
/// memory.
///
/// No plan is kept: the result has counts and the first entries of each kind. Deletion scopes need the whole document
/// at once and are refused. A key that includes a relationship is resolved only if the related record is in the same
/// or an earlier batch, as in documents that list owners before the objects they own. Core Data validates each save, so
/// on Apple's platforms a required relationship must be stated in the same batch as its object, by that object's record
/// or by another, or refer to an earlier batch. Elsewhere required relationships are checked after all batches.
public struct BatchImporter {
    /// The coordinator of the store that is imported into.
    public let coordinator: NSPersistentStoreCoordinator
    /// How documents are imported.
    public var options: ImportOptions
    /// The number of records that are imported together. An object at the top and the objects nested inside it stay in
    /// one batch.
    public var batchSize: Int
    /// Whether documents in the plain layout may be imported by rows, without objects.
    public var rowImporting = RowImporting.automatic

    /// An importer into the stores of a coordinator.
    public init(
        into coordinator: NSPersistentStoreCoordinator, options: ImportOptions = ImportOptions(), batchSize: Int = 5000
    ) {
        self.coordinator = coordinator
        self.options = options
        self.batchSize = max(batchSize, 1)
        self.options.entryLimit = min(options.entryLimit, 100)
    }

    /// The counts and first entries of an import.
    public struct Result: Sendable {
        /// The number of records read.
        public internal(set) var recordCount = 0
        /// The number of objects inserted.
        public internal(set) var insertCount = 0
        /// The number of objects whose values were changed.
        public internal(set) var updateCount = 0
        /// The number of relationships changed.
        public internal(set) var linkCount = 0
        /// The number of objects deleted.
        public internal(set) var deletionCount = 0
        /// The number of conflicts resolved by policies.
        public internal(set) var conflictCount = 0
        /// The number of values whose files did not exist when the document was written.
        public internal(set) var missingFileCount = 0
        /// The first values whose files did not exist.
        public internal(set) var missingFiles: [ImportMissingFile] = []
        /// The first conflicts.
        public internal(set) var conflicts: [ImportConflict] = []
        /// The errors of the first omitted records, if `skipsInvalid` is set.
        public internal(set) var errors: [ImportError] = []
        /// The number of omitted records.
        public internal(set) var errorCount = 0
        /// The number of batches saved, those of deferred relationships included; 1 for an import by rows.
        public internal(set) var savedBatchCount = 0
        /// Whether the document was imported by rows, or why it was not.
        public internal(set) var path = ExecutionPath.rows
    }

    /// Imports a document. `progress` counts bytes, twice if relationships are deferred.
    ///
    /// Cost by rows: one statement for each row and pair written, and one for each entity and 500 records of it if
    /// the store already had objects; one more for each owner of an ordered relationship. Contexts receive the changed
    /// object IDs afterwards.
    ///
    /// Throws `DocumentError`, `ImportError`, `CocoaError.userCancelled`, and errors of fetching and saving.
    @discardableResult
    public func importDocument(
        _ source: ImportSource, entity: String? = nil, progress: Progress? = nil
    ) throws -> Result {
        let model = try ImportModel(coordinator.managedObjectModel, options: options)
        try refuseWhatNeedsAll()
        let reason: ObjectsReason
        switch try importRows(source, entity: entity, model: model, progress: progress) {
        case .rows(let result): return result
        case .objects(let because): reason = because
        }
        let run = BatchRun(self, model: model, entity: entity, progress: progress)
        try run.importBatches(of: source)
        try run.setDeferredLinks(of: source)
        try run.checkRequirements()
        var result = run.result
        result.path = .objects(because: reason)
        return result
    }

    /// How a document would be imported: by rows, or through objects with the first reason.
    ///
    /// Options, model and store are checked first. If they permit rows, the import is executed by rows and rolled back,
    /// because a single record may need objects. Cost: that of an import by rows.
    ///
    /// Throws as `importDocument` does.
    public func explain(
        _ source: ImportSource, entity: String? = nil, progress: Progress? = nil
    ) throws -> ExecutionPath {
        let model = try ImportModel(coordinator.managedObjectModel, options: options)
        try refuseWhatNeedsAll()
        return try importRows(source, entity: entity, model: model, saves: false, progress: progress).path
    }

    func importRows(
        _ source: ImportSource, entity: String?, model: ImportModel, saves: Bool = true, progress: Progress?
    ) throws -> RowCapability<Result> {
        switch try rowCapability(source, entity: entity, model: model) {
        case .rows(let rows): try importRows(source, of: rows, model: model, saves: saves, progress: progress)
        case .objects(let reason): .objects(because: reason)
        }
    }

    /// The options for reading documents.
    func reading(_ model: ImportModel, entity: String?) -> ReadingOptions {
        var reading = options.reading
        reading.keepsMismatchedValues = true
        reading.rootEntity = entity ?? reading.rootEntity
        if [.skip, .keep].contains(options.otherModel) { reading.unknownEntities = .skip }
        if reading.layout == .plain, reading.plainLayout == nil { reading.plainLayout = PlainLayout(model) }
        return reading
    }

    private func refuseWhatNeedsAll() throws {
        guard options.deletionScopes.isEmpty else {
            throw ImportError(.unsupported, "Deletion scopes need the whole document at once: use GraphImporter.")
        }
    }
}

/// One run of a batch importer.
private final class BatchRun {
    private let importer: BatchImporter
    private let model: ImportModel
    private let entity: String?
    private let progress: Progress?
    private let context: NSManagedObjectContext
    private(set) var result = BatchImporter.Result()
    private var ids: [RecordID: NSManagedObjectID] = [:]
    /// The deferred relationships, by the id of their record.
    private var deferred: [RecordID: DeferredLinks] = [:]
    private var requirements = OpenRequirements<NSManagedObjectID, RecordID>()
    /// Whether the context saves objects that lack required relationships.
    private var defersRequirements = false
    /// The number of bytes of an earlier pass.
    private var bytesBefore = 0
    /// Whether the reader reports its byte count.
    private var countsBytes = false

    init(_ importer: BatchImporter, model: ImportModel, entity: String?, progress: Progress?) {
        self.importer = importer
        self.model = model
        self.entity = entity
        self.progress = progress
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = importer.coordinator
        context.undoManager = nil
        #if !canImport(Darwin) && !CORAL_PUBLIC_API
            // Required relationships may be set by later batches; the session validates everything else.
            ChosenKeys.stopValidating(context)
            defersRequirements = true
        #endif
    }

    /// Imports all records, batch by batch, without the relationships to records of later batches.
    func importBatches(of source: ImportSource) throws {
        var reader = try reader(of: source)
        progress?.begin(reader.byteCount ?? 0)
        let shape = ImportPayload(model)
        var batch: [PlacedRecord] = []
        while let record = try reader.nextPlaced() {
            result.recordCount += 1
            batch.append(record)
            // Nested records precede the record that contains them, so a batch that ends with a top-level record is
            // complete.
            guard batch.count >= importer.batchSize, record.details?.isTop ?? shape.isTop(record.place) else {
                continue
            }
            try perform(.batch, batch, header: reader.header, bytes: reader.bytesRead)
            batch.removeAll(keepingCapacity: true)
        }
        if !batch.isEmpty { try perform(.batch, batch, header: reader.header, bytes: reader.bytesRead) }
        bytesBefore = reader.bytesRead
    }

    /// Reads the document again, and sets the relationships that refer to records of later batches.
    func setDeferredLinks(of source: ImportSource) throws {
        guard !deferred.isEmpty else { return }
        var reader = try reader(of: source)
        progress?.totalUnitCount = Int64(bytesBefore + (reader.byteCount ?? 0))
        var batch: [PlacedRecord] = []
        while let record = try reader.nextPlaced() {
            guard deferred[record.record.id] != nil else { continue }
            batch.append(record)
            guard batch.count >= importer.batchSize else { continue }
            try perform(.deferredLinks, batch, header: reader.header, bytes: reader.bytesRead)
            batch.removeAll(keepingCapacity: true)
        }
        if !batch.isEmpty { try perform(.deferredLinks, batch, header: reader.header, bytes: reader.bytesRead) }
        if countsBytes { progress?.completedUnitCount = Int64(bytesBefore + reader.bytesRead) }
    }

    private func reader(of source: ImportSource) throws -> any DocumentReader {
        let reading = importer.reading(model, entity: entity)
        let reader = try source.reader(schema: model.schema, options: reading, mapping: model.mapping)
        countsBytes = reader.byteCount != nil
        return reader
    }

    private func perform(
        _ part: ImportSession.Part, _ batch: [PlacedRecord], header: DocumentHeader?, bytes: Int
    ) throws {
        if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
        try context.performAndWait {
            let session = try ImportSession(
                context, options: importer.options, progress: nil, part: part, model: model,
                defersRequirements: defersRequirements)
            session.payload.objectOutside = { [unowned self] id in ids[id].map { context.object(with: $0) } }
            if part == .batch { session.payload.isKnownOutside = { [unowned self] id in ids[id] != nil } }
            if part == .deferredLinks { session.deferred = deferred }
            session.payload.begin(header)
            for record in batch { session.payload.add(record) }
            try loadTogether(batch)
            try session.perform()
            try note(session)
            if context.hasChanges { try context.save() }
            result.savedBatchCount += 1
            if part == .batch { remember(session) }
            for open in session.requirements {
                requirements.add(open.requirement, of: open.object.objectID, record: open.record)
            }
            held = []
            context.reset()
        }
        if countsBytes { progress?.completedUnitCount = Int64(bytesBefore + bytes) }
    }

    /// Reports the objects that lack a required relationship. Cost: a statement for each relationship that an object
    /// of a batch lacked.
    func checkRequirements() throws {
        let violations = try requirements.violations { requirement, objects in
            try context.performAndWait { try requirement.violations(in: context) }
                .filter(objects.contains).map { ($0, $0) }
        }
        if violations.isEmpty { return }
        var errors = ImportEntries<ImportError>(limit: importer.options.entryLimit)
        // An object may have its record in another batch.
        let records = Dictionary(ids.map { ($0.value, $0.key) }) { first, _ in first }
        for violation in violations {
            let record = violation.record ?? records[violation.object]
            errors.add(violation.requirement.error(of: violation.object, record: record))
        }
        try note(errors)
    }

    /// Fetches the objects of earlier batches to which the records of a batch refer together instead of one by one.
    private func loadTogether(_ batch: [PlacedRecord]) throws {
        var wanted: Set<NSManagedObjectID> = []
        for record in batch {
            if let id = ids[record.record.id] { wanted.insert(id) }
            for relationship in record.record.relationships {
                for target in relationship.target.ids {
                    if let id = ids[target] { wanted.insert(id) }
                }
            }
        }
        let lookup = IdentityLookup(context: context, model: model, batchSize: importer.options.batchSize)
        held = try lookup.objects(with: Array(wanted))
    }

    /// Keeps prefetched objects alive until they are used.
    private var held: [NSManagedObject] = []

    private func note(_ session: ImportSession) throws {
        let changes = session.changes
        result.insertCount += changes.inserts.count
        result.updateCount += changes.updates.count
        result.linkCount += changes.links.count
        result.deletionCount += changes.deletions.count
        result.conflictCount += changes.conflicts.count
        result.missingFileCount += changes.missingFiles.count
        let limit = importer.options.entryLimit
        result.missingFiles += changes.missingFiles.kept.prefix(max(0, limit - result.missingFiles.count))
        result.conflicts += changes.conflicts.kept.prefix(max(0, limit - result.conflicts.count))
        try note(changes.errors)
    }

    private func note(_ errors: ImportEntries<ImportError>) throws {
        result.errorCount += errors.count
        result.errors += errors.kept.prefix(max(0, importer.options.entryLimit - result.errors.count))
        if !importer.options.skipsInvalid, let error = errors.combined { throw error }
    }

    private func remember(_ session: ImportSession) {
        for (id, node) in session.payload.nodesOfRecords {
            let node = node.resolved
            // A deleted object cannot be referred to.
            if let object = node.object, !node.isTombstone { ids[id] = object.objectID }
        }
        for (id, links) in session.deferred { deferred[id, default: DeferredLinks()].formUnion(links) }
    }
}
