import Foundation
import GRDB
import GRDBSQLite
import SQLStores

/// Reads rows of a store whose content is not trusted: for metadata and for integrity checks.
///
/// Any column may contain any type, so values are returned only in the type that they have (``StoredRow``). Each
/// statement has a step limit, and fails with `SQLITE_INTERRUPT` when it is reached.
struct StoreReader: RowCheckReader {
    private let database: Database
    private let limit: StepLimit

    init(_ database: Database, limit: StepLimit = .inspection) {
        self.database = database
        self.limit = limit
    }

    /// The tables, views and virtual tables of the database: `name`, `type`, and `wr`, which is not 0 for tables
    /// WITHOUT ROWID.
    ///
    /// SQLite derives these from the statements in `sqlite_master`; a crafted file may have any value in the other
    /// columns of that table.
    static let tableList =
        sqlite3_libversion_number() >= 3_037_000
        ? "SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main' AND name <> 'sqlite_schema'"
        : "SELECT name, type, 0 AS wr FROM sqlite_master WHERE type IN ('table', 'view')"

    var dialect: any SQLDialect { SQLiteDialect() }

    /// The names of the tables, without views and virtual tables.
    func tableNames() throws -> Set<String> {
        var names: Set<String> = []
        try forEachRow("SELECT name FROM (\(Self.tableList)) WHERE type = 'table'") { row in
            if let name = row.text(0) { names.insert(name) }
        }
        return names
    }

    func firstRow(_ sql: String, _ arguments: [ColumnValue]) throws -> StoredRow? {
        try limit.run(on: database) {
            try Row.fetchOne(database, sql: sql, arguments: StatementArguments(arguments)).map {
                StoredRow($0.columnValues)
            }
        }
    }

    func forEachRow(
        _ sql: String, _ arguments: [ColumnValue], _ body: (StoredRow) throws -> Void
    ) throws {
        try limit.run(on: database) {
            // Not cached by text, because a check executes a different statement for each property.
            let rows = try Row.fetchCursor(database, sql: sql, arguments: StatementArguments(arguments))
            while let row = try rows.next() { try body(StoredRow(row.columnValues)) }
        }
    }
}

extension StoreReader {
    /// Columns have no types in SQLite.
    func hasWrongType(_ column: String, _ kind: EntityLayout.Slot.Kind) -> String? {
        let types: String
        switch kind {
        case .integer16, .integer32, .integer64, .boolean, .position: types = "'integer'"
        case .date, .double, .float: types = "'integer', 'real'"
        case .decimal: types = "'integer', 'real', 'text'"
        case .string, .uri: types = "'text'"
        case .uuid, .data, .transformable: types = "'blob'"
        case .toOne, .undefined: return nil
        }
        return "typeof(\(column)) NOT IN ('null', \(types))"
    }
}
