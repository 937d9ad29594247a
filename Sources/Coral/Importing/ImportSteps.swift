/// The order in which an import makes the changes of some records: those of a whole document, or of a batch.
///
/// Two types conform: `ImportPerformer` changes managed objects, `RowImport` writes rows. Relationships are set after all
/// values, because a record may refer to a later one. Objects are deleted after that, because a record may still refer to
/// them. Objects are validated at the end, because other records may set their required relationships. Rows are validated
/// one by one before they are written, except for required relationships, which are checked after the last batch
/// (`BatchedImport`).
protocol ImportSteps {
    /// Assigns an object to each record: the stored object that matches it, or a new one.
    mutating func assignObjects() throws

    /// Sets the values of attributes, and defaults of new objects.
    mutating func setValues() throws

    /// Sets the relationships whose destinations are known.
    mutating func setLinks() throws

    /// Deletes the objects of tombstones, orphans, and the objects that deletion scopes cover.
    mutating func deleteObjects() throws

    /// Validates the objects that the other steps have changed.
    mutating func validate() throws
}

extension ImportSteps {
    /// Makes the changes.
    mutating func performSteps() throws {
        try assignObjects()
        try setValues()
        try setLinks()
        try deleteObjects()
        try validate()
    }
}
