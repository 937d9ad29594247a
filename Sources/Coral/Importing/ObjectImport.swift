import CoreData
import GraphDocuments

/// An import in batches through managed objects, which are saved after each batch.
///
/// A batch is matched and saved in one write transaction: of two imports of the same new keys at the same time, the second one finds
/// the objects of the first. With hooks, and in stores that are not SQLite stores of the engine, another process can save between both.
final class ObjectImport: BatchedImport {
    private let source: ImportSource
    private let importer: BatchImporter
    private let model: ImportModel
    private let entity: String?
    private let progress: Progress?
    private let context: NSManagedObjectContext
    private var result: BatchImporter.Result
    private var objects = RecordObjects()
    /// The deferred relationships, by the id of their record.
    private var deferred: [RecordID: DeferredLinks] = [:]
    private var requirements = OpenRequirements<NSManagedObjectID, RecordID>()
    /// The children that have lost their owner to the records of a batch.
    private var ownerless = OpenRequirements<NSManagedObjectID, RecordID>()
    /// The objects that the policy `replace` has removed from a relationship, and those that records state or refer to.
    private var orphans = ReplacedMembers()
    /// Whether the context saves objects that lack required relationships.
    private var defersRequirements = false
    /// The objects that this import has inserted, if it may have to omit their records after they were saved.
    private var inserted: Set<NSManagedObjectID> = []
    /// Objects that were saved before an error was found in their records.
    private var omittedLater: [(id: NSManagedObjectID, error: ImportError)] = []
    /// The number of bytes that the first pass has read.
    private var bytesBefore = 0
    /// Whether the reader reports its byte count.
    private var countsBytes = false

    init(
        of source: ImportSource, by importer: BatchImporter, model: ImportModel, entity: String?, progress: Progress?
    ) {
        self.source = source
        self.importer = importer
        result = BatchImporter.Result(limit: importer.options.entryLimit)
        self.model = model
        self.entity = entity
        self.progress = progress
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = importer.coordinator
        context.undoManager = nil
        // Required relationships may be set by later batches; the session validates everything else.
        defersRequirements = Engine.current.stopValidating(context)
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
        progress?.setTotal(bytesBefore + (batches.byteCount ?? 0))
        while let batch = try batches.nextBatch() {
            if !batch.records.isEmpty { try perform(.deferredLinks, batch) }
            if countsBytes { progress?.completedUnitCount = Int64(bytesBefore + batch.bytesRead) }
        }
        if !omittedLater.isEmpty { try omit(omittedLater) }
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
        let saved = try inTransaction { context in
            let session = try ImportSession(
                context, options: importer.options, progress: nil, part: part, model: model,
                defersRequirements: defersRequirements)
            if !objects.isEmpty {
                session.payload.objectOutside = { [unowned self, unowned context] id in
                    objects[id].map { context.object(with: $0) }
                }
            }
            session.payload.findsRepetitions = part == .batch
            if part == .deferredLinks { session.deferred = deferred }
            session.payload.begin(batch.header)
            session.payload.add(batch.records)
            session.payload.link()
            try load(session.payload.objectsOutside, in: context)
            try session.perform()
            if !importer.options.skipsInvalid, let error = session.changes.errors.combined { throw error }
            let new = importer.options.skipsInvalid ? context.insertedObjects : []
            if context.hasChanges { try context.save() }
            return SavedBatch(session, inserted: new.map(\.objectID))
        }
        // The transaction may be repeated, so its result is recorded after the commit.
        try note(saved.changes)
        result.omittedRecordCount += saved.omittedRecordCount
        omittedLater += saved.omittedLater
        inserted.formUnion(saved.inserted)
        result.savedBatchCount += 1
        if part == .batch {
            for (id, object) in saved.objects { objects[id] = object }
            for (id, links) in saved.deferred { deferred[id, default: DeferredLinks()].formUnion(links) }
        }
        for open in saved.requirements { requirements.add(open.requirement, of: open.object, record: open.record) }
        if mayDeleteOrphans {
            for (id, relationship) in saved.orphans { orphans.add(id, removedFrom: relationship) }
            orphans.keep(saved.mentioned)
        }
        for lost in saved.ownerless { ownerless.add(lost.requirement, of: lost.object, record: nil) }
        if countsBytes, part == .batch { progress?.completedUnitCount = Int64(batch.bytesRead) }
    }

    /// Calls a closure with a context that reads and saves in one write transaction, if the store and the options permit that.
    private func inTransaction(_ body: (NSManagedObjectContext) throws -> SavedBatch) throws -> SavedBatch {
        // A hook may use other contexts, which would wait for the transaction.
        if importer.options.hooks.isEmpty, let store = context.onlyStore {
            let saved = try Engine.current.inWriteTransaction(of: store, for: context) { own in
                // Required relationships may be set by later batches; the session validates everything else.
                Engine.current.stopValidating(own)
                return try body(own)
            }
            if let saved { return saved }
        }
        return try context.performAndWait {
            defer { context.reset() }
            return try body(context)
        }
    }

    /// What a batch has changed, once it is saved.
    private struct SavedBatch {
        let changes: ImportChanges
        let omittedRecordCount: Int
        let inserted: [NSManagedObjectID]
        /// The objects, saved by earlier batches, whose records have an error in a deferred relationship.
        let omittedLater: [(id: NSManagedObjectID, error: ImportError)]
        /// The objects of the batch's records, by the ids of the records.
        var objects: [(RecordID, NSManagedObjectID)] = []
        let deferred: [RecordID: DeferredLinks]
        let requirements: [(requirement: ImportRequirement, object: NSManagedObjectID, record: RecordID?)]
        let ownerless: [(requirement: ImportRequirement, object: NSManagedObjectID)]
        let orphans: [(object: NSManagedObjectID, relationship: RelationshipImport)]
        /// The objects that records state or refer to; empty if no relationship has the policy `replace`.
        let mentioned: Set<NSManagedObjectID>

