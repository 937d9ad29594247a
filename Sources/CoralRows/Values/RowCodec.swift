import Coral
import CoreData
import GraphDocuments
import ManagedObjects
import SQLStores

/// The codec of a type whose values are columns of a row.
///
/// `RowCursor` reads columns by their number, `FoundRows` by their slot; a `RowBatch` contains the cells of a
/// document's records. The column or cell is not NULL where a method reads it.
protocol RowCodec: AttributeCodec {
    /// Whether values of the type may identify objects.
    var canIdentify: Bool { get }

    /// The value of a column.
    func read(_ column: Int32, of row: RowCursor) -> GraphValue

    /// Writes a column as JSON.
    func write(_ column: Int32, of row: RowCursor, to writer: inout JSONWriter) throws

    /// Writes a column as a field of a table.
    func write(_ column: Int32, of row: RowCursor, to table: inout TableWriter) throws

    /// Sets a cell to a value of the type, which is not null; false if columns cannot contain it.
    func bind(_ value: GraphValue, to rows: RowBatch, _ row: Int, _ slot: Int) -> Bool

    /// Whether a cell has the value of a found row: the same result as `isSame(_:_:by:)` for the two values.
    func isSame(
        _ found: FoundRows, _ given: RowBatch, _ row: Int, _ slot: Int, by equality: ValueEquality
    ) -> Bool

    /// Adds the value of a found row to the digest of a key; false if no value of a document can be equal to it.
    func add(_ found: FoundRows, _ slot: Int, to digest: inout KeyDigest) -> Bool
}

extension RowCodec {
    var canIdentify: Bool { false }

    func write(_ column: Int32, of row: RowCursor, to table: inout TableWriter) throws {
        try table.value(read(column, of: row))
    }

    func add(_ found: FoundRows, _ slot: Int, to digest: inout KeyDigest) -> Bool {
        digest.add(found.integer(slot))
        return true
    }
}

extension NSAttributeDescription {
    /// The codec of the attribute's columns; nil if rows do not contain its values.
    func rowCodec(
        dates: PlainLayout.DateForm = .exact, decimals: PlainLayout.DecimalForm = .number
    ) -> (any RowCodec)? {
        guard !isTransient else { return nil }
        return switch GraphSchema.Attribute(self).codec {
        case is DateCodec: DateCodec(form: dates)
        case is DecimalCodec: DecimalCodec(form: decimals)
        case let codec: codec as? any RowCodec
        }
    }
}

/// A column of rows with the values of an attribute.
package final class AttributeColumn {
    private let codec: any RowCodec
    private let column: Int32

    /// The column of an attribute; nil if rows do not contain its values.
    package init?(_ attribute: NSAttributeDescription, at column: Int32) {
        guard let codec = attribute.rowCodec() else { return nil }
        (self.codec, self.column) = (codec, column)
    }

    /// The value in a row.
    package func value(in row: RowCursor) -> GraphValue { row.isNull(column) ? .null : codec.read(column, of: row) }

    /// Writes the value in a row as a field of a table.
    package func write(_ row: RowCursor, to table: inout TableWriter) throws {
        if row.isNull(column) { try table.null() } else { try codec.write(column, of: row, to: &table) }
    }
}
