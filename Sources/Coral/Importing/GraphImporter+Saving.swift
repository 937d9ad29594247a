import CoreData

#if !canImport(Darwin) && !CORAL_PUBLIC_API
    @_spi(Stores) import ManagedObjects
#endif

extension GraphImporter {
    /// Plans an import and saves it in one write transaction of the context's store. No other process can save between the search
    /// for the objects of the records and the insertion of those that were not found, so that imports at the same time insert
    /// an object with a key once, even if no uniqueness constraint requires it.
    ///
    /// The importer's context determines the store, and the author of the transaction. It is not changed; contexts are notified as
    /// after a save. Call it on the context's queue. The transaction begins before the document is read.
    ///
    /// - Parameters:
    ///   - planning: Makes the plan with an importer in the transaction.
    ///   - saving: Calls its argument, which saves; not called if there is nothing to save. An error rolls the transaction back.
    /// - Returns: The applied plan. Nil, with nothing done, if the context does not have exactly one store, which is a writable
    ///   SQLite store of this package's engine.
    /// - Throws: As `plan` and `ImportPlan.apply`, and errors of saving.
    package func planAndSave(
        planning: (GraphImporter) throws -> ImportPlan<NSManagedObject>,
        saving: (() throws -> Void) throws -> Void
    ) throws -> ImportPlan<NSManagedObject>? {
        #if !canImport(Darwin) && !CORAL_PUBLIC_API
            guard let coordinator = context.persistentStoreCoordinator, coordinator.persistentStores.count == 1,
                let store = coordinator.persistentStores.first
            else { return nil }
            return try context.writeRows(in: store) { writer in
                // A context without a queue: the transaction's connection can be used on its own queue only.
                let own = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
                own.persistentStoreCoordinator = coordinator
                own.undoManager = nil
                var importer = GraphImporter(into: own, options: options)
                importer.worksInPlace = true
                importer.isInTransaction = true
                let plan = try planning(importer)
                try plan.apply()
                if own.hasChanges { try saving { try writer.save(own) } }
                return plan
            }
        #else
            return nil
        #endif
    }
}
