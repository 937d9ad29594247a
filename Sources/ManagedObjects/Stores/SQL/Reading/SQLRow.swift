import Foundation
import GRDB

/// The current row of a statement. Columns are counted from 0.
protocol SQLRow {
    func isNull(_ column: Int) -> Bool
    /// A number; 0 for NULL.
    func integer(_ column: Int) -> Int64
    /// A number; 0 for NULL.
    func double(_ column: Int) -> Double
    /// The type of the stored value.
    func type(_ column: Int) -> SQLValueType
    /// The bytes of a blob, or of a text in UTF-8, valid until the next step. Empty for NULL.
    func bytes(_ column: Int) -> UnsafeRawBufferPointer
    /// A value as UTF-8, valid until the next step; nil for NULL.
    func textBytes(_ column: Int) -> UnsafeRawBufferPointer?
}

/// The type of a stored value.
enum SQLValueType {
    case null, integer, real, text, blob
}

extension SQLRow {
    func text(_ column: Int) -> String? {
        textBytes(column).map { String(decoding: $0, as: UTF8.self) }
    }

    func data(_ column: Int) -> Data? {
        isNull(column) ? nil : Data(bytes(column))
    }

    func value(_ column: Int) -> DatabaseValue {
        switch type(column) {
        case .integer: integer(column).databaseValue
        case .real: double(column).databaseValue
        case .text: (text(column) ?? "").databaseValue
        case .blob: (data(column) ?? Data()).databaseValue
        case .null: .null
        }
    }
}

/// A statement whose rows are read one after the other.
protocol SQLCursor: SQLRow {
    /// Moves to the next row, at first to the first one; false if there is none.
    func step() throws -> Bool
    /// Ends reading. Must be called after the last step.
    func finish()
}
