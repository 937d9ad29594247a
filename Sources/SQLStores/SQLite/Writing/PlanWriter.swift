import Foundation
import GRDB
import ManagedObjects
import SQLiteConnections
import SQLStatements

/// Writes a save plan inside a transaction: deletions, updates, insertions, pairs.
///
/// Deletions come first, so that another row can get the unique values of a deleted row. Conflicts are collected
/// instead of thrown at the first one, because merging needs all of them.
struct PlanWriter {
    let store: UInt16
    let content: SQLiteStore.Content
    let database: Database
    private(set) var values: ValueWriter
    private(set) var conflicts = SaveConflicts()
    private(set) var outcome = SaveOutcome()
    /// Files of replaced or deleted values. They are removed after the transaction has been committed.
    private(set) var filesReplaced: [String] = []
    /// The history of the transaction; nil if the store keeps none.
    private(set) var history: HistoryWriter?
    /// The sources and destinations of changed pairs, by relationship.
    private var changedRelationships = ChangedRelationships()
    private let now = Date().timeIntervalSinceReferenceDate

    private var schema: SQLSchema { content.schema }

    init(store: UInt16, content: SQLiteStore.Content, database: Database, history: HistoryWriter?) {
        self.store = store
        self.content = content
        self.database = database
        self.history = history
        values = ValueWriter(schema: content.schema, externalData: content.externalData)
    }

    /// Writes the whole plan.
    ///
    /// - Throws: ``SaveConflicts``, and errors of SQLite's; the transaction must then be rolled back.
    mutating func write(_ plan: SavePlan, url: URL?) throws {
        if history != nil { changedRelationships = ChangedRelationships(plan.pairs, schema) }
        let sums = try SuspendedSums(plan, schema, in: database)
        for group in plan.deletes { try delete(group) }
        try vacate(plan.updates)
        for group in plan.updates { try update(group) }
        for group in plan.inserts { try insert(group) }
        guard conflicts.stale.isEmpty, conflicts.taken.isEmpty else { throw conflicts }
        let pairs = PairWriter(schema: schema, database: database)
        for group in plan.pairs { try pairs.write(group) }
        try sums.resume()
        if let metadata = plan.metadata {
            try StoreMetadata(in: database, url: url).replacing(with: metadata).write(to: database)
        }
        collectDerivedValues()
    }

    /// Writes the history of the transaction, after its last plan.
    mutating func finish() throws { outcome.transaction = try history?.finish() }

    // MARK: - Inserting

    private mutating func insert(_ group: SavePlan.Group<SavePlan.Insert>) throws {
        let entity = try schema.requireEntity(group.entity)
        let written = entity.storedSlots
        let targets = Self.targets(of: written, entity)
        let statement = entity.insertion(of: written)
        // The version is not a parameter.
        let insertion = try RowBlockInserter(
            statement, width: statement.columns.count - 1, count: group.changes.count, in: database)
        let changes = deriving(group.changes, of: entity)
        var finder = ConstraintFinder(entity, schema: schema, store: store)
        try insertion.insert(changes.count) { index, statement, first in
            statement.bind(changes[index].key, at: first)
            statement.bind(entity.number, at: first + 1)
            var position = first + 2
            for target in targets {
                position = try values.bind(changes[index].values[target.slot], to: target, of: statement, at: position)
            }
        } refused: { index, error in
            if error.extendedResultCode == .SQLITE_CONSTRAINT_PRIMARYKEY {
                // A deleted row that is inserted again may have been inserted again by another context too.
                try noteStale(entity, key: changes[index].key, version: 0)
            } else {
                try noteTaken(&finder, key: changes[index].key, values: changes[index].values, error)
            }
        }
        history?.changes.insert(entity, keys: changes.lazy.map(\.key))
        let lastKey = changes.lazy.map(\.key).max() ?? 0
        if lastKey > 0, let root = schema.root(of: entity) {
            try PrimaryKeys.raise(root.number, to: lastKey, name: root.entity.name, in: database)
        }
    }

    /// The rows with the attributes that are computed at the save.
    private mutating func deriving(
        _ changes: ContiguousArray<SavePlan.Insert>, of entity: SQLEntity
    ) -> ContiguousArray<SavePlan.Insert> {
        let derivations = OwnDerivations(entity.entity)
        guard !derivations.slots.isEmpty else { return changes }
        var changes = changes
        for index in changes.indices {
            for (slot, value) in derivations.apply(to: &changes[index].values, now: now) {
                outcome.computed.append((entity.entity.index, changes[index].key, slot, value))
            }
        }
        return changes
    }

