import Foundation
import GRDB

/// What rows cannot do, or not in this place: objects must.
@_spi(Stores)
public struct RowRefusal: Error {
    public init() {}
}

/// Writes rows of one SQLite store in one transaction, without objects: keys, versions, positions, the other ends of
/// relationships and history are kept as a save keeps them. Valid inside the closure of
/// ``NSManagedObjectContext/writeRows(in:_:)`` only.
///
/// What changes a row that was there before raises its version, once.
@_spi(Stores)
public final class RowWriter {
    let batch: BatchTransaction
    private var tables: [Int: EntityRows] = [:]
    private var counters: [Int64: KeyCounter] = [:]
    /// Rows that were there before and that others were related to, with the places of their to-many relationships.
    private var touched: [Int64: [Int64: UInt64]] = [:]
    private(set) var outcome = RowOutcome()

    /// The keys of a root entity's table.
    final class KeyCounter {
        let root: SQLEntity
        /// The last key before the transaction.
        let first: Int64
        var last: Int64
        /// By slot, the owner whose members were last put in order, and where the last of them stands: rows of one owner
        /// mostly follow each other.
        var lastPositions: [Int: (owner: Int64, position: Int64)] = [:]

        /// Which of the rows that were there have a higher version already, a bit for each.
        private var raised: [UInt64] = []

        init(root: SQLEntity, last: Int64) {
            self.root = root
            first = last
            self.last = last
        }

        /// Whether a row's version must be raised: once in the transaction, and not where the row is new.
        func mustRaise(_ key: Int64) -> Bool {
            guard key > 0, key <= first else { return false }
            if raised.isEmpty { raised = Array(repeating: 0, count: Int(first / 64) + 1) }
            let bit: UInt64 = 1 << UInt64(key % 64)
            defer { raised[Int(key / 64)] |= bit }
            return raised[Int(key / 64)] & bit == 0
        }
    }

    init(_ batch: BatchTransaction) { self.batch = batch }

    /// The rows of an entity; nil where only objects can write them: some attribute is derived, or members are counted.
    public func table(of entity: NSEntityDescription) throws -> EntityRows? {
        if let known = tables[entity.index] { return known }
        guard let sql = batch.schema.entity(entity), let root = batch.schema.entity(entity.rootEntity) else {
            return nil
        }
        let layout = entity.layout
        guard layout.rules.toMany.isEmpty, layout.slots.count <= 64, layout.toMany.count <= 64,
            !layout.slots.contains(where: { $0.property is NSDerivedAttributeDescription })
        else { return nil }
        let counter = try counter(of: root)
        let table = EntityRows(sql, writer: self, counter: counter)
        tables[entity.index] = table
        return table
    }

    /// The rows of the entity at a position in the model, if they are being written.
    func table(at index: Int) throws -> EntityRows {
        guard let table = try table(of: batch.schema.model.orderedEntities[index]) else { throw RowRefusal() }
        return table
    }

    private func counter(of root: SQLEntity) throws -> KeyCounter {
        if let known = counters[root.number] { return known }
        let counter = KeyCounter(
            root: root, last: try PrimaryKeys.last(root.number, table: root.table, in: batch.database))
        counters[root.number] = counter
        return counter
    }

    // MARK: - What else changes

    /// Notes that a row has got another at the other end of a relationship, which is there at a place among its to-many
    /// relationships where the row itself does not hold it.
    func touch(_ key: Int64, _ counter: KeyCounter, place: Int? = nil) {
        guard key > 0, key <= counter.first else { return }
        touched[counter.root.number, default: [:]][key, default: 0] |= place.map { 1 << UInt64($0) } ?? 0
    }

    func didInsert(_ entity: Int, key: Int64) {
        outcome.insert(entity, key)
    }

    func didUpdate(_ entity: Int, key: Int64) {
        outcome.updated.append(
            ObjectKey(store: batch.store, entity: UInt16(truncatingIfNeeded: entity), number: key))
    }

