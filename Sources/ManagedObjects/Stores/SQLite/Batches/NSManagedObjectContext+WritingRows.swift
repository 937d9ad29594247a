import Foundation

@_spi(Stores)
extension NSManagedObjectContext {
    /// Calls a closure with a writer of a store's rows, in one transaction that is rolled back on an error. Contexts
    /// are notified afterwards, some thousand IDs at a time, as after a save. No method of objects is called, except those of objects that are saved by ``RowWriter/save(_:)``.
    ///
    /// - Returns: Nil, without calling the closure, if the store is not a writable SQLite store of this package.
    /// - Throws: The closure's error, and errors of the store.
    public func writeRows<Result>(
        in store: NSPersistentStore, _ body: (RowWriter) throws -> Result
    ) throws -> Result? {
        guard let coordinator, let store = store as? SQLiteStore, !store.isReadOnly,
            store.persistentStoreCoordinator === coordinator
        else { return nil }
        let (result, outcome) = try store.writeRows(context: self, body)
        notify(outcome, number: store.number, coordinator)
        return result
    }

    /// The number of IDs in one notification.
    private static var notificationSize: Int { 5000 }

    private func notify(_ outcome: RowOutcome, number: UInt16, _ coordinator: NSPersistentStoreCoordinator) {
        for (entity, keys) in outcome.inserted {
            for start in stride(from: keys.lowerBound, through: keys.upperBound, by: Self.notificationSize) {
                let end = min(start + Int64(Self.notificationSize) - 1, keys.upperBound)
                let ids = (start...end).map { key in
                    coordinator.objectID(
                        for: ObjectKey(store: number, entity: UInt16(truncatingIfNeeded: entity), number: key))
                }
                notify(ids, as: NSInsertedObjectIDsKey)
            }
        }
        for (changed, name) in [(outcome.updated, NSUpdatedObjectIDsKey), (outcome.deleted, NSDeletedObjectIDsKey)] {
            for start in stride(from: 0, to: changed.count, by: Self.notificationSize) {
                let keys = changed[start..<min(start + Self.notificationSize, changed.count)]
                notify(keys.map(coordinator.objectID(for:)), as: name)
            }
        }
    }

    private func notify(_ ids: [NSManagedObjectID], as key: String) {
        let userInfo: [AnyHashable: Any] = [key: Set(ids)]
        post(.NSManagedObjectContextDidSave, userInfo)
        post(.NSManagedObjectContextDidSaveObjectIDs, userInfo)
    }
}
