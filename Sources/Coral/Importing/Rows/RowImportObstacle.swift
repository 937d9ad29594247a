#if !canImport(Darwin) && !CORAL_PUBLIC_API

    import CoreData

    /// The reason why a record cannot be imported by rows alone: thrown while the record is read, and caught by
    /// `RowImport.importRecords()`, which leaves the record to objects.
    struct RowImportObstacle: Error {
        let reason: ObjectsReason

        init(_ reason: ObjectsReason) { self.reason = reason }

        /// A reason in the document.
        init(_ message: String, entity: String? = nil, property: String? = nil) {
            reason = ObjectsReason(.document, message, entity: entity, property: property)
        }
    }

#endif
