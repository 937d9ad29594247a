import ManagedObjects
import SQLiteConnections

/// Found rows, one at a time.
package struct FoundRows {
    private let statement: SQLStatement
    private let table: EntityRows
    private let positions: [Int]

    init(_ statement: SQLStatement, table: EntityRows, positions: [Int]) {
        self.statement = statement
        self.table = table
        self.positions = positions
    }

    /// Steps to the next row; false after the last.
    package func next() throws -> Bool { try statement.step() }
    /// Ends reading.
    package func finish() { statement.finish() }

    package var key: Int64 { statement.integer(0) }
    /// The model index of the row's entity.
    package var entity: Int? { table.writer.batch.schema.entityIndex(number: statement.integer(1)) }

    package func isNull(_ slot: Int) -> Bool { statement.isNull(positions[slot]) }
    package func integer(_ slot: Int) -> Int64 { statement.integer(positions[slot]) }

    /// A number, or a date in seconds since 2001; a text is converted to a number.
    package func double(_ slot: Int) -> Double { statement.double(positions[slot]) }

    /// Copies the value of a slot to a cell, unless it is in a form that values of its kind do not usually have.
    func copyValue(of slot: Int, kind: EntityLayout.Slot.Kind, to row: Int, of batch: RowBatch) {
        let column = positions[slot]
        guard column >= 0 else { return batch.setNull(row, slot) }
        switch (kind, statement.type(column)) {
        case (_, .null): batch.setNull(row, slot)
        case (.integer16, .integer), (.integer32, .integer), (.integer64, .integer), (.boolean, .integer):
            batch.set(integer(slot), row, slot)
        case (.double, .integer), (.double, .real), (.float, .integer), (.float, .real), (.date, .integer),
            (.date, .real), (.decimal, .integer), (.decimal, .real):
            batch.set(double(slot), row, slot)
        case (.string, .text), (.uri, .text): batch.set(text(slot), isText: true, row, slot)
        case (.uuid, .blob): batch.set(bytes(slot), isText: false, row, slot)
        default: break
        }
    }

    /// Data, valid until the next row.
    package func bytes(_ slot: Int) -> UnsafeRawBufferPointer { statement.bytes(positions[slot]) }

    /// A text as UTF-8, valid until the next row.
    package func text(_ slot: Int) -> UnsafeRawBufferPointer {
        statement.textBytes(positions[slot]) ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }
}
