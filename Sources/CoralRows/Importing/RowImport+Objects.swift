import Coral
import CoreData
import GraphDocuments
import ManagedObjects

// Importing the records that rows cannot hold through objects.
extension RowImport {
    /// Imports the records that rows cannot hold through objects, in the transaction of the rows. It is called after the rows
    /// are written, so that all other objects of the document can be found.
    ///
    /// Cost: the document is read again up to the last of these records, which are in memory together.
    mutating func importObjects() throws {
        guard !exceptions.isEmpty else { return }
        forward.removeAll { exceptions[$0.record] != nil }
        let records = try readAgain(Set(exceptions.keys))
        // A context without a queue: the transaction's connection can be used on its own queue only.
        let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
        Engine.current.stopValidating(context)
        try writer.flush()
        let session = try ImportSession(
            context, options: options, progress: nil, model: model, defersRequirements: true)
        for record in records { session.payload.add(record.record) }
        try session.perform()
        if let error = session.changes.errors.combined { throw error }
        // The session knows only these records, and a row of the document may state or list what they delete.
        guard session.changes.deletions.count == 0 else {
            throw ObjectsReason(.document, "A record deletes objects, to which other records may refer.")
        }
        result.add(session.changes)
        if context.hasChanges { try writer.save(context) }
        let numbers = Dictionary(records.map { ($0.record.record.id, $0.number) }) { first, _ in first }
        for open in session.requirements {
            guard let key = open.object.objectID.primaryKey else { continue }
            requirements.add(open.requirement, of: key, record: open.record.flatMap { numbers[$0] })
        }
        let objects = session.payload.nodes.filter { !$0.isReference }.compactMap(\.object)
        for key in plan.keys { try index.add(objects, by: key) }
    }
}

/// Properties of records that cannot be imported. The row importer records only their names; the object importer produces
/// the error messages.
struct RowImportMistakes: Error {
    struct Mistake: Hashable {
        /// The number of the record in the document.
        var record: Int
        var property: String
    }

    var mistakes: [Mistake]

    /// The error with the object importer's messages: the document is read again up to the last of the records,
    /// which are imported into a context that is never saved.
    func explanation(
        of source: ImportSource, importer: BatchImporter, model: ImportModel, reading: ReadingOptions
    ) throws -> ImportError {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = importer.coordinator
        let numbers = Set(mistakes.map(\.record)).sorted().prefix(importer.options.entryLimit)
        let records = try source.records(Set(numbers), model: model, reading: reading)
        return try context.performAndWait {
            var options = importer.options
            options.entryLimit = .max
            let session = try ImportSession(context, options: options, progress: nil, model: model)
            for (_, record) in records { session.payload.add(record) }
            try session.perform()
            let wanted = Set(
                mistakes.flatMap { mistake in
                    records.filter { $0.number == mistake.record }.map { $0.record.place(of: mistake.property) }
                })
            var found = session.changes.errors.kept.filter { ($0.place?.document).map(wanted.contains) ?? false }
            if found.isEmpty {
                // The object importer finds no error, because the error depends on records that are not among these.
                guard let mistake = mistakes.first else { return ImportError(.invalidObject, "Invalid record.") }
                let record = records.first { $0.number == mistake.record }?.record
                found = [
                    ImportError(
                        .invalidObject, "\(mistake.property) cannot be set.",
                        at: record?.place(of: mistake.property), record: record?.record.id,
                        entity: record?.record.entity, property: mistake.property)
                ]
            }
            var error = found[0]
            error.others = Array(found.dropFirst().prefix(max(importer.options.entryLimit - 1, 0)))
            error.otherCount = max(found.count, mistakes.count) - 1
            return error
        }
    }
}

/// The reason why a single record cannot be imported by rows: thrown while the record is read, and caught by
/// `RowImport.importRecords()`, which marks the record as one that is imported through objects.
struct RowImportObstacle: Error {
    let reason: ObjectsReason

    init(_ reason: ObjectsReason) { self.reason = reason }

    /// A reason in the document.
    init(_ message: String, entity: String? = nil, property: String? = nil) {
        reason = ObjectsReason(.document, message, entity: entity, property: property)
    }
}
