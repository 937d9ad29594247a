/// The content of a store in memory: a value, so that readers continue with a snapshot while a save changes it.
struct MemoryContent: @unchecked Sendable {  // because boxed values are never changed once they are in a row
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

    func row(root: Int, key: Int64) -> MemoryTable.Row? { tables[root]?[key] }

    /// The keys of an entity's rows, in ascending order.
    func keys(of entity: NSEntityDescription, includingSubentities: Bool) -> [(key: Int64, row: MemoryTable.Row)] {
        Array(rows(of: entity, includingSubentities: includingSubentities))
    }

    /// An entity's rows, in the order of their keys.
    func rows(
        of entity: NSEntityDescription, includingSubentities: Bool
    ) -> some Sequence<(key: Int64, row: MemoryTable.Row)> {
        let table = tables[entity.rootEntity.index] ?? MemoryTable()
        let indices = includingSubentities ? entity.subtree : entity.index..<(entity.index + 1)
        return table.keys.lazy.compactMap { key -> (key: Int64, row: MemoryTable.Row)? in
            guard let row = table[key], indices.contains(Int(row.entity)) else { return nil }
            return (key, row)
        }
    }

    // MARK: - Changing

    /// Executes a plan that has been checked.
    mutating func apply(_ plan: SavePlan) {
        for group in plan.deletes { delete(Set(group.changes.map(\.key)), of: group.entity) }
        for group in plan.inserts {
            let rows = group.changes.map { insert in
                (insert.key, MemoryTable.Row(entity: Self.index(group.entity), version: 1, values: insert.values))
            }
            put(rows, entity: group.entity)
        }
        for group in plan.updates {
            let root = group.entity.rootEntity.index
            let rows = group.changes.map { update -> (Int64, MemoryTable.Row) in
                let before = row(root: root, key: update.key)
                var row =
                    before
                    ?? MemoryTable.Row(entity: Self.index(group.entity), version: 0, values: update.values.complete)
                row.version = max(row.version, update.version) + 1
                if before != nil { for slot in update.slots { row.values[slot] = update.values[slot] } }
                return (update.key, row)
            }
            put(rows, entity: group.entity)
        }
        for group in plan.pairs { apply(group) }
    }

    private static func index(_ entity: NSEntityDescription) -> UInt16 { UInt16(truncatingIfNeeded: entity.index) }

    private mutating func put(_ rows: [(Int64, MemoryTable.Row)], entity: NSEntityDescription) {
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
