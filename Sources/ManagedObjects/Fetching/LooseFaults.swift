/// How many faults of a hierarchy to read together that came from no row and no relationship: objects by ID, or refreshed ones.
///
/// The first few that fire are read alone, as nothing says that others will be asked for; when more follow, others are read
/// with them, so that a loop costs a handful of statements.
struct LooseFaults {
    private var epoch = -1
    private var fired = 0

    /// Faults read alone before others come along, and faults read together at most.
    private static let aloneLimit = 3
    private static let batchLimit = 256

    /// How many to read now. What was read before a save, a merge or a refreshing does not count.
    mutating func next(in epoch: Int) -> Int {
        if epoch != self.epoch {
            self.epoch = epoch
            fired = 0
        }
        fired += 1
        guard fired > Self.aloneLimit else { return 1 }
        return min(1 << min(2 * (fired - Self.aloneLimit), 16), Self.batchLimit)
    }
}
