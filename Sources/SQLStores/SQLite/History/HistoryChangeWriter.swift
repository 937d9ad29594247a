import Foundation
import GRDB
import ManagedObjects
import SQLStatements
import SQLiteConnections

/// Appends the changes of one transaction to a store's history, sixteen rows with one statement.
///
/// SQLite assigns the numbers of changes: its next number is one more than the highest in the table. This costs less
/// than half of inserting rows with given numbers, for which SQLite searches the table. Only if higher numbers were
/// assigned before, to changes that have been deleted, the first change is inserted with its number.
struct HistoryChangeWriter {
    private let database: Database
    private let transaction: Int64
    /// The number of the last change.
    private(set) var last: Int64
    private var isNumbered: Bool

    init(_ numbers: HistoryNumbers, in database: Database) {
        self.database = database
        transaction = numbers.transaction
        last = numbers.lastChange
        isNumbered = numbers.lastChange > numbers.highestChange
    }

    /// Inserts changes of rows of one entity. Cost: a statement for each sixteen rows, and one for each remaining row.
    ///
    /// - Parameters:
    ///   - shared: The columns with the same value in all rows.
    ///   - own: The columns with a value for each row.
    ///   - bind: Binds a row's values of these columns to the parameters from an index on.
    mutating func insert(
        _ type: NSPersistentHistoryChangeType, _ entity: Int64, _ keys: some RandomAccessCollection<Int64>,
        shared: [(column: String, value: ColumnValue)] = [], own: [String] = [],
        bind: (Int, SQLStatement, Int) -> Void = { _, _, _ in }
    ) throws {
        let shared = [("ZTRANSACTIONID", ColumnValue.integer(transaction))] + shared
        func insertion(_ own: [String], _ count: Int) throws -> RowBlockInserter {
            let change = HistoryStatements.insertChanges(type, entity, shared: shared.map(\.0), own: own)
            return try RowBlockInserter(
                change, shared: shared.map(\.1), width: own.count, count: count, in: database)
        }
        func key(_ index: Int) -> Int64 { keys[keys.index(keys.startIndex, offsetBy: index)] }
        let own = ["ZENTITYPK"] + own
        var inserted = 0
        if isNumbered, !keys.isEmpty {
            isNumbered = false
            try insertion(own + ["Z_PK"], 1).insert(1) { index, statement, position in
                statement.bind(key(index), at: position)
                bind(index, statement, position + 1)
                statement.bind(last + 1, at: position + own.count)
            }
            inserted = 1
        }
        if inserted < keys.count {
            try insertion(own, keys.count - inserted).insert(keys.count - inserted) { index, statement, position in
                statement.bind(key(inserted + index), at: position)
                bind(inserted + index, statement, position + 1)
            }
        }
        last += Int64(keys.count)
    }
}

/// The numbers of a transaction and of the changes before it. They are read with one statement, and recorded with one, because each save
/// does both.
struct HistoryNumbers {
    /// The number of the transaction.
    let transaction: Int64
    /// The number of the change that was inserted last, and the highest that is left.
    let lastChange: Int64
    let highestChange: Int64

    private static let key = (change: HistoryTables.Number.change, transaction: HistoryTables.Number.transaction)
    private static let selection =
        "SELECT " + ["ATRANSACTION", "ACHANGE"].map(PrimaryKeys.lastColumns).joined(separator: ", ")
    private static let raising =
        "UPDATE Z_PRIMARYKEY SET Z_MAX = max(COALESCE(Z_MAX, 0), CASE Z_ENT WHEN \(key.transaction) THEN ?1 ELSE ?2 END) "
        + "WHERE Z_ENT IN (\(key.transaction), \(key.change))"

    init(in database: Database) throws {
        let statement = try SQLStatement(Self.selection, in: database)
        defer { statement.finish() }
        statement.bind(Self.key.transaction, at: 1)
        statement.bind(Self.key.change, at: 2)
        guard try statement.step() else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
        let last = max(statement.integer(0), statement.integer(1))
        transaction = try PrimaryKeys.checked(last, table: "ATRANSACTION") + 1
        highestChange = statement.integer(3)
        lastChange = try PrimaryKeys.checked(max(statement.integer(2), highestChange), table: "ACHANGE")
    }

    /// Records the number of the transaction, and that of its last change, so that they are not assigned again after a purge.
    func record(lastChange: Int64, in database: Database) throws {
        let statement = try SQLStatement(Self.raising, in: database)
        statement.bind(transaction, at: 1)
        statement.bind(lastChange, at: 2)
        try statement.run()
        guard statement.changesCount < 2 else { return }
        try PrimaryKeys.raise(Self.key.transaction, to: transaction, name: "TRANSACTION", in: database)
        if lastChange > 0 { try PrimaryKeys.raise(Self.key.change, to: lastChange, name: "CHANGE", in: database) }
    }
}
