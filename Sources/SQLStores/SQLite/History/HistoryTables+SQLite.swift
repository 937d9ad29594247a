import GRDB
import ManagedObjects
import SQLStatements
import SQLiteConnections

// The tables of a history in an SQLite file.

extension HistoryTables {
    /// The tables of a database; nil if it has none. Cost: two statements.
    init?(in database: Database) throws {
        let changes = try database.columnTypes(of: "ACHANGE").map(\.name)
        let transactions = try database.columnTypes(of: "ATRANSACTION").map(\.name)
        guard !changes.isEmpty, !transactions.isEmpty else { return nil }
        self.init(
            hasStrings: transactions.contains("ZAUTHORTS"),
            tombstoneCount: changes.filter { $0.hasPrefix("ZTOMBSTONE") }.count)
    }

    /// The tables of a store that is opened for writing, created if the option is set and updated to the model; nil if
    /// the store keeps no history.
    static func open(
        schema: SQLSchema, catalog: SQLCatalog, isWanted: Bool, connection: StoreConnection
    ) throws -> HistoryTables? {
        guard isWanted || catalog.hasTable("ACHANGE") else { return nil }
        let needed = neededTombstoneCount(schema)
        let present = catalog.columns["ACHANGE"]?.filter { $0.hasPrefix("ZTOMBSTONE") }.count
        if present.map({ $0 < needed }) ?? true {
            try connection.write { database in
                // Read again in the transaction, because another process may have created them.
                let existing = try HistoryTables(in: database)
                if existing == nil {
                    for table in HistoryStatements.tables { try database.execute(SQLQuery(table)) }
                    for index in HistoryStatements.indexes { try database.execute(SQLQuery(index)) }
                }
                for number in (existing?.tombstoneCount ?? 0)..<max(existing?.tombstoneCount ?? 0, needed) {
                    try database.execute(SQLQuery(HistoryStatements.addTombstone(number)))
                }
            }
        }
        var tables = try connection.read { try HistoryTables(in: $0) }
        tables?.isWanted = isWanted
        return tables
    }

    // MARK: - Old values

    /// Prepares a store and its writing connection for keeping old values.
    mutating func keepOldValues(schema: SQLSchema, catalog: SQLCatalog, connection: StoreConnection) throws {
        if !catalog.hasTable(OldValueStatements.values) || !catalog.hasTable(OldValueStatements.pairs) {
            try connection.write { database in
                for statement in SQLiteOldValues.creation { try database.execute(sql: statement) }
            }
        }
        try connection.writeWithoutTransaction { database in
            for statement in SQLiteOldValues.temporary(schema) { try database.execute(sql: statement) }
        }
        keepingOldValues = OldValueStatements.keeping(schema)
    }
}
