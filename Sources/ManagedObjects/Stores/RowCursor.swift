import Foundation
import SQLiteConnections

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
    public func isNull(_ column: Int32) -> Bool { statement.isNull(Int(column)) }

    /// An integer, a Boolean, or a key.
    @inline(__always)
    public func integer(_ column: Int32) -> Int64 { statement.integer(Int(column)) }

    /// A floating-point number, or a date in seconds since 2001.
    @inline(__always)
    public func double(_ column: Int32) -> Double { statement.double(Int(column)) }

    /// A decimal, stored as a number or as text; nil if the column contains neither.
    public func decimal(_ column: Int32) -> Decimal? {
        switch statement.type(Int(column)) {
        case .integer: Decimal(integer(column))
        case .real: Decimal(shortestOf: double(column))
        default: statement.text(Int(column)).flatMap { Decimal(string: $0) }
        }
    }

    /// The UTF-8 of a text, valid during the call.
    @inline(__always)
    public func withText<Result>(
        _ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try body(statement.textBytes(Int(column)) ?? UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Data, valid during the call; a UUID has sixteen bytes.
    @inline(__always)
    public func withBytes<Result>(
        _ column: Int32, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try body(statement.bytes(Int(column)))
    }

    /// Ends reading before the last row.
    public func finish() { statement.finish() }
}
