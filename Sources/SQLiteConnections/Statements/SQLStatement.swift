import Foundation
import GRDB
import GRDBSQLite
import SQLStatements

/// A prepared statement of a connection that is stepped explicitly.
///
/// The connection caches its statements by text, so preparing one again costs a dictionary lookup. `finish()` must be
/// called after the last step: a statement that has not been reset holds a read transaction.
///
/// Columns and parameters are inlinable, because they are called for each value of each row: a call across the module costs ten
/// times as much.
package struct SQLStatement: SQLCursor {
    package let database: Database
    package let handle: SQLite.Handle
    // Keeps the handle valid.
    private let statement: Statement

    package init(_ sql: String, in database: Database) throws {
        self.database = database
        statement = try database.cachedStatement(sql: sql)
        handle = statement.sqliteStatement
        sqlite3_reset(handle)
    }

    package init(_ query: SQLQuery, in database: Database) throws {
        try self.init(query.sql, in: database)
        for (position, argument) in query.arguments.enumerated() { bind(argument, at: position + 1) }
    }

    package init(_ command: some SQLCommand, in database: Database) throws {
        try self.init(SQLiteDialect().text(of: command), in: database)
    }

    // MARK: - Binding, indexes from 1

    package func bind(_ value: ColumnValue, at position: Int) {
        switch value {
        case .null: bindNull(at: position)
        case .integer(let number): bind(number, at: position)
        case .real(let number): bind(number, at: position)
        case .text(let text): bind(text, at: position)
        case .blob(let data): bind(data, at: position)
        }
    }

    @inlinable @inline(__always) package func bindNull(at position: Int) { sqlite3_bind_null(handle, Int32(position)) }
    @inlinable @inline(__always) package func bind(_ number: Int64, at position: Int) {
        sqlite3_bind_int64(handle, Int32(position), number)
    }
    @inlinable @inline(__always) package func bind(_ number: Double, at position: Int) {
        sqlite3_bind_double(handle, Int32(position), number)
    }

    package func bind(_ text: String, at position: Int) {
        var text = text
        // Bound with its length, so that characters after a NUL are kept.
        _ = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                if let base = characters.baseAddress {
                    sqlite3_bind_text(
                        handle, Int32(position), base, Int32(truncatingIfNeeded: characters.count), SQLite.transient)
                } else {
                    sqlite3_bind_text(handle, Int32(position), "", 0, SQLite.transient)
                }
            }
        }
    }

    /// Binds a list of keys.
    package func bind(list keys: some Sequence<Int64>, at position: Int) {
        bind(SQLiteDialect().value(of: keys), at: position)
    }

    package func bind(_ data: Data, at position: Int) {
        data.withUnsafeBytes { bind($0, at: position) }
    }

    package func bind(_ bytes: UnsafeRawBufferPointer, at position: Int) {
        if let base = bytes.baseAddress, bytes.count > 0 {
            sqlite3_bind_blob64(handle, Int32(position), base, sqlite3_uint64(bytes.count), SQLite.transient)
        } else {
            // A null pointer would bind NULL; this binds empty data.
            sqlite3_bind_zeroblob(handle, Int32(position), 0)
        }
    }

    /// Binds UTF-8 text or bytes without copying. The memory must stay valid until the statement has run.
    package func bind(borrowed bytes: UnsafeRawBufferPointer, isText: Bool, at position: Int) {
        guard let base = bytes.baseAddress else { return isText ? bind("", at: position) : bind(Data(), at: position) }
        if isText {
            sqlite3_bind_text64(
                handle, Int32(position), base.assumingMemoryBound(to: CChar.self), sqlite3_uint64(bytes.count), nil,
                UInt8(SQLITE_UTF8))
        } else {
            sqlite3_bind_blob64(handle, Int32(position), base, sqlite3_uint64(bytes.count), nil)
        }
    }

    // MARK: - Running

    /// Steps to the next row; false if there is none.
    @inlinable @inline(__always)
    package func step() throws -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw failure(code)
    }

    /// Runs a statement that returns no rows, and resets it.
    package func run() throws {
        defer { sqlite3_reset(handle) }
        while try step() {}
    }

    /// The number of rows that the statement has changed. Read from the connection, without the checks of
    /// `Database.changesCount`.
    package var changesCount: Int { Int(sqlite3_changes(sqlite3_db_handle(handle))) }

    /// Resets the statement.
    package func finish() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    package func failure(_ code: Int32) -> DatabaseError {
        // Read from SQLite: a statement of GRDB trims its text each time, and a save may meet many refused rows.
        let error = DatabaseError(
            resultCode: ResultCode(rawValue: code), message: database.lastErrorMessage,
            sql: sqlite3_sql(handle).map { String(cString: $0) })
        sqlite3_reset(handle)
        return error
    }

    // MARK: - The row, columns from 0

    @inlinable @inline(__always) package func isNull(_ column: Int) -> Bool {
        sqlite3_column_type(handle, Int32(column)) == SQLITE_NULL
    }
    @inlinable @inline(__always) package func integer(_ column: Int) -> Int64 {
        sqlite3_column_int64(handle, Int32(column))
    }
    @inlinable @inline(__always) package func double(_ column: Int) -> Double {
        sqlite3_column_double(handle, Int32(column))
    }

    @inlinable @inline(__always) package func type(_ column: Int) -> SQLValueType {
        switch sqlite3_column_type(handle, Int32(column)) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    /// The bytes of a blob, or of a text in UTF-8, valid until the next step. Empty for NULL.
    @inlinable @inline(__always) package func bytes(_ column: Int) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(handle, Int32(column))
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, Int32(column))))
    }

    /// A value as UTF-8, converted if it is not a text, valid until the next step; nil for NULL.
    @inlinable @inline(__always) package func textBytes(_ column: Int) -> UnsafeRawBufferPointer? {
        guard let start = sqlite3_column_text(handle, Int32(column)) else { return nil }
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, Int32(column))))
    }
}

extension SQLStatement: SQLBinding {}

/// Declarations of the C header that Swift cannot import.
package enum SQLite {
    package typealias Handle = OpaquePointer

    /// `SQLITE_TRANSIENT`, which makes SQLite copy the bytes. The macro casts -1 to a function pointer.
    package static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
}

/// Lists of keys as parameters, in few different lengths, so that few statements are prepared.
package enum SQLParameters {
    /// The maximum number of keys in a statement.
    package static let limit = 500

    /// The number of parameters for a number of keys: the remaining parameters repeat the last key.
    package static func capacity(for count: Int) -> Int { capacities.first { count <= $0 } ?? limit }

    /// The numbers of parameters, ascending.
    static let capacities = [1, 8, 64, limit]

    /// Binds keys to the parameters from an index on; the last key is repeated if there are more parameters.
    package static func bind(
        _ keys: ArraySlice<Int64>, to statement: SQLStatement, from position: Int = 1, capacity: Int
    ) {
        var next = position
        for key in keys {
            statement.bind(key, at: next)
            next += 1
        }
        guard let last = keys.last else { return }
        while next < position + capacity {
            statement.bind(last, at: next)
            next += 1
        }
    }

    /// Calls a block with slices of at most ``limit`` keys.
    package static func forEachSlice(of keys: [Int64], _ body: (ArraySlice<Int64>) throws -> Void) rethrows {
        var start = 0
        while start < keys.count {
            let end = min(start + limit, keys.count)
            try body(keys[start..<end])
            start = end
        }
    }
}