    private static func targets(of slots: [Int], _ entity: SQLEntity) -> [ValueWriter.Target] {
        slots.compactMap { slot in
            entity.columns[slot].map { ValueWriter.Target(slot: slot, of: entity, column: $0) }
        }
    }

    /// Records which row already has the unique values of another one.
    private mutating func noteTaken(
        _ finder: inout ConstraintFinder, key: Int64, values: ContiguousArray<Value>, _ error: DatabaseError
    ) throws {
        var writer = ValueWriter(schema: schema, externalData: nil)
        guard let taken = try finder.conflict(key: key, values: values, writer: &writer, in: database) else {
            throw error
        }
        conflicts.taken.append(taken)
    }

    // MARK: - Updating

    private mutating func update(_ group: SavePlan.Group<SavePlan.Update>) throws {
        let entity = try schema.requireEntity(group.entity)
        let derivations = OwnDerivations(entity.entity)
        let writtenSlots = Set(entity.columns.indices.filter { entity.columns[$0] != nil })
            .subtracting(derivations.derivedSlots)
        let derivedSlots = derivations.slots.filter { entity.columns[$0] != nil }
        var finder = ConstraintFinder(entity, schema: schema, store: store)
        // Most updates change the same columns as the one before.
        var current: UpdateStatement?
        defer { current?.prepared.finish() }
        // By index, because a copy of an update counts references.
        for index in group.changes.indices {
            let (key, version) = (group.changes[index].key, group.changes[index].version)
            let checksVersion = group.changes[index].checksVersion
            var derived: ContiguousArray<Value>?
            if !derivations.slots.isEmpty {
                var values = group.changes[index].values.complete
                for (slot, value) in derivations.apply(to: &values, now: now) {
                    outcome.computed.append((entity.entity.index, key, slot, value))
                }
                derived = values
            }
            if current?.changedSlots != group.changes[index].slots || current?.checksVersion != checksVersion {
                current?.prepared.finish()
                let changed = group.changes[index].slots
                let slots = changed.filter(writtenSlots.contains) + derivedSlots
                let command =
                    checksVersion
                    ? entity.update(of: slots, where: .all([.key, .version]))
                    : entity.update(of: slots, version: .laterVersion())
                current = UpdateStatement(
                    changedSlots: changed, checksVersion: checksVersion, slots: slots,
                    targets: Self.targets(of: slots, entity), prepared: try SQLStatement(command, in: database))
            }
            guard let statement = current else { continue }
            if statement.hasStorageByte { try noteFiles(of: entity, key: key, slots: statement.slots) }
            var position = 1
            for target in statement.targets {
                let value = derived?[target.slot] ?? group.changes[index].values[target.slot]
                position = try values.bind(value, to: target, of: statement.prepared, at: position)
            }
            // The checked version is in the condition, after the key; the other one in the assignment, before it.
            statement.prepared.bind(checksVersion ? key : version, at: position)
            statement.prepared.bind(checksVersion ? version : key, at: position + 1)
            do {
                try statement.prepared.run()
            } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE {
                let values = derived ?? group.changes[index].values.complete
                try noteTaken(&finder, key: key, values: values, error)
                continue
            }
            if statement.prepared.changesCount == 0 {
                try noteStale(entity, key: key, version: version)
            } else if history != nil {
                let toMany = changedRelationships.indexes(of: entity, group.changes[index])
                history?.changes.update(entity, key: key, slots: statement.slots, toMany: toMany)
            }
        }
    }

    /// Clears unique values of all rows that get other ones, so that rows can exchange their values.
    private func vacate(_ groups: [SavePlan.Group<SavePlan.Update>]) throws {
        // A single row cannot exchange values with another.
        guard groups.reduce(0, { $0 + $1.changes.count }) > 1 else { return }
        var touched: [String: [(key: Int64, columns: [String])]] = [:]
        for group in groups {
            let entity = try schema.requireEntity(group.entity)
            let constrained = UniqueValues.slots(of: entity)
            guard !constrained.isEmpty else { continue }
            for update in group.changes {
                let columns = update.slots.filter(constrained.contains).compactMap { entity.columns[$0]?.name }
                if !columns.isEmpty { touched[entity.table, default: []].append((update.key, columns)) }
            }
        }
        for (table, rows) in touched.sorted(by: { $0.key < $1.key }) where rows.count > 1 {
            for row in rows {
                let command = SQLUpdate(table, set: row.columns.map { .null($0) }, where: .key)
                let statement = try SQLStatement(command, in: database)
                statement.bind(row.key, at: 1)
                try statement.run()
            }
        }
    }

    // MARK: - Deleting

