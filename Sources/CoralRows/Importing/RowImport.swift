// How a document is imported without objects.
//
// A document in the plain layout, as JSON, is imported without objects into the engine's own stores:
// `PlainFieldReader` reads it member by member, `RowImport` (like `ObjectImport` an adapter of `BatchedImport`)
// collects some hundred records of one entity as cells, `RowMatcher` (the adapter of `RecordMatching` for rows) looks
// them up by one statement and compares column by column, and the engine's `RowWriter` writes with the same effects as
// a save. New rows and pairs wait until some can be inserted with one statement (`RowBuffer`, `PairBuffer`), or
// until another statement needs one of them. `RowKeyIndex` maps a digest of each key to its row; forward references are
// resolved at the end. One pass, one transaction.
//
// `rowCapability` checks options, model and store before anything is read. A record that rows cannot hold, because of
// its entity, a property, the form of a reference (`RowImportObstacle`), a stored value that only objects validate, or
// the entity of the object that has its key, is imported through objects: after the rows are written,
// `RowImport+Objects` reads these records again, and imports them in a context that `RowWriter.save` saves as a part of
// the transaction (`PlanTarget`). The context reads what the rows have written, because a read within a write uses the
// same connection (`ReaderPool`), and it has no queue of its own, because that connection can be used on its own queue
// only. It posts no notifications: those of the transaction contain all changes, after its commit. The keys of these
// objects are then added to `RowKeyIndex`, before forward references are resolved. New objects of such records have
// higher primary keys than the new rows.
//
// In the following cases, which do not concern a single record only, the transaction is rolled back, and the object
// importer reads the whole document from its beginning:
//
// - a document in another form (`PlainFieldReader` returns a step `irregular`), and a document with more than 5,000
//   records that need objects,
// - several records for one object: each may be valid only together with the values of the others,
// - a key that contains a reference to a later record: the key cannot be matched before that record is read,
// - several stored objects with the same key: every reference to them must be reported as ambiguous,
// - unique values that move between rows (the store throws a `UniquenessViolation`): other rows already refer to the
//   rows that could not be written,
// - primary keys of more than 48 bits, which only other programs assign, and records that delete objects to which
//   others may refer.
//
// In these cases `RowImport` throws an `ObjectsReason`, which `BatchImporter.importRows` alone catches, because only an
// error ends a transaction without a commit. Reading the document before the work to find such records would parse
// every document twice, and could not find those that depend on stored rows.
//
// The row importer finds the invalid properties. To produce the error messages, objects are created for the invalid
// records only (`RowImportMistakes`). Both importers use the same decisions: matching by `RecordMatching`, equality and
// conversion by the codecs, members by `MemberDifference`, dangling references by `DanglingReferencePolicy.outcome`,
// required relationships by `OpenRequirements`. `ImportAdapterTests` import random documents into random stores by rows
// and through objects.

import Coral
import CoreData
import GraphDocuments
import ManagedObjects
import SQLStores

/// Imports a plain document by rows: one pass over its bytes, one transaction, no records, no objects.
///
/// Records of one entity are collected in batches of some hundred, in a buffer that is reused; each batch is looked
/// up with one statement, compared column by column, and written. Each known key is stored as a digest with the
/// primary key of its row. Forward references are kept until the end.
///
/// A record that rows cannot hold is imported through objects: see `importObjects()`. A problem of several records, such
/// as two records with the same key, throws `ObjectsReason`: the transaction is rolled back, and the object importer reads
/// the document from its beginning.
struct RowImport: BatchedImport {
    private var reader: PlainFieldReader
    private let schema: GraphSchema
    private let conversion: ValueConversion
    let writer: RowWriter
    let plan: RowImportPlan
    let options: ImportOptions
    private let progress: Progress?
    /// Determines whether a value of the document equals that of a row.
    let equality: ValueEquality
    private var entities: [RowCapability<RowEntity>?]
    let index = RowKeyIndex()
    let coordinator: NSPersistentStoreCoordinator
    let model: ImportModel
    /// The reasons of the records that are imported through objects, by the records' numbers in the document.
    var exceptions: [Int: ObjectsReason] = [:]
    /// Reads records again, by their numbers.
    let readAgain: (Set<Int>) throws -> [(number: Int, record: PlacedRecord)]
    var result: BatchImporter.Result
    /// The records of one entity that are not written yet.
    var batch: RowImportBatch?
    /// References to records that had not been read yet.
    var forward: [ForwardReference] = []
    var requirements = OpenRequirements<Int64, Int>()
    var mistakes: [RowImportMistakes.Mistake] = []