        init(_ session: ImportSession, inserted: [NSManagedObjectID]) {
            changes = session.changes
            omittedRecordCount = session.omittedRecordCount
            let refused = session.part == .deferredLinks ? session.refusedNodes : []
            omittedLater = refused.compactMap { node in
                guard let id = node.object?.objectID else { return nil }
                let error = session.changes.errors.first { $0.place?.record == node.id }
                return (
                    id,
                    error
                        ?? ImportError(
                            .danglingReference, "A reference of \(node.label) cannot be set.", at: node.place)
                )
            }
            self.inserted = inserted
            deferred = session.deferred
            requirements = session.requirements.map { ($0.requirement, $0.object.objectID, $0.record) }
            ownerless = session.ownerless.map { ($0.requirement, $0.object.objectID) }
            orphans = session.orphans.map { ($0.object.objectID, $0.relationship) }
            mentioned = session.model.replacesMembers ? session.payload.mentionedObjects : []
            for node in session.payload.nodes where !node.isReference && !node.isTombstone {
                // A deleted object cannot be referred to.
                guard let id = node.object?.objectID else { continue }
                for record in node.records { objects.append((record.record.id, id)) }
            }
        }
    }

    /// With `skipsInvalid`, the objects that were inserted for invalid records are deleted again, and then the objects that
    /// required them. An object that was in the store before the import cannot be omitted: its error ends the import.
    ///
    /// Cost: a statement for each relationship that an object of a batch lacked. If an object still lacks it whose record is in
    /// another batch, the document is read again.
    func checkRequirements() throws {
        try deleteOrphans()
        try noteOwnerless()
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
            var errors = CountedEntries<ImportError>(limit: importer.options.entryLimit)
            for error in found { errors.add(error) }
            try note(errors)
            result.omittedRecordCount += Set(violations.map(\.object)).count
            try omit(zip(violations, found).map { ($0.object, $1) })
        }
    }

    private var mayDeleteOrphans: Bool { model.replacesMembers && importer.options.replacementsMayDelete }

    /// Deletes the objects that the policy `replace` has removed, and that no record mentions and nothing owns after all batches.
    private func deleteOrphans() throws {
        let candidates = orphans.unmentioned
        for start in stride(from: 0, to: candidates.count, by: importer.batchSize) {
            let batch = candidates[start..<min(start + importer.batchSize, candidates.count)]
            try context.performAndWait {
                defer { context.reset() }
                try load(batch.map { context.object(with: $0.id) }, in: context)
                for (id, relationship) in batch {
                    guard let object = try? context.existingObject(with: id), !object.isDeleted,
                        !model.isOwned(object, relationship)
                    else { continue }
                    context.delete(object)
                }
                context.processPendingChanges()
                for object in context.deletedObjects where importer.options.validates {
                    try validateDeletion(of: object)
                }
                for object in context.updatedObjects where importer.options.validates { noteRequirements(of: object) }
                result.deletionCount += context.deletedObjects.count
                if context.hasChanges { try context.save() }
            }
        }
    }

    private func validateDeletion(of object: NSManagedObject) throws {
        do {
            try object.validateForDelete()
        } catch let error as NSError {
            throw ImportError(
                .invalidObject, error.localizedDescription, entity: object.entity.name,
                property: error.userInfo[NSValidationKeyErrorKey] as? String,
                object: object.objectID.uriRepresentation().absoluteString, ruleCode: error.code)
        }
    }

    /// Reports the children that have no owner after all batches. Cost: a statement for each relationship that a child lacks.
    private func noteOwnerless() throws {
        let lost = try ownerless.violations { requirement, objects in
            try context.performAndWait { try requirement.violations(in: context) }
                .filter(objects.contains).map { ($0, $0) }
        }
        for child in lost {
            result.conflicts.add(
                .ownerless(ImportSubject(child.object), inverse: child.requirement.relationship))
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

    /// Deletes objects that this import has inserted, because their records have errors, and records the objects that lack a required relationship afterwards.
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
    private func load(_ objects: [NSManagedObject], in context: NSManagedObjectContext) throws {
        if objects.isEmpty { return }
        let lookup = IdentityLookup(context: context, model: model, batchSize: importer.options.lookupSize)
        _ = try lookup.objects(with: objects.map(\.objectID))
    }

    private func note(_ changes: ImportChanges) throws {
        result.add(changes)
        try note(changes.errors)
    }

    private func note(_ errors: CountedEntries<ImportError>) throws {
        result.errors.add(errors)
        if !importer.options.skipsInvalid, let error = errors.combined { throw error }
    }
}

/// The objects that the policy `replace` removes in an import in batches, and the objects that records mention. The order in which
/// they are found does not matter.
private struct ReplacedMembers {
    private var removed: [NSManagedObjectID: RelationshipImport] = [:]
    private var mentioned: Set<NSManagedObjectID> = []

    mutating func add(_ id: NSManagedObjectID, removedFrom relationship: RelationshipImport) {
        if !mentioned.contains(id) { removed[id] = relationship }
    }

    mutating func keep(_ ids: Set<NSManagedObjectID>) {
        mentioned.formUnion(ids)
        for id in ids { removed[id] = nil }
    }

    /// The removed objects that no record mentions, by name.
    var unmentioned: [(id: NSManagedObjectID, relationship: RelationshipImport)] {
        removed.map { (ObjectName($0.key), $0.key, $0.value) }.sorted { $0.0 < $1.0 }.map { ($0.1, $0.2) }
    }
}
