import SQLStores

/// Reads the rows of a store that is checked, in one state of the store.
protocol RowCheckReader {
    var dialect: any SQLDialect { get }

    /// The first row of a statement.
    func firstRow(_ sql: String, _ arguments: [ColumnValue]) throws -> StoredRow?

    /// Calls a closure with each row; only one row is in memory at a time.
    func forEachRow(_ sql: String, _ arguments: [ColumnValue], _ body: (StoredRow) throws -> Void) throws

    /// The condition that a value has a type that its kind does not allow; nil if there is no such type, or if the database
    /// ensures the types.
    func hasWrongType(_ column: String, _ kind: EntityLayout.Slot.Kind) -> String?
}

extension RowCheckReader {
    func forEachRow(_ sql: String, _ body: (StoredRow) throws -> Void) throws { try forEachRow(sql, [], body) }

    /// All rows of a statement.
    func rows(_ sql: String, _ arguments: [ColumnValue] = []) throws -> [StoredRow] {
        var rows: [StoredRow] = []
        try forEachRow(sql, arguments) { rows.append($0) }
        return rows
    }

    func firstRow(_ sql: String) throws -> StoredRow? { try firstRow(sql, []) }

    /// The single integer that a statement returns; 0 if it returns none.
    func integer(_ command: some SQLCommand, _ arguments: [ColumnValue] = []) throws -> Int64 {
        try integer(dialect.text(of: command), arguments)
    }

    /// The single integer that a statement returns; 0 if it returns none.
    func integer(_ sql: String, _ arguments: [ColumnValue] = []) throws -> Int64 {
        try firstRow(sql, arguments)?.integer(0) ?? 0
    }
}
