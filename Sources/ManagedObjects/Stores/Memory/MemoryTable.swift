/// The rows of one entity hierarchy in memory.
struct MemoryTable {
    struct Row {
        /// The index of the row's own entity in the model.
        var entity: UInt16
        var version: Int64
        var values: ContiguousArray<Value>
    }

    private var rows: [Int64: Row] = [:]
    /// The keys in ascending order, which is the default order of rows.
    private(set) var keys: ContiguousArray<Int64> = []
    /// The greatest key assigned so far.
    var lastKey: Int64 = 0
    /// The number of changes to the rows, with which an index checks whether it is still valid.
    private(set) var changeCount = 0

    var count: Int { keys.count }

    subscript(key: Int64) -> Row? { rows[key] }

    /// Adds or replaces rows. Cost: proportional to these rows, if their keys are greater than the existing ones.
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
