import Foundation
import GRDB

/// Appends one transaction to a store's history. A value of the writing transaction; nothing is written before the
/// first change.
struct HistoryWriter {
    private enum ChangeType: Int64 {
        case insert = 0
        case update = 1
        case delete = 2
    }

    private let tables: HistoryTables
    private let schema: SQLSchema
    private let database: Database
    private let author: String?
    private let contextName: String?
    private var transaction: Int64?
    private var lastChange: Int64 = 0
    private var bitmaps: [Int: ChangeBitmap] = [:]

    init(
        _ tables: HistoryTables, schema: SQLSchema, database: Database, author: String?, contextName: String?
    ) {
        self.tables = tables
        self.schema = schema
        self.database = database
        self.author = author
        self.contextName = contextName
    }

    // MARK: - Changes

    mutating func insert(_ entity: SQLEntity, key: Int64) throws {
        try change(.insert, entity, key: key)
    }

    /// The insertion of all rows whose keys a statement gives.
    mutating func insertAll(_ entity: SQLEntity, keys: String) throws {
        let transaction = try beginTransaction()
        try database.execute(
            sql: "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID) "
                + "SELECT ? + row_number() OVER (ORDER BY new), ?, ?, ?, new, ? FROM (\(keys))",
            arguments: [
                lastChange, HistoryTables.Number.change, ChangeType.insert.rawValue, entity.number, transaction,
            ])
        lastChange += Int64(database.changesCount)
    }

    /// An update of slots, and of to-many relationships by their places in the layout.
    mutating func update(_ entity: SQLEntity, key: Int64, slots: [Int], toMany: Set<Int> = []) throws {
        if bitmaps[entity.entity.index] == nil { bitmaps[entity.entity.index] = ChangeBitmap(entity) }
        let columns = bitmaps[entity.entity.index]?.data(slots: slots, toMany: toMany)
        try change(.update, entity, key: key, columns: columns)
    }

    /// A deletion, with the values that the history is to keep, in the order of the entity's preserved slots.
    mutating func delete(_ entity: SQLEntity, key: Int64, tombstone: [DatabaseValue]) throws {
        try change(.delete, entity, key: key, tombstone: tombstone)
    }

    private mutating func change(
        _ type: ChangeType, _ entity: SQLEntity, key: Int64, columns: Data? = nil, tombstone: [DatabaseValue] = []
    ) throws {
        let transaction = try beginTransaction()
        lastChange += 1
        let kept = tombstone.prefix(tables.tombstoneCount)
        let names = kept.indices.map { ", ZTOMBSTONE\($0)" }.joined()
        let marks = String(repeating: ", ?", count: kept.count)
        let statement = try SQLStatement(
            "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS\(names)) "
                + "VALUES (?, ?, ?, ?, ?, ?, ?\(marks))",
            in: database)
        for (position, number) in [
            lastChange, HistoryTables.Number.change, type.rawValue, entity.number, key, transaction,
        ].enumerated() {
            statement.bind(number, at: position + 1)
        }
        if let columns { statement.bind(columns, at: 7) } else { statement.bindNull(at: 7) }
        for (position, value) in kept.enumerated() { statement.bind(value, at: 8 + position) }
        try statement.run()
    }

    // MARK: - The transaction

    private mutating func beginTransaction() throws -> Int64 {
        if let transaction { return transaction }
        let number = try PrimaryKeys.next(HistoryTables.Number.transaction, table: "ATRANSACTION", in: database)
        let author = try text(self.author)
        let bundle = try text(Bundle.main.bundleIdentifier)
        let context = try text(contextName)
        let process = try text(ProcessInfo.processInfo.processName)
        try database.execute(
            sql: "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP, ZAUTHOR\(suffix), ZBUNDLEID\(suffix), "
                + "ZCONTEXTNAME\(suffix), ZPROCESSID\(suffix)) VALUES (?, ?, ?, ?, ?, ?, ?)",
            arguments: [
                number, HistoryTables.Number.transaction, Date().timeIntervalSinceReferenceDate, author, bundle,
                context,
                process,
            ])
        lastChange = try PrimaryKeys.last(HistoryTables.Number.change, table: "ACHANGE", in: database)
        transaction = number
        return number
    }

    private var suffix: String { tables.hasStrings ? "TS" : "" }

    /// What stands for a text: its key in the table of texts, or, in old stores, the text.
    private func text(_ text: String?) throws -> DatabaseValue {
        guard let text else { return .null }
        guard tables.hasStrings else { return text.databaseValue }
        if let known = try Int64.fetchOne(
            database, sql: "SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?", arguments: [text])
        {
            return known.databaseValue
        }
        let key = try PrimaryKeys.next(HistoryTables.Number.string, table: "ATRANSACTIONSTRING", in: database)
        try database.execute(
            sql: "INSERT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, ZNAME) VALUES (?, ?, ?)",
            arguments: [key, HistoryTables.Number.string, text])
        return key.databaseValue
    }

    /// Writes down the last key that was given out.
    func finish() throws {
        guard transaction != nil else { return }
        try PrimaryKeys.raise(HistoryTables.Number.change, to: lastChange, name: "CHANGE", in: database)
    }
}
