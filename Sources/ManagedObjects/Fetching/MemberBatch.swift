/// The members of one relationship for consecutive rows of a page. Immutable, because objects share it.
final class MemberBatch {
    let rows: Range<Int>
    let readAt = ReadingTime.now
    private let members: ContiguousArray<ObjectKey>
    private let starts: ContiguousArray<Int32>
    private let positions: ContiguousArray<Int64>
    /// The positions of the members' rows, in pages numbered from `firstPage` in the context's `RowsAhead`; empty if
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

        /// The number of a member's page in `RowsAhead`, and the row in it; nil if it is not known.
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
