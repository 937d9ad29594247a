/// The number of objects to read together when they are accessed one by one: faults by ID, refreshed objects of a
/// hierarchy, and members whose rows are no longer read ahead.
///
/// The first few are read alone, since no further access may follow; after these, others are read with each, so that a
/// loop needs few statements.
struct BatchGrowth {
    private var epoch = -1
    private var asked = 0
    private let aloneLimit: Int

    /// - Parameter aloneLimit: The number of objects that are read alone.
    init(aloneLimit: Int) { self.aloneLimit = aloneLimit }

    /// The number of objects to read now. A save, a merge or a refresh starts again.
    ///
    /// - Parameter batchLimit: The maximum number of objects that are read together.
    mutating func next(in epoch: Int, atMost batchLimit: Int) -> Int {
        if epoch != self.epoch {
            self.epoch = epoch
            asked = 0
        }
        asked += 1
        guard asked > aloneLimit else { return 1 }
        return min(1 << min(2 * (asked - aloneLimit), 16), batchLimit)
    }
}
