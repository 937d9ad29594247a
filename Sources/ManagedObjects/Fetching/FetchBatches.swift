/// The objects of a fetch whose rows are read batch by batch, according to `fetchBatchSize`.
///
/// The fetch reads keys only. Its objects are faults with a position in the result; the first fault of a batch that
/// fires reads the rows of the whole batch. The rows of the latest few batches are kept; unused objects of the others
/// become faults again.
package final class FetchBatches {
    /// The fetched entity: the objects are of this entity or of one that inherits from it.
    let entity: NSEntityDescription
    /// The number of objects in a batch; greater than the number of objects if there are no batches.
    let size: Int
    /// The objects' keys, in the result's order.
    let keys: ContiguousArray<ObjectKey>
    /// Relationships to prefetch with a batch's rows.
    let keyPathsForPrefetching: [String]
    /// Whether a batch's objects are realised when its rows are read.
    let realisesObjects: Bool
    /// The parent's objects of a child context's fetch: retained, so that they keep their positions in the parent's
    /// fetch.
    let originals: [NSManagedObject]

    /// True while relationships are prefetched, to prevent recursion.
    var isPrefetching = false

    private var recent: [Int] = []

    /// The number of batches whose rows are kept: enough for a loop that also accesses a few preceding objects.
    static let recentLimit = 4

    init(
        _ keys: ContiguousArray<ObjectKey>, of entity: NSEntityDescription, specification: FetchSpecification,
        originals: [NSManagedObject] = []
    ) {
        self.keys = keys
        self.entity = entity
        self.originals = originals
        size = specification.readsInBatches ? specification.batchSize : .max
        realisesObjects = !specification.returnsObjectsAsFaults
        // In a child context the parent has prefetched already.
        keyPathsForPrefetching = originals.isEmpty ? specification.relationshipKeyPathsForPrefetching ?? [] : []
    }

    /// The batch of a position in the result.
    func batch(of position: Int) -> Int { position / size }

    /// The positions of a batch's objects in the result.
    func positions(inBatch batch: Int) -> Range<Int> {
        let first = batch * size
        return first..<first + min(size, keys.count - first)
    }

    /// Records that a batch is read.
    ///
    /// - Returns: The batch whose rows are no longer kept, if any.
    func beginReading(batch: Int) -> Int? {
        if recent.last == batch { return nil }
        recent.removeAll { $0 == batch }
        recent.append(batch)
        return recent.count > Self.recentLimit ? recent.removeFirst() : nil
    }
}

extension FetchSpecification {
    /// The number of rows that are read at once in batches.
    fileprivate var batchSize: Int { fetchBatchSize > 0 ? fetchBatchSize : 128 }

    /// Whether rows are read when objects are accessed, not by the fetch.
    var readsInBatches: Bool {
        let isWanted = fetchBatchSize > 0 || !includesPropertyValues
        return isWanted && resultType == .managedObjectResultType && !(1...batchSize).contains(fetchLimit)
    }
}

/// An estimate of an object's reference count; temporary references may be included.
enum ReferenceCount {
    /// Whether at most an object's context and one array of results refer to it.
    ///
    /// Compared with the count of an object in two arrays, because counting may itself retain the object. Unmanaged,
    /// because the caller's reference would count.
    static func isInResultsOnly(_ object: Unmanaged<NSManagedObject>) -> Bool {
        count(object) <= ofTwoHolders
    }

    private final class Probe {}

    private static let ofTwoHolders: UInt = {
        let holder = [Probe()]
        let other = holder.map { $0 }
        let probe = Unmanaged.passUnretained(other[0])
        return withExtendedLifetime((holder, other)) { count(probe) }
    }()

    @inline(never)
    private static func count<Object: AnyObject>(_ object: Unmanaged<Object>) -> UInt {
        object._withUnsafeGuaranteedRef { _getRetainCount($0) }
    }
}
