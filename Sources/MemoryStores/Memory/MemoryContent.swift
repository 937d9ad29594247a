import ManagedObjects
import Synchronization

/// The content of a store in memory: a value, so that readers continue with a snapshot while a save changes it.
package struct MemoryContent: @unchecked Sendable {  // because boxed values are never changed once they are in a row
    /// The rows of each hierarchy, by the root entity's index in the model.
    var tables: [Int: MemoryTable] = [:]
    /// The pairs of relationships with a join table.
    var pairs: [PairSide.Name: (side: PairSide, pairs: MemoryPairs)] = [:]
    var uniqueness = MemoryUniqueness()
    /// Member indexes, which may be outdated.
    var memberIndexes: [MemberIndex.Name: MemberIndex] = [:]
    /// Indexes of attributes, which may be outdated.
    var valueIndexes: [ValueIndex.Name: ValueIndex] = [:]
    /// The change counts of tables when an attribute was compared without an index.
    var comparedValues: [ValueIndex.Name: Int] = [:]

    func row(root: Int, key: Int64) -> ValueRow? { tables[root]?[key] }

    /// The keys of an entity's rows, in ascending order.
    func keys(of entity: NSEntityDescription, includingSubentities: Bool) -> [(key: Int64, row: ValueRow)] {
        Array(rows(of: entity, includingSubentities: includingSubentities))
    }

    /// An entity's rows, in the order of their keys.
    ///
    /// - Parameter keys: The keys to look at; nil for all.
    func rows(
        of entity: NSEntityDescription, includingSubentities: Bool, among keys: ContiguousArray<Int64>? = nil
    ) -> Rows {
        let table = tables[entity.rootEntity.index] ?? MemoryTable()
        return Rows(
            table: table, keys: keys,
            entities: includingSubentities ? entity.subtree : entity.index..<(entity.index + 1))
    }

    /// Rows of one hierarchy. A type of its own, because a chain of lazy sequences took most of the time of a query.
    struct Rows: Sequence, IteratorProtocol {
        fileprivate let table: MemoryTable
        /// Nil for all keys of the table.
        fileprivate let keys: ContiguousArray<Int64>?
        fileprivate let entities: Range<Int>
        private var position = 0

        fileprivate init(table: MemoryTable, keys: ContiguousArray<Int64>?, entities: Range<Int>) {
            (self.table, self.keys, self.entities) = (table, keys, entities)
        }

        mutating func next() -> (key: Int64, row: ValueRow)? {
            while position < keys?.count ?? table.keys.count {
                let key = keys?[position] ?? table.keys[position]
                let row = keys == nil ? table.rows[position] : table[key]
                position += 1
                if let row, entities.contains(Int(row.entity)) { return (key, row) }
            }
            return nil
        }
    }

    // MARK: - Changing

    /// Executes a plan that has been checked.
    mutating func apply(_ plan: SavePlan) {
        for group in plan.deletes { delete(Set(group.changes.map(\.key)), of: group.entity) }
        for group in plan.inserts {
            let rows = group.changes.map { insert in
                (insert.key, ValueRow(entity: Self.index(group.entity), version: 1, values: insert.values))
            }
            put(rows, entity: group.entity)
        }
        for group in plan.updates {
            let root = group.entity.rootEntity.index
            let rows = group.changes.map { update -> (Int64, ValueRow) in
                let before = row(root: root, key: update.key)
                var row =
                    before
                    ?? ValueRow(entity: Self.index(group.entity), version: 0, values: update.values.complete)
                row.version = max(row.version, update.version) + 1
                if before != nil { for slot in update.slots { row.values[slot] = update.values[slot] } }
                return (update.key, row)
            }
            put(rows, entity: group.entity)
        }
        for group in plan.pairs { apply(group) }
    }

    private static func index(_ entity: NSEntityDescription) -> UInt16 { UInt16(truncatingIfNeeded: entity.index) }

    private mutating func put(_ rows: [(Int64, ValueRow)], entity: NSEntityDescription) {
        let root = entity.rootEntity.index
        let constraints = MemoryUniqueness.constraints(of: entity)
        if !constraints.isEmpty {
            // The old values of all rows are removed first: rows may have exchanged their values.
            for (key, _) in rows {
                if let before = row(root: root, key: key) { uniqueness.remove(key, before.values, constraints) }
            }
            for (key, row) in rows { uniqueness.remember(key, row.values, constraints) }
        }
        tables[root, default: MemoryTable()].put(rows)
    }

    private mutating func delete(_ keys: Set<Int64>, of entity: NSEntityDescription) {
        let root = entity.rootEntity.index
        let constraints = MemoryUniqueness.constraints(of: entity)
        if !constraints.isEmpty {
            for key in keys {
                if let row = row(root: root, key: key) { uniqueness.remove(key, row.values, constraints) }
            }
        }
        tables[root]?.remove(keys)
        for name in pairs.keys {
            guard let side = pairs[name]?.side else { continue }
            if side.sourceRoot == root { for key in keys { pairs[name]?.pairs.removeAll(source: key) } }
            if side.destinationRoot == root { for key in keys { pairs[name]?.pairs.removeAll(destination: key) } }
        }
    }

    private mutating func apply(_ group: SavePlan.PairGroup) {
        let side = PairSide(group.relationship)
        for pair in group.pairs {
            let source = side.isBackward ? pair.destination : pair.source
            let destination = side.isBackward ? pair.source : pair.destination
            let forward = side.isBackward ? pair.inversePosition : pair.position
            let backward = side.isBackward ? pair.position : pair.inversePosition
            switch pair.kind {
            case .insert, .move:
                pairs[side.name, default: (side, MemoryPairs())].pairs
                    .put(source: source, destination: destination, forward: forward, backward: backward)
            case .delete:
                pairs[side.name]?.pairs.remove(source: source, destination: destination)
                if side.isReflexive { pairs[side.name]?.pairs.remove(source: destination, destination: source) }
            }
        }
    }
}

