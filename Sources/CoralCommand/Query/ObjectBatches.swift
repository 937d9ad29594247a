import Coral

/// The objects of a request, fetched in batches: in memory are the IDs of all of them and the objects of one batch.
struct ObjectBatches {
    private let ids: [NSManagedObjectID]
    private let entity: String
    private let prefetching: [String]?
    private static let size = 500

    /// Fetches the IDs: one statement.
    ///
    /// - Parameter isSorted: Whether the order is that of the request. Otherwise it is that of the objects' names.
    init(of request: NSFetchRequest<NSManagedObject>, isSorted: Bool, in context: NSManagedObjectContext) throws {
        entity = request.entityName ?? ""
        prefetching = request.relationshipKeyPathsForPrefetching
        let fetch = NSFetchRequest<NSManagedObjectID>(entityName: entity)
        fetch.predicate = request.predicate
        fetch.sortDescriptors = request.sortDescriptors
        fetch.fetchOffset = request.fetchOffset
        fetch.fetchLimit = request.fetchLimit
        fetch.resultType = .managedObjectIDResultType
        let found = try context.fetch(fetch)
        ids = isSorted ? found : StoredName.sorted(found)
    }

    /// The number of objects.
    var count: Int { ids.count }

    /// The positions at which batches begin.
    var starts: StrideTo<Int> { stride(from: 0, to: ids.count, by: Self.size) }

    /// The objects of the batch that begins at a position, in their order: one statement, and one for each relationship to
    /// prefetch. Without those that were deleted since the IDs were fetched.
    func objects(from start: Int, in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let batch = ids[start..<min(start + Self.size, ids.count)]
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "self IN %@", Array(batch))
        request.relationshipKeyPathsForPrefetching = prefetching
        let found = Dictionary(
            try context.fetch(request).map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
        return batch.compactMap { found[$0] }
    }
}
