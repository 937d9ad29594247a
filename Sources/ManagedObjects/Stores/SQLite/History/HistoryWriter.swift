import Foundation
import GRDB

/// Collects the changes of a transaction and appends them to a store's history at its end. An object occurs once;
/// insertions are written before updates, and updates before deletions.
///
/// Used only during the write transaction. Memory: some 50 bytes for each updated or deleted row, and during the write
/// of the history 16 bytes for each inserted one.
struct HistoryWriter {
    private let tables: HistoryTables
    private let bitmaps: ChangeBitmaps
    private let database: Database
    private let author: String?
    private let contextName: String?

    /// The inserted rows by the number of their entity.
    private var inserted: [Int64: InsertedKeys] = [:]
    private var updated: [Place: Data] = [:]
    private var deleted: [(place: Place, tombstone: [DatabaseValue])] = []

    /// A row, identified by the number of its entity and its key.
    private struct Place: Hashable {
        let entity: Int64
        let key: Int64
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
        let place = Place(entity: entity.number, key: key)
        if isInserted(place) { return }
        let mask = bitmaps.bitmap(of: entity).data(slots: slots, toMany: toMany)
        guard let known = updated[place] else {
            updated[place] = mask
            return
        }
        updated[place] = Data(zip(known, mask).map { $0 | $1 })
    }

    /// Adds a deletion, with the preserved values in the order of the entity's preserved slots.
    mutating func delete(_ entity: SQLEntity, key: Int64, tombstone: [DatabaseValue]) {
        let place = Place(entity: entity.number, key: key)
        if isInserted(place) {
            inserted[place.entity]?.remove(key)
        } else {
            updated[place] = nil
            deleted.append((place, Array(tombstone.prefix(tables.tombstoneCount))))
        }
    }

    private func isInserted(_ place: Place) -> Bool { inserted[place.entity]?.contains(place.key) == true }

    // MARK: - Writing

    /// Writes the transaction, unless there are no changes.
    func finish() throws {
        let insertions = inserted.sorted { $0.key < $1.key }
            .flatMap { entity, keys in keys.all.map { Place(entity: entity, key: $0) } }
        guard !insertions.isEmpty || !updated.isEmpty || !deleted.isEmpty else { return try forgetOldValues() }
        if !tables.isWanted, try !isBegun() { return }
        let transaction = try insertTransaction()
        var last = try PrimaryKeys.last(HistoryTables.Number.change, table: "ACHANGE", in: database)
        try insert(insertions, type: .insert, in: transaction, after: &last)
        let updates = updated.sorted { ($0.key.entity, $0.key.key) < ($1.key.entity, $1.key.key) }
        try insert(updates.map(\.key), type: .update, masks: updates.map(\.value), in: transaction, after: &last)
        let plain = deleted.filter(\.tombstone.isEmpty)
        try insert(plain.map(\.place), type: .delete, in: transaction, after: &last)
        for (place, tombstone) in deleted where !tombstone.isEmpty {
            try insert([place], type: .delete, tombstone: tombstone, in: transaction, after: &last)
        }
        try PrimaryKeys.raise(HistoryTables.Number.change, to: last, name: "CHANGE", in: database)
        try keepOldValues(of: transaction)
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

    private func isBegun() throws -> Bool {
        let statement = try SQLStatement(HistoryStatements.oldestTransaction, in: database)
        defer { statement.finish() }
        return try statement.step() && !statement.isNull(0)
    }

    private func insert(
        _ places: [Place], type: NSPersistentHistoryChangeType, masks: [Data] = [], tombstone: [DatabaseValue] = [],
        in transaction: Int64, after last: inout Int64
    ) throws {
        guard !places.isEmpty else { return }
        let (head, values, width) = HistoryStatements.insertChanges(
            hasMask: !masks.isEmpty, tombstones: tombstone.count)
        let insertion = try BlockInsertion(head, values: values, width: width, count: places.count, in: database)
        let first = last + 1
        try insertion.insert(places.count) { index, statement, position in
            statement.bind(first + Int64(index), at: position)
            statement.bind(Int64(type.rawValue), at: position + 1)
            statement.bind(places[index].entity, at: position + 2)
            statement.bind(places[index].key, at: position + 3)
            statement.bind(transaction, at: position + 4)
            if !masks.isEmpty { statement.bind(masks[index], at: position + 5) }
            for (offset, value) in tombstone.enumerated() { statement.bind(value, at: position + 5 + offset) }
        }
        last += Int64(places.count)
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
