#if !canImport(Darwin) && !CORAL_PUBLIC_API
    import CoreData
    @_spi(Stores) import ManagedObjects

    /// What only the engine of this package can do: objects with the primary keys they once had, and saves that take a store
    /// as it was.
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
