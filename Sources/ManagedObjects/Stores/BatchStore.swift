/// A store that can change many rows at once, without objects.
protocol BatchStore: RowStore {
    /// Carries out a batch insert, update or delete in one transaction.
    ///
    /// - Returns: Nil where the request is not for this store: its configuration does not hold the entity.
    func executeBatch(
        _ request: NSPersistentStoreRequest, for context: NSManagedObjectContext
    ) throws -> NSPersistentStoreResult?
}
