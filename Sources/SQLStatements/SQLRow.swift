import Foundation

/// The current row of a statement. Columns are counted from 0.
package protocol SQLRow {
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
package enum SQLValueType {
    case null, integer, real, text, blob
}

extension SQLRow {
    @inlinable
    package func text(_ column: Int) -> String? {
        textBytes(column).map { String(decoding: $0, as: UTF8.self) }
    }

    @inlinable
    package func data(_ column: Int) -> Data? {
        isNull(column) ? nil : Data(bytes(column))
    }

    @inlinable
    package func value(_ column: Int) -> ColumnValue {
        switch type(column) {
        case .integer: .integer(integer(column))
        case .real: .real(double(column))
        case .text: .text(text(column) ?? "")
        case .blob: .blob(data(column) ?? Data())
        case .null: .null
        }
    }
}

/// A statement whose rows are read one after the other.
package protocol SQLCursor: SQLRow {
    /// Moves to the next row, at first to the first one; false if there is none.
    func step() throws -> Bool
    /// Ends reading. Must be called after the last step.
    func finish()
}

/// What receives the values of parameters, which are counted from 1.
package protocol SQLBinding {
    func bindNull(at position: Int)
    func bind(_ number: Int64, at position: Int)
    func bind(_ number: Double, at position: Int)
    func bind(_ text: String, at position: Int)
    func bind(_ data: Data, at position: Int)
    func bind(_ bytes: UnsafeRawBufferPointer, at position: Int)
}

/// The values of a statement's parameters in order.
package final class SQLArguments: SQLBinding {
    package private(set) var values: [ColumnValue] = []

    package init() {}

    /// The position of the next parameter.
    package var next: Int { values.count + 1 }

    package func append(_ value: ColumnValue) { values.append(value) }

    package func bindNull(at position: Int) { values.append(.null) }
    package func bind(_ number: Int64, at position: Int) { values.append(.integer(number)) }
    package func bind(_ number: Double, at position: Int) { values.append(.real(number)) }
    package func bind(_ text: String, at position: Int) { values.append(.text(text)) }
    package func bind(_ data: Data, at position: Int) { values.append(.blob(data)) }
    package func bind(_ bytes: UnsafeRawBufferPointer, at position: Int) { values.append(.blob(Data(bytes))) }
}
