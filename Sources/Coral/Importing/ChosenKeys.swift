#if !canImport(Darwin) && !CORAL_PUBLIC_API
    import CoreData
    @_spi(Stores) import ManagedObjects

    /// Features of this package's engine that Core Data does not have: inserting objects with given primary keys, and
    /// saving without validation.
    enum ChosenKeys {
        static func insertObject(
            of entity: NSEntityDescription, withPrimaryKey number: Int64, in store: NSPersistentStore,
            context: NSManagedObjectContext
        ) throws -> NSManagedObject {
            try context.insertObject(of: entity, withPrimaryKey: number, in: store)
        }

        static func stopValidating(_ context: NSManagedObjectContext) {
            context.validatesChanges = false
        }
    }
#endif
