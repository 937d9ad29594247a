/// The objects of a fetch whose rows come batch by batch, as `fetchBatchSize` asks.
///
/// The fetch reads keys alone. Its objects are faults that know their place in the result; the first of a batch that
/// fires reads the rows of the whole batch. Of the batches read, the latest few keep their rows; objects of the others
/// that nobody uses become faults again.
final class FetchBatches {
    /// What was fetched: the objects are of this entity or of those that inherit from it.
    let entity: NSEntityDescription
    /// Objects of a batch; more than there can be where there are none.
    let size: Int
    /// The objects' keys, in the result's order.
    let keys: ContiguousArray<ObjectKey>
    /// Relationships to load along with a batch's rows.
    let keyPathsForPrefetching: [String]
    /// Whether a batch's objects have their values as soon as its rows are read.
    let realisesObjects: Bool
    /// The parent's objects, where a child has fetched: kept, so that they keep their places in the parent's fetch.
    let originals: [NSManagedObject]

    /// True while relationships are loaded: what is read meanwhile does not load its own.
    var isPrefetching = false

    private var recent: [Int] = []

    /// Batches that keep their rows: enough for loops that look back a little.
    private static let recentLimit = 4

    init(
        _ keys: ContiguousArray<ObjectKey>, of entity: NSEntityDescription, specification: FetchSpecification,
        originals: [NSManagedObject] = []
    ) {
        self.keys = keys
        self.entity = entity
        self.originals = originals
        size = specification.readsInBatches ? specification.batchSize : .max
        realisesObjects = !specification.returnsObjectsAsFaults
        // A parent has done it already.
        keyPathsForPrefetching = originals.isEmpty ? specification.relationshipKeyPathsForPrefetching ?? [] : []
    }

    /// The batch that a place of the result belongs to.
    func batch(of position: Int) -> Int { position / size }

    /// The places of a batch's objects in the result.
    func positions(inBatch batch: Int) -> Range<Int> {
        let first = batch * size
        return first..<first + min(size, keys.count - first)
    }

    /// Notes that a batch is being read.
    ///
    /// - Returns: The batch that is to let go of its rows for it, if there is one.
    func beginReading(batch: Int) -> Int? {
        if recent.last == batch { return nil }
        recent.removeAll { $0 == batch }
        recent.append(batch)
        return recent.count > Self.recentLimit ? recent.removeFirst() : nil
    }
}

extension FetchSpecification {
    /// How many rows are read at once where they come in batches.
    fileprivate var batchSize: Int { fetchBatchSize > 0 ? fetchBatchSize : 128 }

    /// Whether rows are to be read when objects are asked for them, not at the fetch.
    var readsInBatches: Bool {
        let isWanted = fetchBatchSize > 0 || !includesPropertyValues
        return isWanted && resultType == .managedObjectResultType && !(1...batchSize).contains(fetchLimit)
    }
}
