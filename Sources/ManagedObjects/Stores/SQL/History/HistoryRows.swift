import Foundation
import SQLStores

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
