/// The positions of members in an ordered relationship, as numbers that a store sorts by.
///
/// The first member gets 2048, each further one 1024 more. A member inserted between two others gets a number in the
/// gap; the members behind it are renumbered only when a gap is exhausted. So a save writes little more than the moved
/// members. (Observed in stores written by Apple's framework.)
package enum OrderedPositions {
    private static let first: Int64 = 2048
    /// The position of a member if all positions are consecutive.
    package static func position(ofMember index: Int) -> Int64 { first + Int64(index) * step }

    /// The distance between consecutive members at the end.
    package static let step: Int64 = 1024
    /// The position before the first member.
    package static let beforeFirst = first - step

    /// New positions for members in order; nil is a member without position.
    package static func assign(_ existing: ContiguousArray<Int64?>) -> ContiguousArray<Int64> {
        let kept = longestIncreasing(existing)
        var result = ContiguousArray<Int64>(repeating: 0, count: existing.count)
        var index = 0
        var previous: Int64 = 0
        while index < existing.count {
            if kept[index], let position = existing[index], position > previous {
                result[index] = position
                previous = position
                index += 1
                continue
            }
            // A run of members to insert between `previous` and the next member that keeps its number.
            var end = index
            while end < existing.count, !(kept[end] && (existing[end] ?? 0) > previous) { end += 1 }
            let count = Int64(end - index)
            if end < existing.count, let next = existing[end], next - previous > count {
                let gap = next - previous
                for offset in 0..<count {
                    result[index + Int(offset)] = previous + gap * (offset + 1) / (count + 1)
                }
                previous = result[end - 1]
                index = end
            } else if end < existing.count {
                // The gap is too small: the next member is moved too.
                let start = previous == 0 ? first : previous + step
                for offset in 0...count { result[index + Int(offset)] = start + offset * step }
                previous = result[end]
                index = end + 1
            } else {
                let start = previous == 0 ? first : previous + step
                for offset in 0..<count { result[index + Int(offset)] = start + offset * step }
                index = end
            }
        }
        return result
    }

    /// The members that can keep their numbers: a longest increasing subsequence.
    private static func longestIncreasing(_ positions: ContiguousArray<Int64?>) -> ContiguousArray<Bool> {
        var kept = ContiguousArray(repeating: false, count: positions.count)
        // The common cases: no member has a number yet, or all numbers are in order.
        var last: Int64 = .min
        var isIncreasing = true
        for case .some(let position) in positions {
            if position <= last { isIncreasing = false }
            last = position
        }
        if isIncreasing {
            for index in positions.indices { kept[index] = positions[index] != nil }
            return kept
        }
        var tails: [Int] = []
        var predecessors = [Int](repeating: -1, count: positions.count)
        for index in positions.indices {
            guard let position = positions[index] else { continue }
            var low = 0
            var high = tails.count
            while low < high {
                let middle = (low + high) / 2
                if (positions[tails[middle]] ?? 0) < position { low = middle + 1 } else { high = middle }
            }
            if low > 0 { predecessors[index] = tails[low - 1] }
            if low == tails.count { tails.append(index) } else { tails[low] = index }
        }
        var index = tails.last ?? -1
        while index >= 0 {
            kept[index] = true
            index = predecessors[index]
        }
        return kept
    }
}
