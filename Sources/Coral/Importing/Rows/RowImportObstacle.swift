#if !canImport(Darwin) && !CORAL_PUBLIC_API

    import CoreData

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

#endif
