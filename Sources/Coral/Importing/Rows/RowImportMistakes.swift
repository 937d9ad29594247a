#if !canImport(Darwin) && !CORAL_PUBLIC_API

    import CoreData
    import GraphDocuments

    /// Properties of records that cannot be imported. The row importer records only their names; the object importer produces
    /// the error messages.
    struct RowImportMistakes: Error {
        struct Mistake: Hashable {
            /// The number of the record in the document.
            var record: Int
            var property: String
        }

        var mistakes: [Mistake]

        /// The error with the object importer's messages: the document is read again up to the last of the records,
        /// which are imported into a context that is never saved.
        func explanation(
            of source: ImportSource, importer: BatchImporter, model: ImportModel, reading: ReadingOptions
        ) throws -> ImportError {
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = importer.coordinator
            let numbers = Set(mistakes.map(\.record)).sorted().prefix(importer.options.entryLimit)
            let records = try source.records(Set(numbers), model: model, reading: reading)
            return try context.performAndWait {
                var options = importer.options
                options.entryLimit = .max
                let session = try ImportSession(context, options: options, progress: nil, model: model)
                for (_, record) in records { session.payload.add(record) }
                try session.perform()
                let wanted = Set(
                    mistakes.flatMap { mistake in
                        records.filter { $0.number == mistake.record }.map { $0.record.place(of: mistake.property) }
                    })
                var found = session.changes.errors.kept.filter { $0.place.map(wanted.contains) ?? false }
                if found.isEmpty {
                    // The object importer finds no error, because the error depends on records that are not among these.
                    guard let mistake = mistakes.first else { return ImportError(.invalidObject, "Invalid record.") }
                    let record = records.first { $0.number == mistake.record }?.record
                    found = [
                        ImportError(
                            .invalidObject, "\(mistake.property) cannot be set.",
                            at: record?.place(of: mistake.property), record: record?.record.id,
                            entity: record?.record.entity, property: mistake.property)
                    ]
                }
                var error = found[0]
                error.others = Array(found.dropFirst().prefix(max(importer.options.entryLimit - 1, 0)))
                error.otherCount = max(found.count, mistakes.count) - 1
                return error
            }
        }
    }

#endif
