import Foundation
import GRDB
import GRDBSQLite

/// Reads rows of a store whose content is not trusted: what a store says of itself, and what a check looks at.
///
/// Any value may stand in any column, so that values are handed out with the type that they have (``StoredRow``). Each statement
/// has a limit of steps, and ends with `SQLITE_INTERRUPT` when it is reached.
struct StoreReader {
    private let database: Database
    private let limit: StepLimit

    init(_ database: Database, limit: StepLimit = .inspection) {
        self.database = database
        self.limit = limit
    }

    /// What SQLite takes for a table, a view or a virtual table: `name`, `type`, and `wr`, which is not 0 where rows have no number.
    ///
    /// SQLite reads these from the statements in `sqlite_master`, whose other columns a crafted file may give any value.
    static let tableList =
        sqlite3_libversion_number() >= 3_037_000
        ? "SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main' AND name <> 'sqlite_schema'"
        : "SELECT name, type, 0 AS wr FROM sqlite_master WHERE type IN ('table', 'view')"

    /// Whether there is a table of that name, and no view or virtual table.
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

    /// Calls a closure with one row after the other; memory holds one.
    func forEachRow(
        _ sql: String, _ arguments: [DatabaseValue] = [], _ body: (StoredRow) throws -> Void
    ) throws {
        try limit.run(on: database) {
            // Not kept by their texts, of which a check has one for each property.
            let rows = try Row.fetchCursor(database, sql: sql, arguments: StatementArguments(arguments))
            while let row = try rows.next() { try body(StoredRow(row)) }
        }
    }

    /// The integer that a statement gives as its only value; 0 where it gives none.
    func integer(_ sql: String, _ arguments: [DatabaseValue] = []) throws -> Int64 {
        try firstRow(sql, arguments)?.integer(0) ?? 0
    }
}

/// The values of one row. A value is handed out as the type that it has in the file: asked for as another, it is nil.
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

    /// The bytes of a blob, or of a text in UTF-8, which some programs write in the place of one.
    func data(_ column: Int) -> Data? {
        switch values[column].storage {
        case .blob(let data): data
        case .string(let text): Data(text.utf8)
        case .null, .int64, .double: nil
        }
    }

    func isNull(_ column: Int) -> Bool { values[column].isNull }

    /// A primary key as objects are named by it: `p12`. What is no integer stands there as an SQL literal.
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
