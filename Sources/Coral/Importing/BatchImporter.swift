import CoreData
import GraphDocuments

/// Imports documents of any length into a store in batches.
///
/// A document in the plain layout (`options.layout`), as JSON, is imported by rows if `rowImporting` and the
/// other options allow it: in one pass and one transaction, so that an error or cancellation leaves the store
/// unchanged. Memory holds some hundred records and some 25 bytes for each object of the document. Records that rows cannot
/// hold, such as those with values of transformable attributes, are imported through objects in the same transaction: the
/// document is read a second time for these. If there are more than 5,000 of them, or if records cannot be imported one by
/// one (two of them have the same key, for example), the whole document is imported through objects.
///
/// Any other document is imported in batches of objects, each of which is matched and saved in a transaction of its own, so
/// that imports at the same time insert an object with a key once; with hooks, only a uniqueness constraint ensures that.
/// Relationships to records that were not read yet are deferred: if there are any, the document is read a second time to set
/// them. Memory holds one batch and the ids of all records. After an error or cancellation the batches saved before it stay in
/// the store. For all-or-nothing imports use `importDocument(_:intoStoreAt:model:…)`, which works on a copy of the store, or
/// `GraphImporter`, which works in memory.
///
/// No plan is kept: the result has counts and the first entries of each kind. Deletion scopes need the whole document
/// at once and are refused. A key that includes a relationship is resolved only if the related record is in the same
/// or an earlier batch, as in documents that list owners before the objects they own. Core Data validates each save, so
/// on Apple's platforms a required relationship must be stated in the same batch as its object, by that object's record
/// or by another, or refer to an earlier batch. Elsewhere required relationships are checked after all batches.
package struct BatchImporter {
    /// The coordinator of the store that is imported into.
    package let coordinator: NSPersistentStoreCoordinator
    /// How documents are imported.
    package var options: ImportOptions
    /// The number of records that are imported together. A record at the top of the document and the records nested inside
    /// it are always in one batch, which may therefore be larger.
    package var batchSize: Int
    /// Whether documents in the plain layout may be imported by rows, without objects.
    package var rowImporting: RowImporting

    /// An importer into the stores of a coordinator.
    package init(
        into coordinator: NSPersistentStoreCoordinator, options: ImportOptions = ImportOptions(), batchSize: Int? = nil
    ) {
        self.coordinator = coordinator
        self.options = options
        rowImporting = options.callsLifecycleMethods ? .automatic : .always
        self.batchSize = max(batchSize ?? options.batchSize, 1)
        self.options.entryLimit = min(options.entryLimit, 100)
    }

    package typealias Result = ImportResult

    /// Imports a document. `progress` counts bytes, twice if relationships are deferred.
    ///
    /// Cost by rows: one statement for each row and pair written, and one for each entity and 500 of its records if
    /// the store already had objects; one more for each owner of an ordered relationship. Contexts receive the changed
    /// object IDs afterwards.
    ///
    /// Throws `DocumentError`, `ImportError`, `CocoaError.userCancelled`, and errors of fetching and saving.
    @discardableResult
    package func importDocument(
        _ source: ImportSource, entity: String? = nil, progress: Progress? = nil
    ) throws -> Result {
        let model = try ImportModel(coordinator.managedObjectModel, options: options)
        try refuseWhatNeedsAll()
        let reason: ObjectsReason
        switch try Engine.current.importRows(
            of: source, by: self, entity: entity, model: model, saves: true, progress: progress)
        {
        case .rows(let result): return result
        case .objects(let because): reason = because
        }
        var run = ObjectImport(of: source, by: self, model: model, entity: entity, progress: progress)
        var result = try run.run()
        result.path = .objects(because: reason)
        return result
    }

    /// How a document would be imported: by rows, or all or some of its records through objects, with the first reason.
    ///
    /// Options, model and store are checked first. If they permit rows, the import is executed and rolled back, because single
    /// records may need objects. Cost: that of an import by rows.
    ///
    /// Throws as `importDocument` does.
    package func explain(
        _ source: ImportSource, entity: String? = nil, progress: Progress? = nil
    ) throws -> ExecutionPath {
        let model = try ImportModel(coordinator.managedObjectModel, options: options)
        try refuseWhatNeedsAll()
        switch try Engine.current.importRows(
            of: source, by: self, entity: entity, model: model, saves: false, progress: progress)
        {
        case .rows(let result): return result.path
        case .objects(let reason): return .objects(because: reason)
        }
    }

    private func refuseWhatNeedsAll() throws {
        guard options.deletionScopes.isEmpty else {
            throw ImportError(.unsupported, "Deletion scopes need the whole document at once: use GraphImporter.")
        }
    }
}

extension BatchImporter {
    /// Imports a document of any length into a store file, all or nothing: the batches are saved to a copy of the
    /// store, which replaces the store when the import is complete. A store that does not exist is created.
    ///
    /// No other process or coordinator may write to the store until it ends. Cost: a copy of the store, which needs its
    /// size once more on the same volume.
    ///
    /// Throws as `importDocument` and `StoreCreation.makeStore(at:model:replacing:_:)` do, and if a coordinator has
    /// the store open; the store is then unchanged.
    @discardableResult
    package static func importDocument(
        _ source: ImportSource, intoStoreAt url: URL, model: NSManagedObjectModel, entity: String? = nil,
        options: ImportOptions = ImportOptions(), batchSize: Int? = nil, progress: Progress? = nil
    ) throws -> Result {
        let isNew = !FileManager.default.fileExists(atPath: url.path)
        return try StoreCreation.makeStore(at: url, model: model, replacing: isNew ? .nothing : .store) { copy in
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            if !isNew {
                try coordinator.replacePersistentStore(
                    at: copy, destinationOptions: nil, withPersistentStoreFrom: url, sourceOptions: nil,
                    ofType: NSSQLiteStoreType)
            }
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: copy, options: nil)
            defer { try? coordinator.remove(store) }
            return try BatchImporter(into: coordinator, options: options, batchSize: batchSize)
                .importDocument(source, entity: entity, progress: progress)
        }
    }
}

/// The order of an import that reads a document record by record and writes it in batches, through objects
/// (`ObjectImport`) or by rows (`RowImport`).
package protocol BatchedImport {
    /// Reads all records and makes their changes (`ImportSteps`), without the relationships to records that were not
    /// read yet.
    mutating func importRecords() throws

    /// Sets the relationships that were deferred.
    mutating func setDeferredLinks() throws

    /// Reports the objects that still lack a required relationship after all records were imported.
    mutating func checkRequirements() throws

    /// The counts and first entries of the import, once the other functions have been called.
    mutating func finish() -> BatchImporter.Result
}

extension BatchedImport {
    /// Imports the document.
    package mutating func run() throws -> BatchImporter.Result {
        try importRecords()
        try setDeferredLinks()
        try checkRequirements()
        return finish()
    }
}