    init(
        _ source: any ByteSource, writer: RowWriter, coordinator: NSPersistentStoreCoordinator, model: ImportModel,
        options: ImportOptions, reading: ReadingOptions, progress: Progress?,
        readAgain: @escaping (Set<Int>) throws -> [(number: Int, record: PlacedRecord)]
    ) {
        self.writer = writer
        self.coordinator = coordinator
        self.model = model
        self.readAgain = readAgain
        self.options = options
        self.progress = progress
        result = BatchImporter.Result(limit: options.entryLimit)
        schema = model.schema
        reader = PlainFieldReader(
            source, schema: schema, options: reading, skipsUnknownMembers: options.unknownKeys == .skip)
        conversion = ValueConversion(options, permitsNaN: false)
        equality = ValueEquality(options, hasHeader: false, coordinator: coordinator)
        plan = RowImportPlan(model, writer: writer)
        entities = Array(repeating: nil, count: schema.entities.count)
    }

    /// Throws `DocumentError`, `RowImportMistakes`, `CocoaError.userCancelled`, a reason for an import through
    /// objects, and errors of the store.
    mutating func importRecords() throws {
        progress?.begin(reader.byteCount ?? 0)
        var current = -1
        var row = 0
        while true {
            do {
                switch try reader.step() {
                case .record(let entity):
                    if entity != current || batch?.rows.isFull ?? true {
                        try flush()
                        current = -1
                        try begin(entity)
                        current = entity
                    }
                    row = batch?.addRow() ?? 0
                case .attribute(let property): try readAttribute(property, row)
                case .relationship(let property): try readRelationship(property, row)
                case .endRecord: break
                case .irregular(let reason): throw ObjectsReason(.document, reason)
                case .end:
                    try flush()
                    return try importObjects()
                }
            } catch let obstacle as RowImportObstacle {
                try leave(obstacle.reason, record: reader.recordCount - 1)
                if current >= 0 { batch?.leave(row, because: obstacle.reason) }
                guard try reader.skipRecord() else {
                    throw ObjectsReason(.document, "A record contains an object.")
                }
            }
        }
    }

    /// Marks a record as one that is imported through objects.
    ///
    /// - Throws: The reason, if there are more than `exceptionLimit` such records; then all are imported through objects.
    private mutating func leave(_ reason: ObjectsReason, record: Int) throws {
        exceptions[record] = reason
        if exceptions.count > Self.exceptionLimit { throw reason }
    }

    private static let exceptionLimit = 5000

    func finish() -> BatchImporter.Result {
        var result = result
        result.recordCount = reader.recordCount
        result.savedBatchCount = 1
        if let first = exceptions.min(by: { $0.key < $1.key }) {
            result.path = .rowsAndObjects(records: exceptions.count, because: first.value)
        }
        if let count = reader.byteCount { progress?.completedUnitCount = Int64(count) }
        return result
    }

    /// Begins a batch of an entity. Throws `RowImportObstacle` for an entity that needs objects.
    private mutating func begin(_ number: Int) throws {
        let capability = try entities[number] ?? RowCapability { try plan.entity(schema.entities[number]) }
        entities[number] = capability
        batch?.removeAll()
        switch capability {
        case .objects(let reason): throw RowImportObstacle(reason)
        case .rows(let entity):
            // `recordCount` already includes the record that begins here.
            if batch?.entity !== entity { batch = RowImportBatch(entity) }
            batch?.begin(firstRecord: reader.recordCount - 1)
        }
    }

    var isCancelled: Bool { progress?.isCancelled == true }

    private mutating func flush() throws {
        if isCancelled { throw CocoaError(.userCancelled) }
        guard let batch, batch.rows.count > 0 else { return }
        try performSteps()
        for (row, reason) in batch.left { try leave(reason, record: batch.firstRecord + row) }
        if reader.byteCount != nil { progress?.completedUnitCount = Int64(reader.bytesRead) }
    }

    // MARK: - Values

    private mutating func readAttribute(_ property: Int, _ row: Int) throws {
        guard let batch else { return }
        guard let attribute = batch.entity.attributes[property] else {
            throw RowImportObstacle(batch.entity.unsupported(batch.entity.schema.attributes[property].name))
        }
        if !(try readValue(attribute, into: batch.rows, row)) {
            mistakes.append(.init(record: batch.firstRecord + row, property: attribute.plan.name))
        }
    }

