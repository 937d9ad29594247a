import Coral

// Whether a document is imported by rows or through objects.

extension ImportCommand {
    /// The number of bytes of a document from which on it is imported in batches, if the store is new.
    private static let batchedLength = 32_000_000

    /// Why a document is imported into an existing store in one piece.
    static let storeReason = ObjectsReason(
        .store, "The store exists: the plan of the whole document is validated before the store is changed.")

    /// Why a document is restored in one piece.
    static let restoringReason = ObjectsReason(
        .options, "--restore validates the plan of the whole document before the store is created.")

    /// Why a document is imported into a new store in one piece, through objects; nil if it is imported in batches, by rows if the model
    /// and its records permit it.
    func wholeReason(_ options: ImportOptions) -> ObjectsReason? {
        if options.skipsInvalid {
            return ObjectsReason(.options, "--skip-invalid finds the errors in the plan of the whole document.")
        }
        if !options.deletionScopes.isEmpty {
            return ObjectsReason(.options, "--delete-missing needs the whole document.")
        }
        if file.isTable { return ObjectsReason(.document, "The records of tables are in memory.") }
        guard file.byteCount < Self.batchedLength else { return nil }
        let limit = "Only files of \(Quantity.bytes(Int64(Self.batchedLength))) and more are imported by rows"
        let size = file.byteCount > 0 ? ", and this one has \(Quantity.bytes(Int64(file.byteCount)))" : ""
        return ObjectsReason(.document, "\(limit)\(size).")
    }

    /// The path of an import into a new store. Cost: that of an import by rows into a temporary store, because any record can
    /// require objects; nothing if the options or the size of the document require objects.
    func path(
        of document: ImportSource, intoNewStoreAt store: URL, _ model: NSManagedObjectModel, _ options: ImportOptions
    ) throws -> ExecutionPath {
        if let reason = wholeReason(options) { return .objects(because: reason) }
        guard store.isFileURL else {
            return .objects(because: ObjectsReason(.store, "Only in SQLite stores rows are written directly."))
        }
        return try TemporaryFolder.with { folder in
            let draft = folder.appendingPathComponent("Draft.sqlite")
            try StoreCreation.createStore(at: draft, model: model)
            let open = try OpenStore(url: draft, model: model, isReadOnly: false)
            let path = try Work.run("Examining", noun: "byte") {
                try batches(into: open, options).explain(document, entity: entity, progress: $0)
            }
            try open.close()
            return path
        }
    }

    /// States the path of the import, if --explain is given.
    func state(_ path: @autoclosure () throws -> ExecutionPath) throws {
        guard explain, !json else { return }
        try StandardOutput.report("\(dryRun ? "To be imported" : "Imported") \(path())\n")
    }
}
