import GRDB
import SQLiteConnections

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
