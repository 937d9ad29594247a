import CoreDataErrors
import Foundation
import GRDB
import ManagedObjects
import SQLiteConnections
import SQLStatements

/// Inserts rows of one entity. If a row violates a uniqueness constraint, the context's merge policy decides: the
/// request fails, the stored row is kept, or the stored row gets the new values.
struct BatchInserter {
    private let entity: SQLEntity
    private let batch: BatchTransaction
    private let policy: NSMergePolicyType
    private let written: [Int]
    private let derivations: OwnDerivations
    private(set) var values: ValueWriter
    private var finder: ConstraintFinder
    private let now = Date().timeIntervalSinceReferenceDate

    init(_ entity: SQLEntity, batch: BatchTransaction, policy: NSMergePolicyType) throws {
        self.entity = entity
        self.batch = batch
        self.policy = policy
        guard !entity.entity.isAbstract else {
            throw CocoaError(.coreData, "The entity “\(entity.entity.name)” is abstract and has no objects.")
        }
        written = entity.storedSlots
        derivations = OwnDerivations(entity.entity)
        values = ValueWriter(schema: batch.schema, externalData: batch.content.externalData)
        finder = ConstraintFinder(entity, schema: batch.schema, store: batch.store)
    }

    /// Inserts all rows; returns the keys of the rows that were inserted or got new values, in order.
    mutating func insert(_ rows: BatchRows) throws -> [ObjectKey] {
        guard let root = batch.schema.root(of: entity) else { return [] }
        let statement = try SQLStatement(entity.insertion(of: written), in: batch.database)
        defer { statement.finish() }
        var last = try PrimaryKeys.last(root.number, table: root.table, in: batch.database)
        var keys: [ObjectKey] = []
        while var row = try rows.next() {
            _ = derivations.apply(to: &row.values, now: now)
            let fileCount = values.filesMade.count
            statement.bind(last + 1, at: 1)
            statement.bind(entity.number, at: 2)
            try bind(row.values, of: entity, slots: written, to: statement, at: 3)
            do {
                try statement.run()
                last += 1
                keys.append(key(last, entity))
                batch.history?.changes.insert(entity, key: last)
            } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE {
                values.removeFiles(after: fileCount)
                if let key = try resolveConflict(row, newKey: last + 1, error) { keys.append(key) }
            }
        }
        try PrimaryKeys.raise(root.number, to: last, name: root.entity.name, in: batch.database)
        return keys
    }

    private func key(_ number: Int64, _ entity: SQLEntity) -> ObjectKey {
        ObjectKey(
            store: batch.store, entity: UInt16(truncatingIfNeeded: entity.entity.index), number: number)
    }

    private mutating func bind(
        _ row: ContiguousArray<Value>, of entity: SQLEntity, slots: [Int], to statement: SQLStatement, at first: Int
    ) throws {
        var position = first
        for slot in slots {
            guard let column = entity.columns[slot] else { continue }
            let target = ValueWriter.Target(slot: slot, of: entity, column: column)
            position = try values.bind(row[slot], to: target, of: statement, at: position)
        }
    }

    // MARK: - Constraint conflicts

    /// Resolves a constraint conflict. Returns the key of the stored row if it got the new values, nil if it was kept.
    private mutating func resolveConflict(_ row: BatchRows.Row, newKey: Int64, _ error: DatabaseError) throws
        -> ObjectKey?
    {
        var writer = ValueWriter(schema: batch.schema, externalData: nil)
        guard let taken = try finder.conflict(key: newKey, values: row.values, writer: &writer, in: batch.database)
        else { throw error }
        guard try policy.updatesExistingRow(of: entity.entity, with: taken.constraint) else { return nil }
        try update(HeldRow(of: taken.holder, in: batch.schema, gets: row, of: entity, policy: policy, now: now))
        return taken.holder
    }

    private mutating func update(_ held: HeldRow) throws {
        let columns = held.slots.compactMap { held.entity.columns[$0] }
        try batch.noteFiles(in: columns, of: held.entity, keys: [held.key])
        let statement = try SQLStatement(held.entity.update(of: held.slots), in: batch.database)
        defer { statement.finish() }
        try bind(held.values, of: held.entity, slots: held.slots, to: statement, at: 1)
        statement.bind(held.key, at: held.entity.columnNames(of: held.slots).count + 1)
        try statement.run()
        batch.history?.changes.update(held.entity, key: held.key, slots: held.slots)
    }
}

/// New rows of one batch that wait to be inserted, several with one statement. They are written before another statement reads or
/// changes one of them.
struct RowBuffer {
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

/// A statement that is executed for many rows. It is prepared when it is first used: to write its text, by which the connection
/// finds a prepared statement, costs as much as to execute it for one row.
final class RepeatedStatement {
    private let command: any SQLCommand
    private var statement: SQLStatement?

    init(_ command: any SQLCommand) { self.command = command }

    func prepared(in database: Database) throws -> SQLStatement {
        if let statement { return statement }
        let prepared = try SQLStatement(command, in: database)
        statement = prepared
        return prepared
    }
}
