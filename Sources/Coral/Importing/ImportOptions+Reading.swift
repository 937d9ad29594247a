import GraphDocuments

extension ImportOptions {
    /// The options for reading a document into a model.
    ///
    /// - Parameter rootEntity: The entity of the records at the top of the document, if the caller states it.
    func reading(for model: ImportModel, rootEntity: String?) -> ReadingOptions {
        var reading = reading
        // A mismatched value is converted, or reported together with all other errors.
        reading.keepsMismatchedValues = true
        reading.rootEntity = rootEntity ?? reading.rootEntity
        if otherModel == .skip || otherModel == .keep { reading.unknownEntities = .skip }
        if reading.layout == .plain, reading.plainLayout == nil { reading.plainLayout = PlainLayout(model) }
        return reading
    }
}