/// The rows of one entity hierarchy in memory.
struct MemoryTable {
    /// The keys in ascending order, which is the default order of rows, with those of deleted rows.
    private(set) var keys: ContiguousArray<Int64> = []
    /// The row of each key; nil for a deleted one.
    private(set) var rows: ContiguousArray<ValueRow?> = []
    private var deletedCount = 0
    /// The greatest key assigned so far.
    var lastKey: Int64 = 0
    /// The number of changes to the rows, with which an index checks whether it is still valid.
    private(set) var changeCount = 0

    subscript(key: Int64) -> ValueRow? { position(of: key).flatMap { rows[$0] } }

    /// The position of a key. Cost: constant if the keys follow one another, as they are assigned; otherwise that of a binary search.
    func position(of key: Int64) -> Int? {
        guard let first = keys.first, let last = keys.last, first <= key, key <= last else { return nil }
        // Keys differ by one or more, so that their distance limits that of their positions.
        func distance(_ one: Int64, _ other: Int64) -> Int {
            Int(clamping: UInt64(bitPattern: other) &- UInt64(bitPattern: one))
        }
        var low = max(0, keys.count - 1 - distance(key, last))
        var high = min(keys.count - 1, distance(first, key))
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return keys[low] == key ? low : nil
    }

    /// Adds or replaces rows. Cost: proportional to these rows, if their keys are greater than the existing ones.
    mutating func put(_ changed: [(key: Int64, row: ValueRow)]) {
        changeCount += 1
        var others: [(key: Int64, row: ValueRow)] = []
        for (key, row) in changed {
            lastKey = max(lastKey, key)
            if let position = position(of: key) {
                if rows[position] == nil { deletedCount -= 1 }
                rows[position] = row
            } else if keys.last.map({ $0 < key }) ?? true {
                append(key, row)
            } else {
                others.append((key, row))
            }
        }
        if !others.isEmpty { merge(others.sorted { $0.key < $1.key }) }
    }

    /// Removes rows. Cost on average: proportional to their number.
    mutating func remove(_ removed: Set<Int64>) {
        var isChanged = false
        for case let position? in removed.map(position(of:)) where rows[position] != nil {
            rows[position] = nil
            deletedCount += 1
            isChanged = true
        }
        if isChanged { changeCount += 1 }
        if deletedCount > keys.count / 2 { merge([]) }
    }

    /// Adds rows with keys among the existing ones, and forgets the deleted ones. Cost: one pass over all rows.
    private mutating func merge(_ added: [(key: Int64, row: ValueRow)]) {
        let old = (keys: keys, rows: rows)
        keys = []
        rows = []
        deletedCount = 0
        var next = 0
        for (key, row) in zip(old.keys, old.rows) {
            while next < added.count, added[next].key < key {
                append(added[next].key, added[next].row)
                next += 1
            }
            if let row { append(key, row) }
        }
        for (key, row) in added[next...] { append(key, row) }
    }

    /// Appends a row; one with the last key replaces it.
    private mutating func append(_ key: Int64, _ row: ValueRow) {
        if keys.last == key {
            rows[rows.count - 1] = row
        } else {
            keys.append(key)
            rows.append(row)
        }
    }
}

/// A snapshot of the content of a store in memory.
final class MemoryGeneration: StoreGeneration, Sendable {
    private let state: Mutex<MemoryContent>

    init(_ content: MemoryContent) { state = Mutex(content) }

    var content: MemoryContent { state.withLock { $0 } }

    /// Caches an index of members for later reads.
    func keep(_ index: MemberIndex, as name: MemberIndex.Name) {
        state.withLock { $0.memberIndexes[name] = index }
    }
}
