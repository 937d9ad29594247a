/// A store that can change many rows in one request, without objects.
protocol BatchStore: RowStore {
    /// Executes a batch insert, update or delete in one transaction.
    ///
    /// - Returns: Nil if the store's configuration does not contain the entity.
    func executeBatch(
        _ request: NSPersistentStoreRequest, for context: NSManagedObjectContext
    ) throws -> NSPersistentStoreResult?
}

extension BatchStore {
    var batchStore: (any BatchStore)? { self }
}
