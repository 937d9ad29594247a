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
    private var ids: [RecordID: NSManagedObjectID] = [:]
    /// The deferred relationships, by the id of their record.
    private var deferred: [RecordID: DeferredLinks] = [:]
    private var requirements = OpenRequirements<NSManagedObjectID, RecordID>()
    /// Whether the context saves objects that lack required relationships.
    private var defersRequirements = false
    /// The objects that this import has inserted, if it may have to omit their records after they were saved.
    private var inserted: Set<NSManagedObjectID> = []
    /// The number of bytes of an earlier pass.
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
        var reader = try makeReader()
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

    /// Reads the document again, if relationships were deferred.
    func setDeferredLinks() throws {
        guard !deferred.isEmpty else { return }
        var reader = try makeReader()
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

    private func makeReader() throws -> any DocumentReader {
        let reading = importer.options.reading(for: model, rootEntity: entity)
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
            session.payload.findsRepetitions = part == .batch
            if part == .deferredLinks { session.deferred = deferred }
            session.payload.begin(header)
            for record in batch { session.payload.add(record) }
            try loadTogether(batch)
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
            held = []
            context.reset()
        }
        if countsBytes { progress?.completedUnitCount = Int64(bytesBefore + bytes) }
    }

    /// Where records with errors are omitted, the objects that were inserted for them are deleted again, and then those that
    /// required them. An object that was in the store before cannot be omitted: its error ends the import.
    ///
    /// Cost: a statement for each relationship that an object of a batch lacked.
    func checkRequirements() throws {
        // An object may have its record in another batch.
        var recordsOfObjects: [NSManagedObjectID: RecordID]?
        while true {
            let violations = try requirements.violations { requirement, objects in
                try context.performAndWait { try requirement.violations(in: context) }
                    .filter(objects.contains).map { ($0, $0) }
            }
            if violations.isEmpty { return }
            let records = recordsOfObjects ?? Dictionary(ids.map { ($0.value, $0.key) }) { first, _ in first }
            recordsOfObjects = records
            let found = violations.map { violation in
                violation.requirement.error(of: violation.object, record: violation.record ?? records[violation.object])
            }
            var errors = ImportEntries<ImportError>(limit: importer.options.entryLimit)
            for error in found { errors.add(error) }
            try note(errors)
            try omit(zip(violations, found).map { ($0.object, $1) })
        }
    }

    /// Deletes objects that this import has inserted, and notes which others lack them now.
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
    private func loadTogether(_ batch: [PlacedRecord]) throws {
        if ids.isEmpty { return }
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
        result.add(session.changes, limit: importer.options.entryLimit)
        try note(session.changes.errors)
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
