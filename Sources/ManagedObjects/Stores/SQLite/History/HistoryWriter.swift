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
    private var updated: [Updates] = []
    private var deleted: [Deletion] = []
    /// The masks of updates. Mostly one for many rows.
    private var masks: [Data] = []
    private var maskIndexes: [Data: Int32] = [:]

    /// The updates of one entity's rows, and the properties of the last one: the next one often has the same.
    private struct Updates {
        let entity: Int64
        var keys = UpdatedKeys()
        var slots: [Int]
        var toMany: Set<Int>
        var mask: Int32
    }

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

    /// Adds the insertion of all rows whose keys a statement selects, ascending.
    mutating func insertAll(_ entity: SQLEntity, keys: SQLSelect) throws {
        let statement = try SQLStatement(keys, in: database)
        defer { statement.finish() }
        while try statement.step() { insert(entity, key: statement.integer(0)) }
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
        var changes = try ChangeInsertion(transaction, in: database)
        for (entity, keys) in insertions { try changes.insert(.insert, entity, keys) }
        for updates in updated { try insert(updates, to: &changes) }
        try insertDeletions(to: &changes)
        try changes.finish()
        try keepOldValues(of: transaction)
    }

    private func insert(_ updates: Updates, to changes: inout ChangeInsertion) throws {
        let rows = updates.keys.rows
        let keys = rows.lazy.map(\.key)
        if let mask = rows.first?.mask, rows.allSatisfy({ $0.mask == mask }) {
            let shared = [("ZCOLUMNS", masks[Int(mask)].databaseValue)]
            return try changes.insert(.update, updates.entity, keys, shared: shared)
        }
        try changes.insert(.update, updates.entity, keys, own: ["ZCOLUMNS"]) { [masks] index, statement, position in
            statement.bind(masks[Int(rows[index].mask)], at: position)
        }
    }

    private func insertDeletions(to changes: inout ChangeInsertion) throws {
        var rest = deleted[...]
        while let first = rest.first {
            let group = rest.prefix { $0.entity == first.entity && $0.tombstone.count == first.tombstone.count }
            rest = rest[group.endIndex...]
            let columns = first.tombstone.indices.map { "ZTOMBSTONE\($0)" }
            try changes.insert(.delete, first.entity, group.lazy.map(\.key), own: columns) {
                index, statement, position in
                for (offset, value) in group[group.startIndex + index].tombstone.enumerated() {
                    statement.bind(value, at: position + offset)
                }
            }
        }
    }

    /// Leaves one update of each row, and none of rows that were deleted afterwards. Sorts the updates by entity.
    private mutating func combineUpdates() {
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
        for command in OldValueStatements.deleteNotes { try SQLStatement(command, in: database).run() }
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
        let values = [key.databaseValue, HistoryTables.Number.string.databaseValue, text.databaseValue]
        try database.execute(SQLQuery(HistoryStatements.insertString, values))
        return key.databaseValue
    }
}
