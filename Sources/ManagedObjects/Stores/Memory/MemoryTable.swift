/// The rows of one entity hierarchy in memory.
struct MemoryTable {
    struct Row {
        /// The position of the row's own entity in the model.
        var entity: UInt16
        var version: Int64
        var values: ContiguousArray<Value>
    }

    private var rows: [Int64: Row] = [:]
    /// The keys in ascending order: the order in which rows come when no other is asked for.
    private(set) var keys: ContiguousArray<Int64> = []
    /// The greatest key that has been given out.
    var lastKey: Int64 = 0
    /// How often rows have changed: what tells whether an index is still right.
    private(set) var changeCount = 0

    var count: Int { keys.count }

    subscript(key: Int64) -> Row? { rows[key] }

    /// Adds or replaces rows. Cost: that of the rows, where their keys are greater than those before.
    mutating func put(_ changed: [(key: Int64, row: Row)]) {
        changeCount += 1
        var isSorted = true
        for (key, row) in changed {
            lastKey = max(lastKey, key)
            guard rows.updateValue(row, forKey: key) == nil else { continue }
            if let last = keys.last, last > key { isSorted = false }
            keys.append(key)
        }
        if !isSorted { keys.sort() }
    }

    /// Removes rows. Cost: one pass over the keys.
    mutating func remove(_ removed: Set<Int64>) {
        guard !removed.isEmpty else { return }
        changeCount += 1
        for key in removed { rows[key] = nil }
        keys.removeAll { removed.contains($0) }
    }
}
