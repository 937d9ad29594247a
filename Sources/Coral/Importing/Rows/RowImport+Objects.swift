#if !canImport(Darwin) && !CORAL_PUBLIC_API

    import CoreData
    @_spi(Stores) import ManagedObjects

    // Importing the records that rows cannot hold through objects.
    extension RowImport {
        /// Imports the records that rows cannot hold through objects, in the transaction of the rows. It is called after the rows
        /// are written, so that all other objects of the document can be found.
        ///
        /// Cost: the document is read again up to the last of these records, which are in memory together.
        mutating func importObjects() throws {
            guard !exceptions.isEmpty else { return }
            forward.removeAll { exceptions[$0.record] != nil }
            let records = try readAgain(Set(exceptions.keys))
            // A context without a queue: the transaction's connection can be used on its own queue only.
            let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            context.undoManager = nil
            ChosenKeys.stopValidating(context)
            try writer.flush()
            let session = try ImportSession(
                context, options: options, progress: nil, model: model, defersRequirements: true)
            for record in records { session.payload.add(record.record) }
            try session.perform()
            if let error = session.changes.errors.combined { throw error }
            guard session.changes.deletions.count == 0 || forward.isEmpty else {
                throw ObjectsReason(.document, "A record deletes objects, to which other records may refer.")
            }
            result.add(session.changes, limit: options.entryLimit)
            if context.hasChanges { try writer.save(context) }
            let numbers = Dictionary(records.map { ($0.record.record.id, $0.number) }) { first, _ in first }
            for open in session.requirements {
                guard let key = open.object.objectID.primaryKey else { continue }
                requirements.add(open.requirement, of: key, record: open.record.flatMap { numbers[$0] })
            }
            let objects = session.payload.nodes.filter { !$0.isReference }.compactMap(\.object)
            for key in plan.keys { try index.add(objects, by: key) }
        }
    }

#endif
