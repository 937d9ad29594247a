/// The order in which an import makes the changes of some records: those of a whole document, or of a batch.
///
/// There are two adapters: `ImportPerformer` changes managed objects, `RowImport` writes rows. Links are set after all
/// values, because a record may refer to a later one; objects are deleted after that, because a record may still use
/// them; and all is validated at the end, because other records may supply what an object lacks. Rows, which are written
/// at once, are validated one by one before they are written, and what other records may supply is checked after the
/// last batch (`BatchedImport`).
protocol ImportSteps {
    /// Assigns each record the object that has its key, or a new one.
    mutating func assignObjects() throws

    /// Sets the values of attributes, and defaults of new objects.
    mutating func setValues() throws

    /// Sets the relationships whose destinations are known.
    mutating func setLinks() throws

    /// Deletes what the options say.
    mutating func deleteObjects() throws

    /// Validates what the steps have changed.
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
