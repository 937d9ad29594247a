import ManagedObjects

/// The members of a relationship in the order in which statements return them: each owner's together, the owners in any
/// order.
struct OwnedMembers {
    private(set) var members: ContiguousArray<ObjectKey> = []
    private var positions: ContiguousArray<Int64> = []
    private var rows: ContiguousArray<RowResult.Position> = []
    private var hasAbsent = false
    private let owners: [Int64]
    /// The range of each owner's members: by the owner's distance from the lowest key if the keys are close together,
    /// as those of a fetch are, otherwise by the owner's key.
    private var runs: ContiguousArray<Range<Int32>> = []
    private var sparseRuns: [Int64: Range<Int32>] = [:]
    private let lowest: Int64
    private let isDense: Bool

    init(owners: [Int64]) {
        self.owners = owners
        lowest = owners.min() ?? 0
        let span = (owners.max() ?? 0) - lowest
        isDense = span < Int64(owners.count) * 4 + 64
        if isDense { runs = ContiguousArray(repeating: 0..<0, count: Int(span) + 1) }
    }

    mutating func add(_ member: ObjectKey, of owner: Int64, position: Int64?, row: RowResult.Position? = nil) {
        let end = Int32(truncatingIfNeeded: members.count)
        if isDense {
            let index = Int(owner - lowest)
            guard index >= 0, index < runs.count else { return }
            let run = runs[index]
            runs[index] = (run.isEmpty ? end : run.lowerBound)..<(end + 1)
        } else if let run = sparseRuns[owner] {
            sparseRuns[owner] = run.lowerBound..<(end + 1)
        } else {
            sparseRuns[owner] = end..<(end + 1)
        }
        members.append(member)
        if let position { positions.append(position) }
        if let row { rows.append(row) }
    }

    /// Sets the members' own entities from their rows. A member whose row was queried but does not exist gets number 0,
    /// and is omitted from the result.
    mutating func resolve(among wanted: [Int64], by pages: [RowPage]) {
        guard !wanted.isEmpty else { return }
        var entities: [Int64: UInt16] = [:]
        entities.reserveCapacity(wanted.count)
        for page in pages {
            let entity = UInt16(truncatingIfNeeded: page.layout.index)
            for row in 0..<page.count { entities[page.primaryKey(ofRow: row)] = entity }
        }
        var absent = Set<Int64>()
        for key in wanted where entities[key] == nil { absent.insert(key) }
        let declared = members.first?.entity
        let areAllDeclared = entities.values.allSatisfy { $0 == declared }
        if absent.isEmpty, areAllDeclared { return }
        hasAbsent = !absent.isEmpty
        for index in members.indices {
            let number = members[index].number
            if absent.contains(number) {
                members[index].number = 0
            } else if let entity = entities[number] {
                members[index].entity = entity
            }
        }
    }

    /// The members in the order of the requested owners.
    consuming func inOrderOfOwners(keepsPositions: Bool) -> MemberResult {
        var result = MemberResult()
        result.starts.reserveCapacity(owners.count + 1)
        if isInOrderOfOwners {
            for owner in owners { result.starts.append(max(run(of: owner).upperBound, result.starts.last ?? 0)) }
            result.members = members
            result.rows = rows
            if keepsPositions { result.positions = positions }
            return result
        }
        result.members.reserveCapacity(members.count)
        for owner in owners {
            let run = run(of: owner)
            append(Int(run.lowerBound)..<Int(run.upperBound), to: &result, keepsPositions: keepsPositions)
            result.starts.append(Int32(clamping: result.members.count))
        }
        return result
    }

    private func run(of owner: Int64) -> Range<Int32> {
        isDense ? runs[Int(owner - lowest)] : sparseRuns[owner] ?? 0..<0
    }

    /// Whether the members are already in the requested order: statements return them ordered by their owners' keys,
    /// and this is usually the order of the owners.
    private var isInOrderOfOwners: Bool {
        if hasAbsent { return false }
        var end: Int32 = 0
        for owner in owners {
            let run = run(of: owner)
            if run.isEmpty { continue }
            guard run.lowerBound == end, isInOrder(Int(run.lowerBound)..<Int(run.upperBound)) else { return false }
            end = run.upperBound
        }
        return Int(end) == members.count
    }

    private func append(_ run: Range<Int>, to result: inout MemberResult, keepsPositions: Bool) {
        if isInOrder(run) {
            for index in run where members[index].number != 0 {
                append(index, to: &result, keepsPositions: keepsPositions)
            }
            return
        }
        // Members with the same position are ordered by their keys.
        let order = run.sorted { (positions[$0], members[$0].number) < (positions[$1], members[$1].number) }
        for index in order where members[index].number != 0 {
            append(index, to: &result, keepsPositions: keepsPositions)
        }
    }

    private func append(_ index: Int, to result: inout MemberResult, keepsPositions: Bool) {
        result.members.append(members[index])
        if keepsPositions { result.positions.append(positions[index]) }
        if !rows.isEmpty { result.rows.append(rows[index]) }
    }

    private func isInOrder(_ run: Range<Int>) -> Bool {
        guard !positions.isEmpty, run.count > 1 else { return true }
        for index in run.dropFirst() where positions[index] < positions[index - 1] { return false }
        return true
    }
}
