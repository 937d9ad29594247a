import Foundation

/// The values of one row of a store whose content is not trusted. A value is returned only in the type that it has; for any
/// other type the result is nil.
package struct StoredRow {
    private let values: [ColumnValue]

    package init(_ values: [ColumnValue]) { self.values = values }

    /// The integer in a column, counted from 0.
    package func integer(_ column: Int) -> Int64? {
        if case .integer(let number) = values[column] { number } else { nil }
    }

    package func text(_ column: Int) -> String? {
        if case .text(let text) = values[column] { text } else { nil }
    }

    /// The bytes of a blob, or of a UTF-8 text, which some programs write instead of a blob.
    package func data(_ column: Int) -> Data? {
        switch values[column] {
        case .blob(let data): data
        case .text(let text): Data(text.utf8)
        case .null, .integer, .real: nil
        }
    }

    package func isNull(_ column: Int) -> Bool { values[column].isNull }

    /// A primary key in the form used for objects: `p12`. A value that is not an integer is returned as an SQL literal.
    package func key(_ column: Int) -> String {
        switch values[column] {
        case .integer(let number): "p\(number)"
        case .null: "NULL"
        case .real(let number): "\(number)"
        case .text(let text): "'\(text.prefix(40))'"
        case .blob(let data): "a blob of \(data.count) bytes"
        }
    }
}

/// Reads rows of a store whose content is not trusted, by statements that are executed once.
package protocol SQLRowReading {
    var dialect: any SQLDialect { get }

    /// The first row of a statement.
    func firstRow(_ sql: String, _ arguments: [ColumnValue]) throws -> StoredRow?

    /// Calls a closure with each row; only one row is in memory at a time.
    func forEachRow(_ sql: String, _ arguments: [ColumnValue], _ body: (StoredRow) throws -> Void) throws
}

extension SQLRowReading {
    package func forEachRow(_ sql: String, _ body: (StoredRow) throws -> Void) throws { try forEachRow(sql, [], body) }

    /// All rows of a statement.
    package func rows(_ sql: String, _ arguments: [ColumnValue] = []) throws -> [StoredRow] {
        var rows: [StoredRow] = []
        try forEachRow(sql, arguments) { rows.append($0) }
        return rows
    }

    package func firstRow(_ sql: String) throws -> StoredRow? { try firstRow(sql, []) }

    /// The single integer that a statement returns; 0 if it returns none.
    package func integer(_ command: some SQLCommand, _ arguments: [ColumnValue] = []) throws -> Int64 {
        try integer(dialect.text(of: command), arguments)
    }

    /// The single integer that a statement returns; 0 if it returns none.
    package func integer(_ sql: String, _ arguments: [ColumnValue] = []) throws -> Int64 {
        try firstRow(sql, arguments)?.integer(0) ?? 0
    }
}
