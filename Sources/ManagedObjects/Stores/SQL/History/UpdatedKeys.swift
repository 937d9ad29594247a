/// The keys of the rows of one entity that a transaction has updated, each with the index of the mask of its properties. Keys
/// are mostly added once each and in ascending order.
struct UpdatedKeys {
    private(set) var rows: [(key: Int64, mask: Int32)] = []
    private var isAscending = true

    mutating func append(_ key: Int64, mask: Int32) {
        if let last = rows.last, last.key >= key { isAscending = false }
        rows.append((key, mask))
    }

    /// Sorts the rows by key and combines rows with the same key. Does nothing if the keys are ascending.
    ///
    /// - Parameter union: Returns the index of the union of two masks.
    mutating func combine(union: (Int32, Int32) -> Int32) {
        guard !isAscending else { return }
        rows.sort { $0.key < $1.key }
        var combined: [(key: Int64, mask: Int32)] = []
        combined.reserveCapacity(rows.count)
        for row in rows {
            if let last = combined.last, last.key == row.key {
                combined[combined.count - 1].mask = union(last.mask, row.mask)
            } else {
                combined.append(row)
            }
        }
        rows = combined
        isAscending = true
    }

    mutating func remove(_ keys: Set<Int64>) {
        rows.removeAll { keys.contains($0.key) }
    }
}
