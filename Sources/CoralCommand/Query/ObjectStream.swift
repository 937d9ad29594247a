import Coral
import CoralTools

/// The objects of a request, read in batches. Memory holds one batch; for an order, and for a predicate that each batch would have
/// to evaluate again, also the IDs of all objects.
struct ObjectStream {
    private let request: NSFetchRequest<NSManagedObject>
    private let isSorted: Bool
    private let context: NSManagedObjectContext
    /// The first batches are small, so that the first objects are known early even if few match a predicate.
    private static let sizes = (first: 1, factor: 8, last: 500)
    /// The number of objects that are read before the IDs of the others, if the predicate may be evaluated at once.
    private static let probeSize = 100

    /// - Parameter isSorted: Whether the order is that of the request. Otherwise it is that of the objects' names.
    init(of request: NSFetchRequest<NSManagedObject>, isSorted: Bool, in context: NSManagedObjectContext) {
        self.request = request
        self.isSorted = isSorted
        self.context = context
    }

    /// Passes each object to a closure, and returns their number. Throws `CocoaError.userCancelled` if the progress, which counts
    /// the objects, is cancelled.
    func forEach(_ progress: Progress, _ body: (NSManagedObject) throws -> Void) throws -> Int {
        guard !isSorted, request.fetchOffset == 0, let entity else { return try forEachByID(progress, body) }
        // To count what a predicate matches may take as long as to read it.
        if request.predicate == nil { progress.begin(try context.count(for: request)) }
        let isEvaluatedByRow = request.predicate.map(RowPredicate(of: entity, in: context).isEvaluatedByRow) ?? true
        var count = 0
        for entity in Self.entities(of: request, entity)
        where request.fetchLimit == 0 || count < request.fetchLimit {
            let batch = self.batch(of: entity.name ?? "")
            try isEvaluatedByRow
                ? forEachByKey(batch, &count, progress, body) : forEachAfterProbe(batch, &count, progress, body)
        }
        return count
    }

    /// Passes each object to a closure as a row of cells, and returns the number of objects. If the database can evaluate the
    /// request and has the cells in columns, rows are read one by one, and there are no objects. Throws as `forEach(_:_:)` does.
    func forEachRow(
        _ columns: [QueryColumn], in store: NSPersistentStore, _ progress: Progress, _ body: (QueryRow) throws -> Void
    ) throws -> Int {
        #if STORE_ENGINE
            if let entity {
                let entities = isSorted ? [entity] : Self.entities(of: request, entity)
                let query = RowQuery(columns, of: entities, matching: request, isSorted: isSorted)
                if let count = try query?.forEach(of: store, in: context, progress, { try body(.row($0)) }) {
                    return count
                }
            }
        #endif
        return try forEach(progress) { object in try body(.cells(columns.map { $0.cell(of: object) })) }
    }

    private var entity: NSEntityDescription? {
        context.persistentStoreCoordinator?.managedObjectModel.entitiesByName[request.entityName ?? ""]
    }

    /// The entities of the objects of a request, in the order of their names.
    private static func entities(
        of request: NSFetchRequest<NSManagedObject>, _ entity: NSEntityDescription
    ) -> [NSEntityDescription] {
        let entities = request.includesSubentities ? PlainSchema.hierarchy(of: entity) : [entity]
        return entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
    }

    /// A request for the objects of one entity, in the order of their keys.
    private func batch(of entity: String) -> NSFetchRequest<NSManagedObject> {
        let batch = NSFetchRequest<NSManagedObject>(entityName: entity)
        batch.includesSubentities = false
        batch.predicate = request.predicate
        batch.sortDescriptors = [NSSortDescriptor(key: "objectID", ascending: true)]
        batch.relationshipKeyPathsForPrefetching = request.relationshipKeyPathsForPrefetching
        return batch
    }

    /// The predicate of the request for the objects after one.
    private func predicate(after last: NSManagedObject) -> NSPredicate {
        let later = NSPredicate(format: "objectID > %@", last.objectID)
        return request.predicate.map { NSCompoundPredicate(andPredicateWithSubpredicates: [$0, later]) } ?? later
    }

    /// Reads the first objects, and then the IDs of the others: the first ones are known early if the database finds them one by
    /// one.
    private func forEachAfterProbe(
        _ batch: NSFetchRequest<NSManagedObject>, _ count: inout Int, _ progress: Progress,
        _ body: (NSManagedObject) throws -> Void
    ) throws {
        let limit = request.fetchLimit == 0 ? Int.max : request.fetchLimit - count
        batch.fetchLimit = min(Self.probeSize, limit)
        let objects = try context.fetch(batch)
        try pass(objects, progress, body)
        count += objects.count
        guard objects.count == Self.probeSize, objects.count < limit, let last = objects.last else { return }
        batch.predicate = predicate(after: last)
        batch.fetchLimit = request.fetchLimit == 0 ? 0 : limit - objects.count
        let others = try ObjectBatches(of: batch, isSorted: true, in: context)
        progress.begin(count + others.count)
        for start in others.starts { try pass(try others.objects(from: start, in: context), progress, body) }
        count += others.count
    }

    /// Reads the objects in batches: each begins after the last object of the previous one.
    private func forEachByKey(
        _ batch: NSFetchRequest<NSManagedObject>, _ count: inout Int, _ progress: Progress,
        _ body: (NSManagedObject) throws -> Void
    ) throws {
        var size = Self.sizes.first
        while true {
            batch.fetchLimit = size
            size = min(size * Self.sizes.factor, Self.sizes.last)
            if request.fetchLimit > 0 { batch.fetchLimit = min(batch.fetchLimit, request.fetchLimit - count) }
            if batch.fetchLimit == 0 { return }
            let objects = try context.fetch(batch)
            try pass(objects, progress, body)
            count += objects.count
            guard objects.count == batch.fetchLimit, let last = objects.last else { return }
            batch.predicate = predicate(after: last)
        }
    }

    private func forEachByID(_ progress: Progress, _ body: (NSManagedObject) throws -> Void) throws -> Int {
        let batches = try ObjectBatches(of: request, isSorted: isSorted, in: context)
        progress.begin(batches.count)
        for start in batches.starts { try pass(try batches.objects(from: start, in: context), progress, body) }
        return batches.count
    }

    private func pass(
        _ objects: [NSManagedObject], _ progress: Progress, _ body: (NSManagedObject) throws -> Void
    ) throws {
        if progress.isCancelled { throw CocoaError(.userCancelled) }
        for object in objects { try body(object) }
        progress.completedUnitCount += Int64(objects.count)
    }
}

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
        fetch.includesSubentities = request.includesSubentities
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
