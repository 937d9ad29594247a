import SQLStores

/// A connection to a database while it is used by one task: it executes statements that read.
protocol SQLDatabase {
    associatedtype Cursor: SQLCursor

    /// Begins to read the rows of a query.
    func cursor(_ query: SQLQuery) throws -> Cursor

    /// Reads the rows with primary keys into the pages of a reader.
    func readRows(withKeys keys: [Int64], by reader: RowReader) throws

    /// Reads the rows that a list of keys selects, in as many statements as the database needs for the list.
    ///
    /// - Parameters:
    ///   - selection: The selection for a condition that the keys of a statement are in a column.
    ///   - body: Called for each statement.
    func forEachCursor(
        of keys: [Int64], selecting selection: (SQLKeyCondition) -> SQLSelect, _ body: (Cursor) throws -> Void
    ) throws
}

/// A connection that also executes statements that write.
protocol SQLWritingDatabase: SQLDatabase {
    /// Executes a statement, and returns the number of changed rows.
    func run(_ query: SQLQuery) throws -> Int
}

/// The condition that a column has one of the keys of a list that the database binds.
struct SQLKeyCondition {
    /// The condition for a column. The parameters of the list are the statement's first ones.
    let first: (_ column: String) -> SQLRestriction
    /// The condition for a further column of the same statement, with the same parameters.
    let again: (_ column: String) -> SQLRestriction
}
