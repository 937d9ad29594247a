/// The changes made by writing rows.
struct RowOutcome {
    /// Inserted rows as ranges of keys: adjacent keys of one entity are one entry.
    private(set) var inserted: [(entity: Int, keys: ClosedRange<Int64>)] = []
    var updated: [ObjectKey] = []
    var deleted: [ObjectKey] = []

    mutating func insert(_ entity: Int, _ key: Int64) {
        if let last = inserted.last, last.entity == entity, last.keys.upperBound == key - 1 {
            inserted[inserted.count - 1].keys = last.keys.lowerBound...key
        } else {
            inserted.append((entity, key...key))
        }
    }
}
