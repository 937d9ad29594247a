import Foundation
import GRDBSQLite

/// A cursor over rows. Columns are counted from 0, after the leading key columns.
///
/// Values are decoded as for objects. Valid as long as the ``StoreRows`` that created it.
@_spi(Stores)
public struct RowCursor {
    let statement: SQLStatement

    init(_ statement: SQLStatement) { self.statement = statement }

    /// Steps to the next row; false after the last.
    @inline(__always)
    public func next() throws -> Bool { try statement.step() }

    /// Whether a column is null.
    @inline(__always)
    public func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement.handle, column) == SQLITE_NULL }

    /// An integer, a Boolean, or a key.
    @inline(__always)
    public func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement.handle, column) }

    /// A floating-point number, or a date in seconds since 2001.
    @inline(__always)
    public func double(_ column: Int32) -> Double { sqlite3_column_double(statement.handle, column) }

    /// A decimal, stored as a number or as text; nil if the column contains neither.
    public func decimal(_ column: Int32) -> Decimal? {
        switch sqlite3_column_type(statement.handle, column) {
        case SQLITE_INTEGER: Decimal(integer(column))
        case SQLITE_FLOAT: Decimal(shortestOf: double(column))
        default: statement.text(Int(column)).flatMap { Decimal(string: $0) }
        }
    }

    /// The UTF-8 of a text, valid during the call.
    @inline(__always)
    public func withText<Result>(
        _ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let start = sqlite3_column_text(statement.handle, column)
        return try body(
            UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement.handle, column))))
    }

    /// Data, valid during the call; a UUID has sixteen bytes.
    @inline(__always)
    public func withBytes<Result>(
        _ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let start = sqlite3_column_blob(statement.handle, column)
        return try body(
            UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement.handle, column))))
    }

    /// Ends reading before the last row.
    public func finish() { statement.finish() }
}
