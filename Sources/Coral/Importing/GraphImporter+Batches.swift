import CoreData
import GraphDocuments

extension GraphImporter {
    /// Imports a document of any length into the stores of the context, and saves batch by batch.
    ///
    ///     var options = ImportOptions()
    ///     options.layout = .plain
    ///     let result = try GraphImporter(into: container.viewContext, options: options).importInBatches(from: .file(url))
    ///     print(result.insertCount)
    ///
    /// Memory holds one batch of `options.batchSize` records, and the ids of all records. Unsaved changes of the context take no
    /// part; the context receives the IDs of changed objects afterwards.
    ///
    /// A JSON document in the plain layout (`options.layout`) is written in one transaction if the options allow it: after an error
    /// or cancellation the store is unchanged. After an error in any other document, the batches saved before stay in the store. For
    /// all-or-nothing imports use `importInBatches(from:intoStoreAt:model:entity:options:progress:)`, which works on a copy of the
    /// store, or `importObjects(from:as:progress:)`, which works in memory.
    ///
    /// Deletion scopes need the whole document at once and are refused. A key that includes a relationship is resolved only if the
    /// related record is in the same or an earlier batch. Core Data validates each save, so on Apple's platforms a required
    /// relationship must be stated in the batch of its object, or refer to an earlier one.
    ///
    /// Throws `DocumentError`, `ImportError`, `CocoaError.userCancelled`, and errors of fetching and saving.
    ///
    /// - Parameters:
    ///   - source: The document.
    ///   - entity: The entity of objects at the top that do not state theirs.
    ///   - progress: Counts bytes, twice if relationships refer to later batches.
    @discardableResult
    public func importInBatches(
        from source: ImportSource, entity: String? = nil, progress: Progress? = nil
    ) throws -> ImportResult {
        guard let coordinator = ImportSession.coordinator(of: context) else {
            throw ImportError(.noContext, "The context has no persistent store coordinator.")
        }
        return try BatchImporter(into: coordinator, options: options)
            .importDocument(source, entity: entity, progress: progress)
    }

    /// Imports a document of any length into a store file, all or nothing.
    ///
    ///     let result = try GraphImporter.importInBatches(from: .file(documentURL), intoStoreAt: url, model: model)
    ///
    /// The batches are saved to a copy of the store, which replaces the store when the import is complete. A store that does not
    /// exist is created. No other process or coordinator may write to the store until it ends. The copy needs the size of the
    /// store once more on the same volume.
    ///
    /// Throws as `importInBatches(from:entity:progress:)` does, and if a coordinator has the store open; the store is then
    /// unchanged.
    @discardableResult
    public static func importInBatches(
        from source: ImportSource, intoStoreAt url: URL, model: NSManagedObjectModel, entity: String? = nil,
        options: ImportOptions = ImportOptions(), progress: Progress? = nil
    ) throws -> ImportResult {
        try BatchImporter.importDocument(
            source, intoStoreAt: url, model: model, entity: entity, options: options, progress: progress)
    }
}

/// The counts and first entries of an import in batches.
public struct ImportResult: Sendable {
    /// The number of records read.
    public package(set) var recordCount = 0
    /// The number of objects inserted.
    public package(set) var insertCount = 0
    /// The number of objects whose values were changed.
    public package(set) var updateCount = 0
    /// The number of relationships changed.
    public package(set) var linkCount = 0
    /// The number of objects deleted.
    public package(set) var deletionCount = 0
    /// Conflicts that were resolved by policies.
    public package(set) var conflicts: CountedEntries<ImportConflict>
    /// Values whose files did not exist when the document was written.
    public package(set) var missingFiles: CountedEntries<UnresolvableReference>
    /// The errors of omitted records, if `skipsInvalid` is set; a record may have several.
    public package(set) var errors: CountedEntries<ImportError>
    /// The number of records that were omitted because of errors.
    public package(set) var omittedRecordCount = 0
    /// The number of batches saved, those of deferred relationships included; 1 for an import by rows.
    public package(set) var savedBatchCount = 0
    /// Whether the document was imported by rows, or why all or some of its records were not.
    package var path = ExecutionPath.rows

    package init(limit: Int) {
        conflicts = CountedEntries(limit: limit)
        missingFiles = CountedEntries(limit: limit)
        errors = CountedEntries(limit: limit)
    }

    /// Adds the changes of some records, except their errors.
    package mutating func add(_ changes: ImportChanges) {
        insertCount += changes.inserts.count
        updateCount += changes.updates.count
        linkCount += changes.links.count
        deletionCount += changes.deletions.count
        conflicts.add(changes.conflicts)
        missingFiles.add(changes.missingFiles)
    }
}
