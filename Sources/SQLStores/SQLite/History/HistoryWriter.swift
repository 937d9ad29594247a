import Foundation
import GRDB
import ManagedObjects
import SQLStatements
import SQLiteConnections

/// Appends the changes of a transaction to a store's history at its end. Used only during the write transaction.
struct HistoryWriter {
    private let tables: HistoryTables
    private let database: Database
    private let author: String?
    private let contextName: String?
    /// The changed rows.
    var changes: HistoryRows

    // Read and composed once, because each save needs them.
    private static let bundleIdentifier = Bundle.main.bundleIdentifier
    private static let findString = SQLiteDialect().text(of: HistoryStatements.findString)

    init(
        _ tables: HistoryTables, bitmaps: ChangeBitmaps, database: Database, author: String?, contextName: String?
    ) {
        self.tables = tables
        self.database = database
        self.author = author
        self.contextName = contextName
        changes = HistoryRows(bitmaps: bitmaps, tombstoneCount: tables.tombstoneCount)
    }

    // MARK: - Changes

    mutating func record(_ body: (inout HistoryRows) -> Void) { body(&changes) }

    /// Adds the insertion of all rows whose keys a statement selects, ascending.
    mutating func insertAll(_ entity: SQLEntity, keys: SQLSelect) throws {
        let statement = try SQLStatement(keys, in: database)
        defer { statement.finish() }
        while try statement.step() { changes.insert(entity, key: statement.integer(0)) }
    }

    // MARK: - Writing

    /// Writes the transaction, unless nothing has changed.
    ///
    /// - Returns: The number of the transaction; nil if none was written.
    @discardableResult
    mutating func finish() throws -> Int64? {
        changes.combine()
        let insertions = changes.insertions
        guard insertions.contains(where: { !$0.keys.isEmpty }) || !changes.updated.isEmpty || !changes.deleted.isEmpty
        else {
            try removeOldValues()
            return nil
        }
        if !tables.isWanted, try !isBegun() { return nil }
        let numbers = try HistoryNumbers(in: database)
        try insertTransaction(numbers.transaction)
        var insertion = HistoryChangeWriter(numbers, in: database)
        for (entity, keys) in insertions { try insertion.insert(.insert, entity, keys) }
        for updates in changes.updated { try insert(updates, to: &insertion) }
        try insertDeletions(to: &insertion)
        try numbers.record(lastChange: insertion.last, in: database)
        try keepOldValues(of: numbers.transaction)
        return numbers.transaction
    }

    private func insert(_ updates: HistoryRows.Updates, to insertion: inout HistoryChangeWriter) throws {
        let masks = changes.masks
        let rows = updates.keys.rows
        let keys = rows.lazy.map(\.key)
        if let mask = rows.first?.mask, rows.allSatisfy({ $0.mask == mask }) {
            let shared = [("ZCOLUMNS", ColumnValue.blob(masks[Int(mask)]))]
            return try insertion.insert(.update, updates.entity, keys, shared: shared)
        }
        try insertion.insert(.update, updates.entity, keys, own: ["ZCOLUMNS"]) { index, statement, position in
            statement.bind(masks[Int(rows[index].mask)], at: position)
        }
    }

    private func insertDeletions(to insertion: inout HistoryChangeWriter) throws {
        var rest = changes.deleted[...]
        while let first = rest.first {
            let group = rest.prefix { $0.entity == first.entity && $0.tombstone.count == first.tombstone.count }
            rest = rest[group.endIndex...]
            let columns = first.tombstone.indices.map { "ZTOMBSTONE\($0)" }
            try insertion.insert(.delete, first.entity, group.lazy.map(\.key), own: columns) {
                index, statement, position in
                for (offset, value) in group[group.startIndex + index].tombstone.enumerated() {
                    statement.bind(value, at: position + offset)
                }
            }
        }
    }

    /// Stores what triggers have recorded under the number of the transaction.
    private func keepOldValues(of transaction: Int64) throws {
        for text in tables.keepingOldValues ?? [] {
            let statement = try SQLStatement(text, in: database)
            statement.bind(transaction, at: 1)
            try statement.run()
        }
        try removeOldValues()
    }

    private func removeOldValues() throws {
        guard tables.keepingOldValues != nil else { return }
        for command in OldValueStatements.deleteNotes { try SQLStatement(command, in: database).run() }
    }

    /// Writes a transaction without changes, if the option for history is set or the store has transactions already.
    func writeEmptyTransaction() throws {
        guard try tables.isWanted || isBegun() else { return }
        let numbers = try HistoryNumbers(in: database)
        try insertTransaction(numbers.transaction)
        try numbers.record(lastChange: numbers.lastChange, in: database)
    }

    private func isBegun() throws -> Bool {
        let statement = try SQLStatement(HistoryStatements.oldestTransaction, in: database)
        defer { statement.finish() }
        return try statement.step() && !statement.isNull(0)
    }

    private func insertTransaction(_ number: Int64) throws {
        let texts = try [author, Self.bundleIdentifier, contextName, ProcessInfo.processInfo.processName]
            .map(text)
        let statement = try SQLStatement(HistoryStatements.insertTransaction(tables), in: database)
        statement.bind(number, at: 1)
        statement.bind(HistoryTables.Number.transaction, at: 2)
        statement.bind(Date().timeIntervalSinceReferenceDate, at: 3)
        for (position, text) in texts.enumerated() { statement.bind(text, at: 4 + position) }
        try statement.run()
    }

    /// The stored form of a text: its key in the table of texts, or, in old stores, the text itself.
    private func text(_ text: String?) throws -> ColumnValue {
        guard let text else { return .null }
        guard tables.hasStrings else { return .text(text) }
        let known = try SQLStatement(Self.findString, in: database)
        known.bind(text, at: 1)
        let found = try known.step() ? known.integer(0) : nil
        known.finish()
        if let found { return .integer(found) }
        let key = try PrimaryKeys.next(HistoryTables.Number.string, table: "ATRANSACTIONSTRING", in: database)
        let values = [.integer(key), .integer(HistoryTables.Number.string), ColumnValue.text(text)]
        try database.execute(SQLQuery(HistoryStatements.insertString, values))
        return .integer(key)
    }
}
