import Foundation
import GRDB
import GRDBSQLite

/// Reads rows of a store whose content is not trusted: for metadata and for integrity checks.
///
/// Any column may contain any type, so values are returned only in the type that they have (``StoredRow``). Each
/// statement has a step limit, and fails with `SQLITE_INTERRUPT` when it is reached.
struct StoreReader {
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

    /// Whether there is a table, and not a view or a virtual table, of that name.
    func hasTable(_ name: String) throws -> Bool {
        let found = "SELECT count(*) FROM (\(Self.tableList)) WHERE type = 'table' AND name = ?"
        return try integer(found, [name.databaseValue]) > 0
    }

    /// All rows of a statement.
    func rows(_ sql: String, _ arguments: [DatabaseValue] = []) throws -> [StoredRow] {
        var rows: [StoredRow] = []
        try forEachRow(sql, arguments) { rows.append($0) }
        return rows
    }

    /// The first row of a statement.
    func firstRow(_ sql: String, _ arguments: [DatabaseValue] = []) throws -> StoredRow? {
        try limit.run(on: database) {
            try Row.fetchOne(database, sql: sql, arguments: StatementArguments(arguments)).map(StoredRow.init)
        }
    }

    /// Calls a closure with each row; only one row is in memory at a time.
    func forEachRow(
        _ sql: String, _ arguments: [DatabaseValue] = [], _ body: (StoredRow) throws -> Void
    ) throws {
        try limit.run(on: database) {
            // Not cached by text, because a check executes a different statement for each property.
            let rows = try Row.fetchCursor(database, sql: sql, arguments: StatementArguments(arguments))
            while let row = try rows.next() { try body(StoredRow(row)) }
        }
    }

    /// The single integer that a statement returns; 0 if it returns none.
    func integer(_ command: some SQLCommand, _ arguments: [DatabaseValue] = []) throws -> Int64 {
        try integer(SQLiteDialect().text(of: command), arguments)
    }

    /// The single integer that a statement returns; 0 if it returns none.
    func integer(_ sql: String, _ arguments: [DatabaseValue] = []) throws -> Int64 {
        try firstRow(sql, arguments)?.integer(0) ?? 0
    }
}

/// The values of one row. A value is returned only in the type that it has in the file; for any other type the result
/// is nil.
struct StoredRow {
    private let values: [DatabaseValue]

    fileprivate init(_ row: Row) { values = Array(row.databaseValues) }

    /// The integer in a column, counted from 0.
    func integer(_ column: Int) -> Int64? {
        if case .int64(let number) = values[column].storage { number } else { nil }
    }

    func text(_ column: Int) -> String? {
        if case .string(let text) = values[column].storage { text } else { nil }
    }

    /// The bytes of a blob, or of a UTF-8 text, which some programs write instead of a blob.
    func data(_ column: Int) -> Data? {
        switch values[column].storage {
        case .blob(let data): data
        case .string(let text): Data(text.utf8)
        case .null, .int64, .double: nil
        }
    }

    func isNull(_ column: Int) -> Bool { values[column].isNull }

    /// A primary key in the form used for objects: `p12`. A value that is not an integer is returned as an SQL literal.
    func key(_ column: Int) -> String {
        switch values[column].storage {
        case .int64(let number): "p\(number)"
        case .null: "NULL"
        case .double(let number): "\(number)"
        case .string(let text): "'\(text.prefix(40))'"
        case .blob(let data): "a blob of \(data.count) bytes"
        }
    }
}
