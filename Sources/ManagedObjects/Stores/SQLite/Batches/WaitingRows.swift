/// New rows of one batch that wait to be inserted, several with one statement. They are written before another statement reads or
/// changes one of them.
struct WaitingRows {
    let table: EntityRows
    let batch: RowBatch
    private(set) var rows: ContiguousArray<(row: Int, key: Int64)> = []
    private var lowestKey = Int64.max
    private var highestKey = Int64.min

    init(of table: EntityRows, in batch: RowBatch) {
        self.table = table
        self.batch = batch
    }

    mutating func add(_ row: Int, key: Int64) {
        rows.append((row, key))
        lowestKey = min(lowestKey, key)
        highestKey = max(highestKey, key)
    }

    /// Whether the row with a key may be one of them.
    func mayContain(_ key: Int64) -> Bool { lowestKey <= key && key <= highestKey }

    /// Whether one of them refers to an owner.
    func refers(to owner: Int64, slot: Int) -> Bool {
        rows.contains { row, _ in
            let cell = batch[row, slot]
            return cell.kind == .reference && Int64(bitPattern: cell.bits) == owner
        }
    }
}
