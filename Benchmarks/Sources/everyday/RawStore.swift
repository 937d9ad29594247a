import Foundation
import GRDBSQLite

/// The store's file by SQLite's C interface alone: what an operation costs at least.
final class RawStore {
    private var connection: OpaquePointer?
    private var statements: [String: OpaquePointer] = [:]

    init(_ url: URL) {
        check(sqlite3_open_v2(url.path, &connection, SQLITE_OPEN_READWRITE, nil))
        sqlite3_busy_timeout(connection, 10_000)
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close(connection)
    }

    /// Executes a statement and reads all columns of its rows; returns their number.
    @discardableResult
    func run(_ sql: String, _ values: Any...) -> Int {
        let statement = prepared(sql)
        defer { sqlite3_reset(statement) }
        for (index, value) in values.enumerated() { bind(value, at: Int32(index + 1), in: statement) }
        var rows = 0
        while true {
            let result = sqlite3_step(statement)
            guard result == SQLITE_ROW else {
                check(result == SQLITE_DONE ? SQLITE_OK : result)
                return rows
            }
            rows += 1
            for column in 0..<sqlite3_column_count(statement) { read(column, of: statement) }
        }
    }

    /// Executes work in one transaction.
    func inTransaction(_ work: () -> Void) {
        run("BEGIN IMMEDIATE")
        work()
        run("COMMIT")
    }

    private func prepared(_ sql: String) -> OpaquePointer {
        if let statement = statements[sql] { return statement }
        var statement: OpaquePointer?
        check(sqlite3_prepare_v2(connection, sql, -1, &statement, nil))
        statements[sql] = statement
        return statement!
    }

    private func bind(_ value: Any, at index: Int32, in statement: OpaquePointer) {
        switch value {
        case let number as Int: check(sqlite3_bind_int64(statement, index, Int64(number)))
        case let text as String:
            check(sqlite3_bind_text(statement, index, text, -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self)))
        default: preconditionFailure("a value of \(type(of: value))")
        }
    }

    private func read(_ column: Int32, of statement: OpaquePointer) {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: _ = sqlite3_column_int64(statement, column)
        case SQLITE_FLOAT: _ = sqlite3_column_double(statement, column)
        case SQLITE_TEXT: _ = sqlite3_column_text(statement, column).map { String(cString: $0) }
        case SQLITE_BLOB: _ = sqlite3_column_blob(statement, column)
        default: break
        }
    }

    private func check(_ result: Int32) {
        precondition(result == SQLITE_OK, String(cString: sqlite3_errmsg(connection)))
    }
}
