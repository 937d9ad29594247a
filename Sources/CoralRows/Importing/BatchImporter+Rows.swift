import Coral
import CoreData
import GraphDocuments
import ManagedObjects
import SQLStores

extension BatchImporter {
    /// A document and a store for an import by rows.
    struct RowSource {
        let store: NSPersistentStore
        let bytes: any ByteSource
    }

    /// Whether the importer, the model, the store and the kind of document permit an import by rows. Reads the
    /// document's beginning.
    func rowCapability(
        _ source: ImportSource, entity: String?, model: ImportModel
    ) throws -> RowCapability<RowSource> {
        try RowCapability {
            if rowImporting == .never { throw ObjectsReason(.options, "The importer's rowImporting is never.") }
            if entity != nil { throw ObjectsReason(.options, "An entity of the records at the top is given.") }
            try options.requireRows()
            if rowImporting == .automatic, let entity = coordinator.managedObjectModel.firstEntityWithClass {
                throw ObjectsReason(.classes, "\(entity) has a class of its own.", entity: entity)
            }
            guard coordinator.persistentStores.count == 1, let store = coordinator.persistentStores.first else {
                throw ObjectsReason(.store, "The coordinator does not have exactly one store.")
            }
            guard store.type == NSSQLiteStoreType, !store.isReadOnly else {
                throw ObjectsReason(.store, "The store is not a writable SQLite store.")
            }
            guard let bytes = try source.plainJSON() else {
                throw ObjectsReason(.document, "The document is not JSON.")
            }
            return RowSource(store: store, bytes: bytes)
        }
    }

    /// Imports a document by rows, in one transaction. Returns a reason, with nothing changed, if a part of the
    /// model, of the document or of the store needs objects.
    ///
    /// - Parameter saves: Whether the transaction is committed.
    func importRows(
        _ source: ImportSource, of rows: RowSource, model: ImportModel, saves: Bool = true, progress: Progress?
    ) throws -> RowCapability<Result> {
        let reading = options.reading(for: model, rootEntity: nil)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        do {
            let result = try context.performAndWait {
                try context.writeRows(in: rows.store) { writer in
                    var run = RowImport(
                        rows.bytes, writer: writer, coordinator: coordinator, model: model, options: options,
                        reading: reading, progress: progress
                    ) { try source.records($0, model: model, reading: reading) }
                    let result = try run.run()
                    if !saves { throw DryRun(result: result) }
                    return result
                }
            }
            guard let result else {
                return .objects(because: ObjectsReason(.store, "The store is not one of this package's engine."))
            }
            return .rows(result)
        } catch let dryRun as DryRun {
            return .rows(dryRun.result)
        } catch let reason as ObjectsReason {
            if reason.code == .document {
                // The record reader reports syntax errors before objects are written.
                var reader = try source.reader(schema: model.schema, options: reading)
                while try reader.nextPlaced() != nil {
                    if progress?.isCancelled == true { throw CocoaError(.userCancelled) }
                }
            }
            return .objects(because: reason)
        } catch let violation as UniquenessViolation {
            guard violation.hadRows else { throw violation.error }
            // Only the object importer orders the changes by which a unique value moves from one existing row to another.
            let message = "Values of \(violation.entity) that must be unique move between objects."
            return .objects(because: ObjectsReason(.contents, message, entity: violation.entity))
        } catch let mistakes as RowImportMistakes {
            throw try mistakes.explanation(of: source, importer: self, model: model, reading: reading)
        }
    }

    /// Thrown to roll back an import that is executed only to determine its path.
    private struct DryRun: Error {
        let result: Result
    }
}

extension ImportOptions {
    /// Throws the first option that needs objects.
    fileprivate func requireRows() throws {
        func require(_ condition: Bool, _ message: String) throws {
            if !condition { throw ObjectsReason(.options, message) }
        }
        try require(mapping == nil, "The document has a mapping.")
        try require(reading.layout == .plain, "The document's layout is not declared as plain.")
        try require(reading.plainLayout == nil, "The options contain a layout of the document.")
        try require(reading.rootEntity == nil, "An entity of the records at the top is given.")
        try require(owner == nil, "The imported objects have an owner.")
        try require(hooks.isEmpty, "The options contain hooks.")
        try require(!skipsInvalid, "Records with errors are omitted (skipsInvalid).")
        try require(mismatchedValues != .record, "Values of a wrong type are omitted (mismatchedValues).")
        try require(operations.isSuperset(of: [.insert, .update]), "Insertions or updates are not permitted.")
        try require(!identity.matchesContent, "Objects are identified by their content.")
        try require(
            danglingReferences == .fail || danglingReferences == .skip,
            "The policy for dangling references is \(danglingReferences.rawValue).")
        try require(!insertsAbstractEntities, "Objects of abstract entities may be inserted.")
    }
}

extension NSManagedObjectModel {
    /// The name of the first entity whose objects have a class of their own.
    var firstEntityWithClass: String? {
        entities.filter { !$0.hasPlainClass }.compactMap(\.name).min()
    }
}
