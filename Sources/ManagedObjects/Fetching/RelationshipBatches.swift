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

/// The members of one relationship for consecutive rows of a page. Immutable, because objects share it.
final class MemberBatch {
    let rows: Range<Int>
    let readAt = ReadingTime.now
    private let members: ContiguousArray<ObjectKey>
    private let starts: ContiguousArray<Int32>
    private let positions: ContiguousArray<Int64>
    /// The positions of the members' rows, in pages numbered from `firstPage` in the context's `PrefetchedRows`; empty if
    /// the store does not return them.
    private let memberRows: ContiguousArray<RowResult.Position>
    private let firstPage: Int

    init(rows: Range<Int>, result: MemberResult, firstPage: Int) {
        self.rows = rows
        members = result.members
        starts = result.starts
        positions = result.positions
        memberRows = result.rows
        self.firstPage = firstPage
    }

    var memberCount: Int { members.count }

    /// The members of a row's object; nil if the row is not in the batch.
    @inline(__always)
    func run(row: Int) -> Run? {
        guard rows.contains(row) else { return nil }
        return Run(batch: self, owner: Int32(truncatingIfNeeded: row - rows.lowerBound))
    }

    /// One owner's members in a batch. Small, since objects keep it.
    struct Run {
        fileprivate let batch: MemberBatch
        fileprivate let owner: Int32

        private var start: Int {
            @inline(__always) get { Int(batch.starts[Int(owner)]) }
        }
        private var end: Int {
            @inline(__always) get { Int(batch.starts[Int(owner) + 1]) }
        }

        var readAt: ReadingTime { batch.readAt }

        func isSame(as other: Run) -> Bool { batch === other.batch && owner == other.owner }

        var count: Int { end - start }

        @inline(__always)
        func key(_ index: Int) -> ObjectKey { batch.members[start + index] }

        /// The number of a member's page in `PrefetchedRows`, and the row in it; nil if it is not known.
        @inline(__always)
        func row(_ index: Int) -> (page: Int, row: Int)? {
            if batch.memberRows.isEmpty { return nil }
            let position = batch.memberRows[start + index]
            return (batch.firstPage + Int(position.page), Int(position.row))
        }

        var keys: ContiguousArray<ObjectKey> { ContiguousArray(batch.members[start..<end]) }

        /// The keys of the members, and of the members of the next owners, up to a number of them.
        func keys(followedUpTo count: Int) -> ContiguousArray<ObjectKey>.SubSequence {
            batch.members[start..<max(end, min(start + count, batch.members.count))]
        }

        /// The members' positions, if the batch has them.
        var positions: ContiguousArray<Int64>? {
            batch.positions.isEmpty ? nil : ContiguousArray(batch.positions[start..<end])
        }
    }
}

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