    private mutating func delete(_ group: SavePlan.Group<SavePlan.Delete>) throws {
        let entity = try schema.requireEntity(group.entity)
        let pairs = PairWriter(schema: schema, database: database)
        let pairDeletions = pairs.deletions(of: entity)
        let preserved = content.history == nil ? [] : HistoryTables.preservedColumns(of: entity)
        let external = entity.columns.indices.filter { entity.columns[$0]?.hasStorageByte == true }
        var prepared: (checksVersion: Bool, statement: SQLStatement)?
        for deletion in group.changes {
            try noteFiles(of: entity, key: deletion.key, slots: external)
            let tombstone = try preservedValues(preserved, of: entity, key: deletion.key)
            if prepared?.checksVersion != deletion.checksVersion {
                let command = entity.deletion(checkingVersion: deletion.checksVersion)
                prepared = (deletion.checksVersion, try SQLStatement(command, in: database))
            }
            guard let statement = prepared?.statement else { continue }
            statement.bind(deletion.key, at: 1)
            if deletion.checksVersion { statement.bind(deletion.version, at: 2) }
            try statement.run()
            if database.changesCount > 0 {
                try pairs.deletePairs(by: pairDeletions, key: deletion.key)
                history?.changes.delete(entity, key: deletion.key, tombstone: tombstone)
            } else if deletion.checksVersion {
                try noteStale(entity, key: deletion.key, version: deletion.version)
            }
        }
    }

    private func preservedValues(_ columns: [String], of entity: SQLEntity, key: Int64) throws -> [ColumnValue] {
        guard !columns.isEmpty else { return [] }
        let statement = try SQLStatement(SQLSelect(columns, from: entity.table, where: .key), in: database)
        defer { statement.finish() }
        statement.bind(key, at: 1)
        return try statement.step() ? columns.indices.map(statement.value) : []
    }

    // MARK: - Conflicts and files

    private mutating func noteStale(
        _ entity: SQLEntity, key: Int64, version: Int64
    ) throws {
        let finder = ConflictFinder(content: content, store: store, database: database)
        conflicts.stale.append(try finder.current(entity, key: key, version: version))
    }

    /// Records the files to which the row's columns refer before they are overwritten.
    private mutating func noteFiles(of entity: SQLEntity, key: Int64, slots: [Int]) throws {
        let columns = slots.compactMap { entity.columns[$0] }.filter(\.hasStorageByte)
        guard !columns.isEmpty, content.externalData != nil else { return }
        let names = columns.map(ExternalData.nameExpression)
        let statement = try SQLStatement(SQLSelect(names, from: entity.table, where: .key), in: database)
        defer { statement.finish() }
        statement.bind(key, at: 1)
        guard try statement.step() else { return }
        for column in columns.indices {
            let name = statement.data(column)?.withUnsafeBytes { ExternalData.name(in: $0) }
            if let name { filesReplaced.append(name) }
        }
    }

    // MARK: - Derived values

    /// The values that triggers have computed: the last value of each attribute.
    private mutating func collectDerivedValues() {
        struct RowSlot: Hashable {
            let entity: Int
            let key: Int64
            let slot: Int
        }
        var positions: [RowSlot: Int] = [:]
        for derived in content.connection.derivedValues.values {
            guard let index = schema.entityIndex(number: derived.number) else { continue }
            let entity = schema.model.entities[index]
            guard let slot = entity.slot(named: derived.attribute) else { continue }
            let value = Value(derived.value, kind: entity.slots[slot].kind)
            let rowSlot = RowSlot(entity: index, key: derived.key, slot: slot)
            if let position = positions[rowSlot] {
                outcome.computed[position].value = value
            } else {
                positions[rowSlot] = outcome.computed.count
                outcome.computed.append((index, derived.key, slot, value))
            }
        }
    }
}

/// A statement that updates columns of rows of an entity. A class, so that it is not copied for each row.
final class UpdateStatement {
    /// The changed slots of the updates for which it is used, and whether it checks the version.
    let changedSlots: [Int]
    let checksVersion: Bool
    /// The slots whose columns it writes.
    let slots: [Int]
    let targets: [ValueWriter.Target]
    let hasStorageByte: Bool
    let prepared: SQLStatement

    init(
        changedSlots: [Int], checksVersion: Bool, slots: [Int], targets: [ValueWriter.Target],
        prepared: SQLStatement
    ) {
        (self.changedSlots, self.checksVersion, self.slots) = (changedSlots, checksVersion, slots)
        (self.targets, self.prepared) = (targets, prepared)
        hasStorageByte = targets.contains(where: \.hasStorageByte)
    }
}
