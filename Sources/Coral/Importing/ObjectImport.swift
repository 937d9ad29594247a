import CoreData
import GraphDocuments

/// An import in batches through managed objects, which are saved after each batch.
final class ObjectImport: BatchedImport {
    private let source: ImportSource
    private let importer: BatchImporter
    private let model: ImportModel
    private let entity: String?
    private let progress: Progress?
    private let context: NSManagedObjectContext
    private var result = BatchImporter.Result()
    private var objects = RecordObjects()
    /// The deferred relationships, by the id of their record.
    private var deferred: [RecordID: DeferredLinks] = [:]
    private var requirements = OpenRequirements<NSManagedObjectID, RecordID>()
    /// Whether the context saves objects that lack required relationships.
    private var defersRequirements = false
    /// The objects that this import has inserted, if it may have to omit their records after they were saved.
    private var inserted: Set<NSManagedObjectID> = []
    /// The number of bytes that the first pass has read.
    private var bytesBefore = 0
    /// Whether the reader reports its byte count.
    private var countsBytes = false

    init(
        of source: ImportSource, by importer: BatchImporter, model: ImportModel, entity: String?, progress: Progress?
    ) {
        self.source = source
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

    func importRecords() throws {
        let shape = ImportPayload(model)
        // Nested records precede the record that contains them, so a batch that ends with a top-level record is complete.
        let batches = try makeBatches(mayEndWith: { $0.details?.isTop ?? shape.isTop($0.place) })
        progress?.begin(batches.byteCount ?? 0)
        while let batch = try batches.nextBatch() {
            result.recordCount += batch.records.count
            bytesBefore = batch.bytesRead
            if !batch.records.isEmpty { try perform(.batch, batch) }
        }
    }

    /// Reads the document again, if relationships were deferred.
    func setDeferredLinks() throws {
        guard !deferred.isEmpty else { return }
        let batches = try makeBatches(where: { [deferred] in deferred[$0.record.id] != nil })
        progress?.totalUnitCount = Int64(bytesBefore + (batches.byteCount ?? 0))
        while let batch = try batches.nextBatch() {
            if !batch.records.isEmpty { try perform(.deferredLinks, batch) }
            if countsBytes { progress?.completedUnitCount = Int64(bytesBefore + batch.bytesRead) }
        }
    }

    private func makeBatches(
        where isIncluded: @escaping (PlacedRecord) -> Bool = { _ in true },
        mayEndWith mayEndBatch: @escaping (PlacedRecord) -> Bool = { _ in true }
    ) throws -> RecordBatches {
        let reading = importer.options.reading(for: model, rootEntity: entity)
        let reader = try source.reader(schema: model.schema, options: reading, mapping: model.mapping)
        countsBytes = reader.byteCount != nil
        // The functions of a mapping and the objects of a dictionary belong to the application and stay on the caller's thread.
        let readsAhead = model.mapping == nil && source.isDocument
        return RecordBatches(
            reader, batchSize: importer.batchSize, readsAhead: readsAhead, where: isIncluded, mayEndWith: mayEndBatch)
    }

    private func perform(
        _ part: ImportSession.Part, _ batch: RecordBatches.Batch
    ) throws {
        if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
        try context.performAndWait {
            let session = try ImportSession(
                context, options: importer.options, progress: nil, part: part, model: model,
                defersRequirements: defersRequirements)
            if !objects.isEmpty {
                session.payload.objectOutside = { [unowned self] id in objects[id].map { context.object(with: $0) } }
            }
            session.payload.findsRepetitions = part == .batch
            if part == .deferredLinks { session.deferred = deferred }
            session.payload.begin(batch.header)
            session.payload.add(batch.records)
            session.payload.link()
            try load(session.payload.objectsOutside)
            try session.perform()
            try note(session)
            let new = defersRequirements && importer.options.skipsInvalid ? context.insertedObjects : []
            if context.hasChanges { try context.save() }
            inserted.formUnion(new.map(\.objectID))
            result.savedBatchCount += 1
            if part == .batch { remember(session) }
            for open in session.requirements {
                requirements.add(open.requirement, of: open.object.objectID, record: open.record)
            }
            context.reset()
        }
        if countsBytes, part == .batch { progress?.completedUnitCount = Int64(batch.bytesRead) }
    }

    /// With `skipsInvalid`, the objects that were inserted for invalid records are deleted again, and then the objects that
    /// required them. An object that was in the store before the import cannot be omitted: its error ends the import.
    ///
    /// Cost: a statement for each relationship that an object of a batch lacked. If an object still lacks it whose record is in
    /// another batch, the document is read again.
    func checkRequirements() throws {
        // An object may have its record in another batch.
        var recordsOfObjects: [NSManagedObjectID: RecordID]?
        while true {
            let violations = try requirements.violations { requirement, objects in
                try context.performAndWait { try requirement.violations(in: context) }
                    .filter(objects.contains).map { ($0, $0) }
            }
            if violations.isEmpty { return }
            let records =
                try recordsOfObjects ?? (violations.allSatisfy { $0.record != nil } ? [:] : recordsOfAllObjects())
            if !records.isEmpty { recordsOfObjects = records }
            let found = violations.map { violation in
                violation.requirement.error(of: violation.object, record: violation.record ?? records[violation.object])
            }
            var errors = ImportEntries<ImportError>(limit: importer.options.entryLimit)
            for error in found { errors.add(error) }
            try note(errors)
            try omit(zip(violations, found).map { ($0.object, $1) })
        }
    }

    /// The ids of the first records of all objects. Reads the document, because only digests of the ids are kept.
    private func recordsOfAllObjects() throws -> [NSManagedObjectID: RecordID] {
        var records: [NSManagedObjectID: RecordID] = [:]
        let batches = try makeBatches()
        while let batch = try batches.nextBatch() {
            for record in batch.records {
                guard let object = objects[record.record.id], records[object] == nil else { continue }
                records[object] = record.record.id
            }
        }
        return records
    }

    /// Deletes objects that this import has inserted, and records the objects that lack a required relationship afterwards.
    ///
    /// - Throws: The error of an object that was in the store before, or whose deletion deletes one.
    private func omit(_ objects: [(id: NSManagedObjectID, error: ImportError)]) throws {
        try context.performAndWait {
            for (id, error) in objects {
                context.delete(context.object(with: id))
                context.processPendingChanges()
                guard context.deletedObjects.allSatisfy({ inserted.contains($0.objectID) }) else { throw error }
            }
            result.insertCount -= context.deletedObjects.count
            for object in context.updatedObjects { noteRequirements(of: object) }
            try context.save()
            context.reset()
        }
    }

    private func noteRequirements(of object: NSManagedObject) {
        do {
            try object.validateForUpdate()
        } catch let error as NSError {
            for detail in error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error] {
                let property = detail.userInfo[NSValidationKeyErrorKey] as? String ?? ""
                guard let requirement = ImportRequirement(detail, of: object.entity, property) else { continue }
                requirements.add(requirement, of: object.objectID, record: nil)
            }
        }
    }

    func finish() -> BatchImporter.Result { result }

    /// Fetches the objects of earlier batches to which the records of a batch refer together instead of one by one.
    private func load(_ objects: [NSManagedObject]) throws {
        if objects.isEmpty { return }
        let lookup = IdentityLookup(context: context, model: model, batchSize: importer.options.batchSize)
        _ = try lookup.objects(with: objects.map(\.objectID))
    }

    private func note(_ session: ImportSession) throws {
        result.add(session.changes, limit: importer.options.entryLimit)
        try note(session.changes.errors)
    }

    private func note(_ errors: ImportEntries<ImportError>) throws {
        result.errorCount += errors.count
        result.errors += errors.kept.prefix(max(0, importer.options.entryLimit - result.errors.count))
        if !importer.options.skipsInvalid, let error = errors.combined { throw error }
    }

    private func remember(_ session: ImportSession) {
        for node in session.payload.nodes where !node.isReference && !node.isTombstone {
            // A deleted object cannot be referred to.
            guard let id = node.object?.objectID else { continue }
            for record in node.records { objects[record.record.id] = id }
        }
        for (id, links) in session.deferred { deferred[id, default: DeferredLinks()].formUnion(links) }
    }
}
