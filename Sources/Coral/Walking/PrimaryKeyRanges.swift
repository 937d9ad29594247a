/// The primary keys of one entity's rows, as ranges: stores assign consecutive keys, so that a million keys are a few
/// ranges.
struct PrimaryKeyRanges {
    private var ranges: [ClosedRange<Int64>] = []

    /// Adds a key; keys are added in ascending order.
    mutating func append(_ key: Int64) {
        if let last = ranges.last, key <= last.upperBound &+ 1, key > last.upperBound {
            ranges[ranges.count - 1] = last.lowerBound...key
        } else if ranges.last?.contains(key) != true {
            ranges.append(key...key)
        }
    }

    /// Whether there is a row with the key. Cost: logarithmic in the number of ranges.
    func contains(_ key: Int64) -> Bool {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < key { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(key)
    }
}
