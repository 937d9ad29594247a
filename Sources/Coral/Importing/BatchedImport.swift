/// The order of an import that reads a document record by record and writes it in batches, through objects
/// (`ObjectImport`) or by rows (`RowImport`).
protocol BatchedImport {
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
    mutating func run() throws -> BatchImporter.Result {
        try importRecords()
        try setDeferredLinks()
        try checkRequirements()
        return finish()
    }
}
