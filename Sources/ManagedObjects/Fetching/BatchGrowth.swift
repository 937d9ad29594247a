/// How many objects to read together that nobody has asked for together: faults by ID or refreshed ones, of a hierarchy, and
/// members whose rows have gone.
///
/// The first few are read alone, as nothing says that others will be asked for; when more follow, others are read with them,
/// so that a loop costs a handful of statements.
struct BatchGrowth {
    private var epoch = -1
    private var asked = 0
    private let aloneLimit: Int
    private let batchLimit: Int

    /// - Parameters:
    ///   - aloneLimit: Objects that are read alone before others come along.
    ///   - batchLimit: Objects that are read together at most.
    init(aloneLimit: Int, batchLimit: Int) {
        self.aloneLimit = aloneLimit
        self.batchLimit = batchLimit
    }

    /// How many to read now. What was read before a save, a merge or a refreshing does not count.
    mutating func next(in epoch: Int) -> Int {
        if epoch != self.epoch {
            self.epoch = epoch
            asked = 0
        }
        asked += 1
        guard asked > aloneLimit else { return 1 }
        return min(1 << min(2 * (asked - aloneLimit), 16), batchLimit)
    }
}
