/// Members of a relationship as statements give them, each owner's together and the owners in any order.
struct OwnedMembers {
    private(set) var members: ContiguousArray<ObjectKey> = []
    private var positions: ContiguousArray<Int64> = []
    private let owners: [Int64]
    /// Where each owner's members begin and end. By the owner's distance from the lowest where owners lie close together,
    /// as those of a fetch do; else by its key.
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

    mutating func add(_ member: ObjectKey, of owner: Int64, position: Int64?) {
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
    }

    /// Takes the members' own entities from their rows; a member that was looked for and has none becomes number 0, which
    /// is left out of the result.
    mutating func resolve(among wanted: [Int64], by pages: [RowPage]) {
        guard !wanted.isEmpty else { return }
        var entities: [Int64: UInt16] = [:]
        entities.reserveCapacity(wanted.count)
        for page in pages {
            for key in page.keys { entities[key] = UInt16(truncatingIfNeeded: page.layout.index) }
        }
        var absent = Set<Int64>()
        for key in wanted where entities[key] == nil { absent.insert(key) }
        let declared = members.first?.entity
        let areAllDeclared = entities.values.allSatisfy { $0 == declared }
        if absent.isEmpty, areAllDeclared { return }
        for index in members.indices {
            let number = members[index].number
            if absent.contains(number) {
                members[index].number = 0
            } else if let entity = entities[number] {
                members[index].entity = entity
            }
        }
    }

    /// The members, owner after owner as they were asked for.
    func inOrderOfOwners(keepsPositions: Bool) -> MemberResult {
        var result = MemberResult()
        result.members.reserveCapacity(members.count)
        result.starts.reserveCapacity(owners.count + 1)
        for owner in owners {
            let run = isDense ? runs[Int(owner - lowest)] : sparseRuns[owner] ?? 0..<0
            append(Int(run.lowerBound)..<Int(run.upperBound), to: &result, keepsPositions: keepsPositions)
            result.starts.append(Int32(clamping: result.members.count))
        }
        return result
    }

    private func append(_ run: Range<Int>, to result: inout MemberResult, keepsPositions: Bool) {
        if isInOrder(run) {
            for index in run where members[index].number != 0 {
                result.members.append(members[index])
                if keepsPositions { result.positions.append(positions[index]) }
            }
            return
        }
        // Members with the same position stand by their keys.
        let order = run.sorted { (positions[$0], members[$0].number) < (positions[$1], members[$1].number) }
        for index in order where members[index].number != 0 {
            result.members.append(members[index])
            if keepsPositions { result.positions.append(positions[index]) }
        }
    }

    private func isInOrder(_ run: Range<Int>) -> Bool {
        guard !positions.isEmpty, run.count > 1 else { return true }
        for index in run.dropFirst() where positions[index] < positions[index - 1] { return false }
        return true
    }
}
