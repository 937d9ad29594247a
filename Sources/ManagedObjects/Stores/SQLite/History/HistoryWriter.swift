import Foundation
import GRDB

/// Collects the changes of a transaction and appends them to a store's history at its end. An object occurs once;
/// insertions are written before updates, and updates before deletions.
///
/// Used only during the write transaction. Memory: 16 bytes for each updated row, some 40 for each deleted one, and
/// during the write of the history 8 bytes for each inserted one.
struct HistoryWriter {
    private let tables: HistoryTables
    private let bitmaps: ChangeBitmaps
    private let database: Database
    private let author: String?
    private let contextName: String?

    /// The changed rows by the number of their entity.
    private var inserted: [Int64: InsertedKeys] = [:]
    private var updated: [Int64: UpdatedKeys] = [:]
    private var deleted: [Deletion] = []
    /// The masks of updates. Mostly one for many rows.
    private var masks: [Data] = []
    private var maskIndexes: [Data: Int32] = [:]
    /// The last update's mask: the next one often has the same properties.
    private var lastMask: (entity: Int64, slots: [Int], toMany: Set<Int>, index: Int32)?

    private struct Deletion {
        let entity: Int64
        let key: Int64
        let tombstone: [DatabaseValue]
    }

    init(
        _ tables: HistoryTables, bitmaps: ChangeBitmaps, database: Database, author: String?, contextName: String?
    ) {
        self.tables = tables
        self.bitmaps = bitmaps
        self.database = database
        self.author = author
        self.contextName = contextName
    }

    // MARK: - Changes

    mutating func insert(_ entity: SQLEntity, key: Int64) {
        inserted[entity.number, default: InsertedKeys()].insert(key)
    }

    /// Adds the insertion of all rows whose keys a statement selects.
    mutating func insertAll(_ entity: SQLEntity, keys: String) throws {
        let statement = try SQLStatement("\(keys) ORDER BY 1", in: database)
        defer { statement.finish() }
        while try statement.step() { insert(entity, key: statement.integer(0)) }
    }

    /// Adds an update of slots, and of to-many relationships by their indexes in the layout.
    mutating func update(_ entity: SQLEntity, key: Int64, slots: [Int], toMany: Set<Int> = []) {
        if isInserted(entity.number, key) { return }
        let mask = maskIndex(entity, slots: slots, toMany: toMany)
        updated[entity.number, default: UpdatedKeys()].append(key, mask: mask)
    }

    private mutating func maskIndex(_ entity: SQLEntity, slots: [Int], toMany: Set<Int>) -> Int32 {
        if let lastMask, lastMask.entity == entity.number, lastMask.slots == slots, lastMask.toMany == toMany {
            return lastMask.index
        }
        let index = maskIndex(bitmaps.bitmap(of: entity).data(slots: slots, toMany: toMany))
        lastMask = (entity.number, slots, toMany, index)
        return index
    }

    private mutating func maskIndex(_ mask: Data) -> Int32 {
        if let known = maskIndexes[mask] { return known }
        let index = Int32(masks.count)
        masks.append(mask)
        maskIndexes[mask] = index
        return index
    }

    /// Adds a deletion, with the preserved values in the order of the entity's preserved slots.
    mutating func delete(_ entity: SQLEntity, key: Int64, tombstone: [DatabaseValue]) {
        if isInserted(entity.number, key) {
            inserted[entity.number]?.remove(key)
        } else {
            let preserved = Array(tombstone.prefix(tables.tombstoneCount))
            deleted.append(Deletion(entity: entity.number, key: key, tombstone: preserved))
        }
    }

    private func isInserted(_ entity: Int64, _ key: Int64) -> Bool {
        !inserted.isEmpty && inserted[entity]?.contains(key) == true
    }

    // MARK: - Writing

    /// Writes the transaction, unless nothing has changed.
    mutating func finish() throws {
        combineUpdates()
        let insertions = inserted.sorted { $0.key < $1.key }.map { (entity: $0.key, keys: $0.value.all) }
        guard insertions.contains(where: { !$0.keys.isEmpty }) || !updated.isEmpty || !deleted.isEmpty else {
            return try forgetOldValues()
        }
        if !tables.isWanted, try !isBegun() { return }
        let transaction = try insertTransaction()
        var last = try PrimaryKeys.last(HistoryTables.Number.change, table: "ACHANGE", in: database)
        for (entity, keys) in insertions {
            try insert(.insert, entity, keys.count, in: transaction, after: &last) { keys[$0] }
        }
        for (entity, updates) in updated.sorted(by: { $0.key < $1.key }) {
            let rows = updates.rows
            try insert(.update, entity, rows.count, hasMask: true, in: transaction, after: &last) {
                rows[$0].key
            } extra: { [masks] index, statement, position in
                statement.bind(masks[Int(rows[index].mask)], at: position)
            }
        }
        var rest = deleted[...]
        while let first = rest.first {
            let group = rest.prefix { $0.entity == first.entity && $0.tombstone.count == first.tombstone.count }
            rest = rest[group.endIndex...]
            let start = group.startIndex
            try insert(
                .delete, first.entity, group.count, tombstones: first.tombstone.count, in: transaction, after: &last
            ) {
                group[start + $0].key
            } extra: { index, statement, position in
                for (offset, value) in group[start + index].tombstone.enumerated() {
                    statement.bind(value, at: position + offset)
                }
            }
        }
        try PrimaryKeys.raise(HistoryTables.Number.change, to: last, name: "CHANGE", in: database)
        try keepOldValues(of: transaction)
    }

