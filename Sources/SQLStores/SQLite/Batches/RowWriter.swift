import Foundation
import GRDB
import ManagedObjects
import SQLStatements
import SQLiteConnections

/// Writes rows of one SQLite store in one transaction, without objects. Keys, versions, positions, inverses and history
/// are maintained as in a save. Valid only inside the closure of ``NSManagedObjectContext/writeRows(in:_:)``.
///
/// A change of an existing row increments its version once.
package final class RowWriter {
    let batch: BatchTransaction
    private var tables: [Int: EntityRows] = [:]
    private var counters: [Int64: KeyCounter] = [:]
    /// Existing rows whose relationships have changed at the other end, with the indexes of their to-many
    /// relationships.
    private var touched: [Int64: [Int64: UInt64]] = [:]
    private var waiting: RowBuffer?
    /// The pairs that wait to be inserted, by their table.
    private var insertions: [String: PairBuffer] = [:]
    private(set) var outcome = RowOutcome()
    private var emptied: [EmptiedReference] = []
    private var taken: [ObjectIdentifier: (reference: RowReference, rows: [(key: Int64, former: Int64)])] = [:]
    private weak var coordinator: NSPersistentStoreCoordinator?

    /// A required reference that was set to NULL because its destination was given to another row.
    package struct EmptiedReference {
        package let key: Int64
        package let relationship: NSRelationshipDescription
    }

    /// A row that a new row took from its owner.
    package struct TakenRow {
        package let child: NSManagedObjectID
        package let former: NSManagedObjectID
        /// The reference to the owner.
        package let relationship: NSRelationshipDescription
    }

    /// The keys of a root entity's table.
    final class KeyCounter {
        let root: SQLEntity
        /// The last key before the transaction.
        let first: Int64
        var last: Int64
        /// By slot, the owner whose members were ordered last, and the position of the last of them: rows of one owner
        /// are usually adjacent.
        var lastPositions: [Int: (owner: Int64, position: Int64)] = [:]

        /// By column, the rows whose reference was removed because another row took their place in a one-to-one
        /// relationship.
        var displaced: [String: Set<Int64>] = [:]

        /// The existing rows whose version has been incremented, one bit for each.
        private var raised: [UInt64] = []

        init(root: SQLEntity, last: Int64) {
            self.root = root
            first = last
            self.last = last
        }

        /// Whether a row's version must be incremented: once in the transaction, and not if the row is new.
        func mustRaise(_ key: Int64) -> Bool {
            guard key > 0, key <= first else { return false }
            if raised.isEmpty { raised = Array(repeating: 0, count: Int(first / 64) + 1) }
            let bit: UInt64 = 1 << UInt64(key % 64)
            defer { raised[Int(key / 64)] |= bit }
            return raised[Int(key / 64)] & bit == 0
        }
    }

    init(_ batch: BatchTransaction, coordinator: NSPersistentStoreCoordinator?) {
        self.batch = batch
        self.coordinator = coordinator
    }

    /// The rows of an entity; nil if only objects can write them, because an attribute is derived or members are
    /// counted.
    package func table(of entity: NSEntityDescription) throws -> EntityRows? {
        if let known = tables[entity.index] { return known }
        guard let sql = batch.schema.entity(entity), let root = batch.schema.root(of: sql) else {
            return nil
        }
        let layout = entity.layout
        guard layout.rules.toMany.isEmpty, layout.slots.count <= 64, layout.toMany.count <= 64,
            !sql.entity.slots.contains(where: { $0.attribute?.isDerived == true })
        else { return nil }
        let counter = try counter(of: root)
        let table = EntityRows(sql, layout: layout, writer: self, counter: counter)
        tables[entity.index] = table
        return table
    }

    func counter(of root: SQLEntity) throws -> KeyCounter {
        if let known = counters[root.number] { return known }
        let counter = KeyCounter(
            root: root, last: try PrimaryKeys.last(root.number, table: root.table, in: batch.database))
        counters[root.number] = counter
        return counter
    }

    /// The pairs to be inserted into a join table.
    func insertions(into pairs: SQLPairs) -> PairBuffer {
        if let known = insertions[pairs.table] { return known }
        let made = PairBuffer(pairs, in: batch.database)
        insertions[pairs.table] = made
        return made
    }

    // MARK: - New rows

    /// Adds a row of a batch to those that wait to be inserted.
    func insert(_ row: Int, of batch: RowBatch, key: Int64, into table: EntityRows) throws {
        if waiting?.table !== table || waiting?.batch !== batch {
            try writeWaiting()
            waiting = RowBuffer(of: table, in: batch)
        }
        waiting?.add(row, key: key)
    }

    /// Inserts the waiting rows. One statement for each block of them.
    ///
    /// - Throws: ``UniquenessViolation`` if another row has the same unique values as one of them.
    package func writeWaiting() throws {
        guard let rows = waiting else { return }
        waiting = nil
        try rows.table.write(rows)
    }

    /// Inserts the waiting rows if one of them may be the row with a key that a statement reads or changes.
    func writeWaiting(before key: Int64, of table: EntityRows) throws {
        if let waiting, waiting.table.counter === table.counter, waiting.mayContain(key) { try writeWaiting() }
    }

    /// Inserts the waiting rows if one of them refers to an owner whose members a statement reads.
    func writeWaiting(beforeMembersOf owner: Int64, slot: Int, of table: EntityRows) throws {
        if let waiting, waiting.table.counter === table.counter, waiting.refers(to: owner, slot: slot) {
            try writeWaiting()
        }
    }

    // MARK: - Required references

    /// Records that the reference of a row was set to NULL by the change of another row.
    func didEmpty(_ key: Int64, _ relationship: NSRelationshipDescription) {
        if relationship.isOptional { return }
        emptied.append(EmptiedReference(key: key, relationship: relationship))
    }

    /// The required references that were set to NULL since the last call. A later change may set them again.
    package func takeEmptied() -> [EmptiedReference] {
        defer { emptied.removeAll() }
        return emptied
    }

    // MARK: - Rows that get another owner

    /// Records that a new row took a row from the former destination of its reference, if the destination owns it.
    func didTake(_ key: Int64, from former: Int64, for new: Int64, by reference: RowReference) {
        guard new > reference.other.counter.first,
            reference.relationship.inverseRelationship?.deleteRule == .cascadeDeleteRule
        else { return }
        taken[ObjectIdentifier(reference), default: (reference, [])].rows.append((key, former))
    }

    /// The rows that new rows took from their owners since the last call, by the reference to the owner. Two statements for each
    /// reference.
    package func takeTaken() throws -> [TakenRow] {
        defer { taken.removeAll() }
        return try taken.values.sorted { $0.rows[0].key < $1.rows[0].key }.flatMap { reference, rows -> [TakenRow] in
            let children = try objects(of: reference.table.sql, rows.map(\.key))
            let owners = try objects(of: reference.other.sql, rows.map(\.former))
            return rows.compactMap { key, former in
                guard let child = children[key], let owner = owners[former] else { return nil }
                return TakenRow(child: child, former: owner, relationship: reference.relationship)
            }
        }
    }

    private func objects(of entity: SQLEntity, _ keys: [Int64]) throws -> [Int64: NSManagedObjectID] {
        guard let coordinator else { return [:] }
        let query = SQLQuery(entity.keys(where: .keys), list: Set(keys).sorted())
        let found = try batch.keys(query).map { ($0.number, coordinator.objectID(for: $0)) }
        return Dictionary(found) { first, _ in first }
    }

    /// The rows of an entity, among those with the given keys, whose reference is NULL. One statement.
    package func objects(
        lacking relationship: String, of entity: String, among keys: some Collection<Int64>
    ) throws -> [(key: Int64, id: NSManagedObjectID)] {
        guard let coordinator, let described = batch.schema.model.entity(named: entity),
            let sql = batch.schema.entity(at: described.index), let column = sql.column(named: relationship)
        else { return [] }
        let isNull = SQLRestriction.text("\(column.name) IS NULL")
        let query = SQLQuery(sql.keys(where: .all([.keys, isNull])), list: keys.sorted())
        return try batch.keys(query).map { ($0.number, coordinator.objectID(for: $0)) }.sorted { $0.0 < $1.0 }
    }

    // MARK: - Other changes

    /// Records that the inverse of a row has changed, with its index among the row's to-many relationships if it is not
    /// stored in the row itself.
    func touch(_ key: Int64, _ counter: KeyCounter, toMany index: Int? = nil) {
        guard key > 0, key <= counter.first else { return }
        touched[counter.root.number, default: [:]][key, default: 0] |= index.map { 1 << UInt64($0) } ?? 0
    }

    func didInsert(_ entity: Int, key: Int64) {
        outcome.insert(entity, key)
    }

    func didUpdate(_ entity: Int, key: Int64) {
        outcome.updated.append(objectKey(entity, key))
    }

    func didDelete(_ entity: Int, key: Int64) {
        outcome.deleted.append(objectKey(entity, key))
    }

    private func objectKey(_ entity: Int, _ key: Int64) -> ObjectKey {
        ObjectKey(store: batch.store, entity: UInt16(truncatingIfNeeded: entity), number: key)
    }

    /// Positions of members are read again, because they were not written by this writer.
    func forgetLastPositions() {
        for counter in counters.values { counter.lastPositions = [:] }
    }

    /// Writes the rows and members that were added, and increments the versions of rows whose inverses have changed. One or two
    /// statements for each table, and one for each block of rows or members.
    package func flush() throws {
        try writeWaiting()
        for (_, pairs) in insertions.sorted(by: { $0.key < $1.key }) { try pairs.write() }
        for (root, keys) in touched.sorted(by: { $0.key < $1.key }) {
            guard let counter = counters[root] else { continue }
            let entity = counter.root
            let raised = keys.keys.sorted().filter(counter.mustRaise)
            if !raised.isEmpty {
                try batch.run(SQLQuery(entity.update(of: [], where: .keys), list: raised))
                outcome.updated += try self.keys(raised, of: entity)
            }
            guard batch.history != nil else { continue }
            for key in try self.keys(keys.keys.sorted(), of: entity) {
                let indexes = keys[key.number] ?? 0
                guard let entity = batch.schema.entity(at: Int(key.entity)) else {
                    continue
                }
                let changed: [Int] = (0..<UInt64.bitWidth).filter { indexes & (1 << $0) != 0 }
                batch.history?.changes.update(entity, key: key.number, slots: [], toMany: Set(changed))
            }
        }
        touched = [:]
    }

    private func keys(_ keys: [Int64], of entity: SQLEntity) throws -> [ObjectKey] {
        try batch.keys(SQLQuery(entity.keys(where: .keys), list: keys))
    }

    /// Ends the writing: saves the last assigned keys.
    func finish() throws {
        try flush()
        for table in tables.values { table.finish() }
        for counter in counters.values.sorted(by: { $0.root.number < $1.root.number })
        where counter.last > counter.first {
            try PrimaryKeys.raise(
                counter.root.number, to: counter.last, name: counter.root.entity.name, in: batch.database)
        }
    }
}
