import Foundation

@_spi(Stores)
extension NSManagedObjectContext {
    /// Calls a closure with a new context whose reads and saves are parts of one write transaction of a store: no other process can
    /// save between a read and a save of the closure.
    ///
    /// The new context has no queue, and is used on the caller's thread only. It has the name and the author of this context, which
    /// is not changed itself. Its notifications are posted after the commit. The closure must not save other contexts, which would
    /// wait for the transaction. It is called again, with another context, if the server has ended the transaction because of
    /// concurrent ones.
    ///
    /// - Returns: Nil, without calling the closure, if the store is not a writable SQL store of this package.
    /// - Throws: The closure's error, which rolls the transaction back, and errors of the store.
    public func inWriteTransaction<Result>(
        of store: NSPersistentStore, _ body: (NSManagedObjectContext) throws -> Result
    ) throws -> Result? {
        guard let coordinator, !store.isReadOnly, store.persistentStoreCoordinator === coordinator,
            let database = store as? any SQLRowStore
        else { return nil }
        let (result, own, notifications) = try database.inSaveTransaction { transaction in
            try transaction.excludeOtherWriters()
            let own = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
            own.persistentStoreCoordinator = coordinator
            own.undoManager = nil
            own.name = name
            own.transactionAuthor = transactionAuthor
            own.saveTransaction = transaction
            own.heldNotifications = []
            defer {
                own.saveTransaction = nil
                own.heldNotifications = nil
            }
            return (try body(own), own, own.heldNotifications ?? [])
        }
        for (name, userInfo) in notifications { own.post(name, userInfo) }
        return result
    }
}
