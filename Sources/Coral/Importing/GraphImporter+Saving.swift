import CoreData

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
        guard let store = context.onlyStore else { return nil }
        return try Engine.current.inWriteTransaction(of: store, for: context) { own in
            var importer = GraphImporter(into: own, options: options)
            importer.worksInPlace = true
            importer.isInTransaction = true
            let plan = try planning(importer)
            try plan.apply(isNew: true)
            if own.hasChanges { try saving { try own.save() } }
            return plan
        }
    }
}

extension NSManagedObjectContext {
    /// The store of the context's coordinator; nil if that does not have exactly one.
    var onlyStore: NSPersistentStore? {
        guard let stores = persistentStoreCoordinator?.persistentStores, stores.count == 1 else { return nil }
        return stores.first
    }
}
