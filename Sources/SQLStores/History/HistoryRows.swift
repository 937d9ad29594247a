import Foundation
import ManagedObjects
import SQLStatements

/// The changed rows of a transaction, from which its history is written. An object occurs once; insertions are before
/// updates, and updates before deletions.
///
/// Memory: 16 bytes for each updated row, some 40 for each deleted one, and while the history is written 8 bytes for each
/// inserted one.
struct HistoryRows {
    private let bitmaps: ChangeBitmaps
    private let tombstoneCount: Int

    /// The changed rows by the number of their entity.
    private var inserted: [Int64: InsertedKeys] = [:]
    private(set) var updated: [Updates] = []
    private(set) var deleted: [Deletion] = []
    /// The masks of updates. Mostly one for many rows.
    private(set) var masks: [Data] = []
    private var maskIndexes: [Data: Int32] = [:]

    /// The updates of one entity's rows, and the properties of the last one: the next one often has the same.
    struct Updates {
        let entity: Int64
        var keys = UpdatedKeys()
        var slots: [Int]
        var toMany: Set<Int>
        var mask: Int32
    }

    struct Deletion {
        let entity: Int64
        let key: Int64
        let tombstone: [ColumnValue]
    }

    init(bitmaps: ChangeBitmaps, tombstoneCount: Int) {
        self.bitmaps = bitmaps
        self.tombstoneCount = tombstoneCount
    }

    // MARK: - Changes

    mutating func insert(_ entity: SQLEntity, key: Int64) {
        inserted[entity.number, default: InsertedKeys()].insert(key)
    }

    /// Adds the insertion of rows.
    mutating func insert(_ entity: SQLEntity, keys: some Sequence<Int64>) {
        var all = inserted.removeValue(forKey: entity.number) ?? InsertedKeys()
        for key in keys { all.insert(key) }
        inserted[entity.number] = all
    }

    /// Adds an update of slots, and of to-many relationships by their indexes in the layout.
    mutating func update(_ entity: SQLEntity, key: Int64, slots: [Int], toMany: Set<Int> = []) {
        if isInserted(entity.number, key) { return }
        // Mostly the entity of the previous update, which is the last.
        guard let index = updated.lastIndex(where: { $0.entity == entity.number }) else {
            let mask = maskIndex(bitmaps.bitmap(of: entity).data(slots: slots, toMany: toMany))
            updated.append(Updates(entity: entity.number, slots: slots, toMany: toMany, mask: mask))
            updated[updated.count - 1].keys.append(key, mask: mask)
            return
        }
        if updated[index].slots != slots || updated[index].toMany != toMany {
            updated[index].mask = maskIndex(bitmaps.bitmap(of: entity).data(slots: slots, toMany: toMany))
            updated[index].slots = slots
            updated[index].toMany = toMany
        }
        updated[index].keys.append(key, mask: updated[index].mask)
    }

    private mutating func maskIndex(_ mask: Data) -> Int32 {
        if let known = maskIndexes[mask] { return known }
        let index = Int32(masks.count)
        masks.append(mask)
        maskIndexes[mask] = index
        return index
    }

    /// Adds a deletion, with the preserved values in the order of the entity's preserved slots.
    mutating func delete(_ entity: SQLEntity, key: Int64, tombstone: [ColumnValue]) {
        if isInserted(entity.number, key) {
            inserted[entity.number]?.remove(key)
        } else {
            let preserved = Array(tombstone.prefix(tombstoneCount))
            deleted.append(Deletion(entity: entity.number, key: key, tombstone: preserved))
        }
    }

    private func isInserted(_ entity: Int64, _ key: Int64) -> Bool {
        !inserted.isEmpty && inserted[entity]?.contains(key) == true
    }

    // MARK: - The history

    /// The inserted rows, by the number of their entity.
    var insertions: [(entity: Int64, keys: [Int64])] {
        inserted.sorted { $0.key < $1.key }.map { ($0.key, $0.value.all) }
    }

    /// Leaves one update of each row, and none of rows that were deleted afterwards. Sorts the updates by entity.
    mutating func combine() {
        guard !updated.isEmpty else { return }
        let deletedKeys = Dictionary(grouping: deleted, by: \.entity).mapValues { Set($0.map(\.key)) }
        for index in updated.indices {
            var keys = updated[index].keys
            updated[index].keys = UpdatedKeys()
            if let deleted = deletedKeys[updated[index].entity] { keys.remove(deleted) }
            keys.combine { one, other in
                one == other ? one : maskIndex(Data(zip(masks[Int(one)], masks[Int(other)]).map { $0 | $1 }))
            }
            updated[index].keys = keys
        }
        updated.removeAll(where: \.keys.rows.isEmpty)
        updated.sort { $0.entity < $1.entity }
    }
}

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
