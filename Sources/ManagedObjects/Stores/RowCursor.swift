import Foundation
import GRDBSQLite

/// Rows that come one after the other, each with its columns. Columns count from 0 behind what stands first.
///
/// Values are read as objects would have them. Belongs to the ``StoreRows`` that made it.
@_spi(Stores)
public struct RowCursor {
    let statement: SQLStatement

    init(_ statement: SQLStatement) { self.statement = statement }

    /// Goes to the next row; false behind the last.
    @inline(__always)
    public func next() throws -> Bool { try statement.step() }

    /// Whether a column is null.
    @inline(__always)
    public func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement.handle, column) == SQLITE_NULL }

    /// A whole number, a boolean, or a key.
    @inline(__always)
    public func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement.handle, column) }

    /// A floating-point number, or a date in seconds since 2001.
    @inline(__always)
    public func double(_ column: Int32) -> Double { sqlite3_column_double(statement.handle, column) }

    /// A decimal, kept as a number or as text; nil where it is neither.
    public func decimal(_ column: Int32) -> Decimal? {
        switch sqlite3_column_type(statement.handle, column) {
        case SQLITE_INTEGER: Decimal(integer(column))
        case SQLITE_FLOAT: Decimal(shortestOf: double(column))
        default: statement.text(Int(column)).flatMap { Decimal(string: $0) }
        }
    }

    /// A text's UTF-8, valid during the call.
    @inline(__always)
    public func withText<Result>(
        _ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let start = sqlite3_column_text(statement.handle, column)
        return try body(
            UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement.handle, column))))
    }

    /// Data, valid during the call; a UUID is its sixteen bytes.
    @inline(__always)
    public func withBytes<Result>(
        _ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let start = sqlite3_column_blob(statement.handle, column)
        return try body(
            UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement.handle, column))))
    }

    /// Ends the reading before the last row.
    public func finish() { statement.finish() }
}