    /// Leaves one update of each row, and none of rows that were deleted afterwards.
    private mutating func combineUpdates() {
        guard !updated.isEmpty else { return }
        let deletedKeys = Dictionary(grouping: deleted, by: \.entity).mapValues { Set($0.map(\.key)) }
        for entity in Array(updated.keys) {
            guard var rows = updated.removeValue(forKey: entity) else { continue }
            if let keys = deletedKeys[entity] { rows.remove(keys) }
            rows.combine { one, other in
                one == other ? one : maskIndex(Data(zip(masks[Int(one)], masks[Int(other)]).map { $0 | $1 }))
            }
            if !rows.rows.isEmpty { updated[entity] = rows }
        }
    }

    /// Stores what triggers have recorded under the number of the transaction.
    private func keepOldValues(of transaction: Int64) throws {
        for text in tables.keepingOldValues ?? [] {
            let statement = try SQLStatement(text, in: database)
            statement.bind(transaction, at: 1)
            try statement.run()
        }
        try forgetOldValues()
    }

    private func forgetOldValues() throws {
        guard tables.keepingOldValues != nil else { return }
        for text in OldValueStatements.deleteNotes { try SQLStatement(text, in: database).run() }
    }

    /// Writes a transaction without changes, if history is wanted or has been begun.
    func writeEmptyTransaction() throws {
        if try tables.isWanted || isBegun() { _ = try insertTransaction() }
    }

    private func isBegun() throws -> Bool {
        let statement = try SQLStatement(HistoryStatements.oldestTransaction, in: database)
        defer { statement.finish() }
        return try statement.step() && !statement.isNull(0)
    }

    /// Inserts the changes of rows of one entity.
    private func insert(
        _ type: NSPersistentHistoryChangeType, _ entity: Int64, _ count: Int, hasMask: Bool = false,
        tombstones: Int = 0,
        in transaction: Int64, after last: inout Int64, key: (Int) -> Int64,
        extra: (Int, SQLStatement, Int) -> Void = { _, _, _ in }
    ) throws {
        guard count > 0 else { return }
        let (head, values, width) = HistoryStatements.insertChanges(
            type, entity: entity, hasMask: hasMask, tombstones: tombstones)
        let insertion = try BlockInsertion(head, values: values, width: width, count: count, in: database)
        let first = last + 1
        try insertion.insert(count) { index, statement, position in
            statement.bind(first + Int64(index), at: position)
            statement.bind(key(index), at: position + 1)
            statement.bind(transaction, at: position + 2)
            extra(index, statement, position + 3)
        }
        last += Int64(count)
    }

    private func insertTransaction() throws -> Int64 {
        let number = try PrimaryKeys.next(HistoryTables.Number.transaction, table: "ATRANSACTION", in: database)
        let texts = try [author, Bundle.main.bundleIdentifier, contextName, ProcessInfo.processInfo.processName]
            .map(text)
        let statement = try SQLStatement(HistoryStatements.insertTransaction(tables), in: database)
        statement.bind(number, at: 1)
        statement.bind(HistoryTables.Number.transaction, at: 2)
        statement.bind(Date().timeIntervalSinceReferenceDate, at: 3)
        for (position, text) in texts.enumerated() { statement.bind(text, at: 4 + position) }
        try statement.run()
        return number
    }

    /// The stored form of a text: its key in the table of texts, or, in old stores, the text itself.
    private func text(_ text: String?) throws -> DatabaseValue {
        guard let text else { return .null }
        guard tables.hasStrings else { return text.databaseValue }
        let known = try SQLStatement(HistoryStatements.findString, in: database)
        known.bind(text, at: 1)
        let found = try known.step() ? known.integer(0) : nil
        known.finish()
        if let found { return found.databaseValue }
        let key = try PrimaryKeys.next(HistoryTables.Number.string, table: "ATRANSACTIONSTRING", in: database)
        try database.execute(
            sql: HistoryStatements.insertString, arguments: [key, HistoryTables.Number.string, text])
        return key.databaseValue
    }
}