    /// Raises the versions of rows that others were related to. A statement or two for each table.
    public func flush() throws {
        for (root, keys) in touched.sorted(by: { $0.key < $1.key }) {
            guard let counter = counters[root] else { continue }
            let table = counter.root.table
            let raised = keys.keys.sorted().filter(counter.mustRaise)
            if !raised.isEmpty {
                try batch.run(
                    SQLQuery(
                        sql: "UPDATE \(table) SET Z_OPT = IFNULL(Z_OPT, 0) + 1 "
                            + "WHERE Z_PK IN (SELECT value FROM json_each(?))",
                        arguments: [BatchTransaction.list(raised).databaseValue]))
                outcome.updated += try self.keys(raised, in: table)
            }
            guard batch.history != nil else { continue }
            for key in try self.keys(keys.keys.sorted(), in: table) {
                let places = keys[key.number] ?? 0
                guard let entity = batch.schema.entity(batch.schema.model.orderedEntities[Int(key.entity)]) else {
                    continue
                }
                batch.history?.update(
                    entity, key: key.number, slots: [], toMany: Set((0..<64).filter { places >> UInt64($0) & 1 == 1 }))
            }
        }
        touched = [:]
    }

    private func keys(_ keys: [Int64], in table: String) throws -> [ObjectKey] {
        try batch.keys(
            SQLQuery(
                sql: "SELECT Z_PK, Z_ENT FROM \(table) WHERE Z_PK IN (SELECT value FROM json_each(?))",
                arguments: [BatchTransaction.list(keys).databaseValue]))
    }

    /// Ends the writing: the keys that were given out are written down.
    func finish() throws {
        try flush()
        for table in tables.values { table.finish() }
        for counter in counters.values.sorted(by: { $0.root.number < $1.root.number })
        where counter.last > counter.first {
            try PrimaryKeys.raise(
                counter.root.number, to: counter.last, name: counter.root.entity.name ?? "", in: batch.database)
        }
    }
}

/// What writing rows has changed.
struct RowOutcome {
    /// Rows that were made, as runs of keys: neighbours of one entity take one entry, however many they are.
    private(set) var inserted: [(entity: Int, keys: ClosedRange<Int64>)] = []
    var updated: [ObjectKey] = []

    mutating func insert(_ entity: Int, _ key: Int64) {
        if let last = inserted.last, last.entity == entity, last.keys.upperBound == key - 1 {
            inserted[inserted.count - 1].keys = last.keys.lowerBound...key
        } else {
            inserted.append((entity, key...key))
        }
    }
}

@_spi(Stores)
extension NSManagedObjectContext {
    /// Calls a closure with a writer of a store's rows, in one transaction: an error takes all back. Contexts are told
    /// afterwards, some thousand IDs at a time, as after a save. No method of objects is called.
    ///
    /// - Returns: Nil, with the closure not called, where the store is no SQLite store of this package that may be written.
    /// - Throws: What the closure throws, and errors of the store.
    public func writeRows<Result>(
        in store: NSPersistentStore, _ body: (RowWriter) throws -> Result
    ) throws -> Result? {
        guard let coordinator, let store = store as? SQLiteStore, !store.isReadOnly,
            store.persistentStoreCoordinator === coordinator
        else { return nil }
        let (result, outcome) = try store.writeRows(context: self, body)
        tell(outcome, number: store.number, coordinator)
        return result
    }

    /// The number of IDs that are told together.
    private static var toldTogether: Int { 5000 }

    private func tell(_ outcome: RowOutcome, number: UInt16, _ coordinator: NSPersistentStoreCoordinator) {
        for (entity, keys) in outcome.inserted {
            for start in stride(from: keys.lowerBound, through: keys.upperBound, by: Self.toldTogether) {
                let end = min(start + Int64(Self.toldTogether) - 1, keys.upperBound)
                let ids = (start...end).map { key in
                    coordinator.objectID(
                        for: ObjectKey(store: number, entity: UInt16(truncatingIfNeeded: entity), number: key))
                }
                tell(ids, as: NSInsertedObjectIDsKey)
            }
        }
        for start in stride(from: 0, to: outcome.updated.count, by: Self.toldTogether) {
            let keys = outcome.updated[start..<min(start + Self.toldTogether, outcome.updated.count)]
            tell(keys.map(coordinator.objectID(for:)), as: NSUpdatedObjectIDsKey)
        }
    }

    private func tell(_ ids: [NSManagedObjectID], as key: String) {
        let userInfo: [AnyHashable: Any] = [key: Set(ids)]
        post(.NSManagedObjectContextDidSave, userInfo)
        post(.NSManagedObjectContextDidSaveObjectIDs, userInfo)
    }
}
