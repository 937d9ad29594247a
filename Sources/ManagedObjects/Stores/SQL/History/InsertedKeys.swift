/// The keys of the rows of one entity that a transaction has inserted. Ascending keys without gaps are stored as
/// ranges, which need no memory for each key.
struct InsertedKeys {
    /// Ascending, with gaps in between.
    private var runs: [ClosedRange<Int64>] = []
    private var scattered: Set<Int64> = []

    mutating func insert(_ key: Int64) {
        guard let last = runs.last else {
            runs.append(key...key)
            return
        }
        if last.upperBound < .max, key == last.upperBound + 1 {
            runs[runs.count - 1] = last.lowerBound...key
        } else if key > last.upperBound {
            runs.append(key...key)
        } else if !contains(key) {
            scattered.insert(key)
        }
    }

    mutating func remove(_ key: Int64) {
        if scattered.remove(key) != nil { return }
        guard let position = position(of: key) else { return }
        let run = runs[position]
        var rest: [ClosedRange<Int64>] = []
        if run.lowerBound < key { rest.append(run.lowerBound...(key - 1)) }
        if key < run.upperBound { rest.append((key + 1)...run.upperBound) }
        runs.replaceSubrange(position...position, with: rest)
    }

    func contains(_ key: Int64) -> Bool { position(of: key) != nil || scattered.contains(key) }

    var all: [Int64] { runs.flatMap { Array($0) } + scattered.sorted() }

    private func position(of key: Int64) -> Int? {
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].upperBound < key { low = middle + 1 } else { high = middle }
        }
        return low < runs.count && runs[low].contains(key) ? low : nil
    }
}