    /// Reads a value into a cell; false if it cannot be converted to the attribute's type.
    private mutating func readValue(_ attribute: RowAttribute, into rows: RowBatch, _ row: Int) throws -> Bool {
        let type = attribute.plan.type.type
        // Fast path for text, the most frequent type: the bytes are copied without creating a string.
        if type == .string, reader.token == .string {
            rows.set(reader.text, isText: true, row, attribute.slot)
            return true
        }
        guard let value = conversion.convert(try reader.value(as: type), to: attribute.plan) else { return false }
        if case .null = value {
            rows.setNull(row, attribute.slot)
            return true
        }
        return attribute.codec.bind(value, to: rows, row, attribute.slot)
    }

    // MARK: - References

    private mutating func readRelationship(_ property: Int, _ row: Int) throws {
        guard let batch else { return }
        switch batch.entity.relationships[property] {
        case .toOne(let number)?:
            let link = batch.entity.toOne[number]
            // The record may have stated the relationship before, under its earlier name; that value is discarded.
            batch.waiting.removeAll { $0.row == row && $0.link == number }
            let slot = link.reference.slot
            if reader.token == .null { return batch.rows.setNull(row, slot) }
            let (digest, owner) = try readKey(link.key)
            if let owner, let key = owner.key {
                batch.rows.setReference(to: key, entity: owner.entity, row, slot)
            } else {
                batch.rows.setNull(row, slot)
                batch.waiting.append(.init(row: row, link: number, digest: digest))
            }
        case .toMany(let number)?:
            let link = batch.entity.toMany[number]
            try batch.beginList(row, link: number)
            if reader.token == .null { return }
            guard reader.token == .beginArray else {
                throw RowImportObstacle("A to-many relationship is not an array.")
            }
            while try reader.next() != .endArray {
                let (digest, owner) = try readKey(link.key)
                batch.members.append(.init(digest: digest, owner: owner))
            }
        case nil:
            throw RowImportObstacle(batch.entity.unsupported(batch.entity.schema.relationships[property].name))
        }
    }

    /// Reads a key whose first token has been read. Returns its digest, and the owner of the key if it is known.
    private mutating func readKey(_ key: RowKey) throws -> (KeyDigest, IdentityMap.Owner?) {
        let isArray = reader.token == .beginArray
        if isArray {
            try reader.next()
        } else if key.valueCount != 1 {
            throw RowImportObstacle("A reference does not have all parts of its key.")
        }
        var isFirst = true
        let found = try readParts(of: key, &isFirst)
        if isArray, try reader.next() != .endArray {
            throw RowImportObstacle("A reference has more parts than its key.")
        }
        return found
    }

    private mutating func readParts(of key: RowKey, _ isFirst: inout Bool) throws -> (KeyDigest, IdentityMap.Owner?) {
        if key.wanted.isFull { try index.lookUp(key) }
        let row = key.wanted.addRow()
        for part in key.parts {
            switch part {
            case .attribute(let attribute):
                if !isFirst { try reader.next() }
                isFirst = false
                switch reader.token {
                case .string, .number, .true, .false: break
                default: throw RowImportObstacle("A reference is not a key.")
                }
                guard try readValue(attribute, into: key.wanted, row) else {
                    throw RowImportObstacle("A reference has a value of another type than its key.")
                }
            case .reference(let other, let slot):
                let (part, known) = try readParts(of: other, &isFirst)
                var owner = known
                if owner == nil {
                    try index.lookUp(other)
                    owner = index.identities[part]
                }
                // A key through an unresolved reference needs the whole document; the object importer handles it.
                guard let owner, let found = owner.key else {
                    throw ObjectsReason(
                        .document, "A key refers to an object that follows in the document or does not exist.",
                        entity: other.table.entity.name)
                }
                key.wanted.setReference(to: found, entity: owner.entity, row, slot)
            }
        }
        guard let digest = index.digest(of: row, in: key.wanted, key) else {
            throw RowImportObstacle("A reference is not a key.")
        }
        let owner = index.identities[digest]
        // In a table that was empty before the import, a lookup can find only rows of this document.
        if owner != nil || key.table.wasEmpty { key.wanted.removeLast() }
        return (digest, owner)
    }
}
