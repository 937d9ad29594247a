/// The loaded members of to-many relationships for the rows of a page, and the number of rows to load next time.
///
/// The first access to the members of an object of a page loads them for that object only, the second for a few more
/// rows, the next for many: a loop over a fetch needs few statements, a single access reads one row's members.
///
/// Without dynamic checks of exclusive access, because every access to a relationship uses this class, on one queue.
final class RelationshipBatches {
    /// The batches of each relationship, in the order in which they were loaded.
    @exclusivity(unchecked) private var batches: [[MemberBatch]]
    @exclusivity(unchecked) private var growth: [Int]
    /// The number of destinations of a to-one slot to load next time, by slot.
    @exclusivity(unchecked) private var slotGrowth: [Int]
    private let epoch: Int
    /// Whether relationships are loaded for all rows of the page at once.
    let readsWhole: Bool

    init(page: RowPage, epoch: Int) {
        // Rows that were read ahead are already part of a loop.
        let first = page.isReadAhead ? max(1, page.count / 4) : 1
        batches = Array(repeating: [], count: page.layout.toMany.count)
        growth = Array(repeating: first, count: page.layout.toMany.count)
        slotGrowth = Array(repeating: first, count: page.layout.slots.count)
        self.epoch = epoch
        readsWhole = page.isFetchBatch && page.count <= Self.mostOwners
    }

    func isValid(in epoch: Int) -> Bool { self.epoch == epoch }

    /// The members for a row, if they were loaded with a batch, and not before a given time.
    func members(row: Int, relationship: Int, notBefore oldest: ReadingTime?) -> MemberBatch.Run? {
        // From the end: a loop accesses the last batch.
        var index = batches[relationship].count
        while index > 0 {
            index -= 1
            guard let run = batches[relationship][index].run(row: row) else { continue }
            if let oldest, run.readAt < oldest { continue }
            return run
        }
        return nil
    }

    func add(_ batch: MemberBatch, relationship: Int) {
        batches[relationship].append(batch)
        // Owners with many members are loaded in smaller batches, so that a batch has some thousands of members at
        // most.
        let membersPerOwner = max(1, batch.memberCount / max(1, batch.rows.count))
        growth[relationship] = min(growth[relationship], max(1, Self.mostMembers / membersPerOwner))
    }

    private static let mostMembers = 8192
    private static let mostOwners = 4096

    /// The rows to load members for, starting at the requested row.
    func nextRows(from row: Int, count: Int, relationship: Int) -> Range<Int> {
        if readsWhole, batches[relationship].isEmpty { return 0..<count }
        let size = growth[relationship]
        growth[relationship] = min(size * 16, Self.mostOwners)
        var end = min(row + size, count)
        for batch in batches[relationship] where batch.rows.lowerBound > row {
            end = min(end, batch.rows.lowerBound)
        }
        return row..<end
    }

    /// The number of destinations of a to-one slot to load, which grows each time.
    func nextTargetCount(slot: Int) -> Int {
        let size = slotGrowth[slot]
        slotGrowth[slot] = min(size * 16, 4096)
        return size
    }
}
