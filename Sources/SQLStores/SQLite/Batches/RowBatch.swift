import Foundation
import ManagedObjects
import SQLiteConnections

/// The values of some rows of one table, by slot, in the types of their columns. A batch is filled, written, and
/// reused; it has as many rows as one lookup statement has keys. Texts and bytes are stored consecutively in the
/// batch's own memory, so that a value needs no allocation.
package final class RowBatch {
    /// The type of a cell.
    package enum Kind: UInt8 {
        /// No value was set.
        case absent
        case null, integer, real, text, bytes
        /// The key of a referenced row.
        case reference
    }

    struct Cell {
        /// The number, or the offset of the bytes in the memory.
        var bits: UInt64 = 0
        var count: UInt32 = 0
        /// For a reference, the index of its entity in the model.
        var entity: UInt16 = 0
        var kind = Kind.absent
    }

    private let width: Int
    // A pointer, because cells are accessed very often, and an array would check for unique reference on each write.
    private let cells: UnsafeMutablePointer<Cell>
    /// The number of rows.
    package private(set) var count = 0
    // Raw memory, because SQLite reads it while a statement runs.
    private var memory = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 8)
    private var capacity = 4096
    private var used = 0
    /// The number of bytes in use when the last row was begun.
    private var usedBefore = 0

    init(width: Int) {
        self.width = width
        cells = .allocate(capacity: width * EntityRows.lookupCount)
    }

    deinit {
        memory.deallocate()
        cells.deallocate()
    }

    /// Whether the batch has no room for another row.
    package var isFull: Bool { count == EntityRows.lookupCount }

    /// Begins a row without values, and returns its index. The batch must not be full.
    @discardableResult
    package func addRow() -> Int {
        precondition(count < EntityRows.lookupCount, "The batch is full.")
        (cells + count * width).initialize(repeating: Cell(), count: width)
        count += 1
        usedBefore = used
        return count - 1
    }

    /// Removes the last row.
    package func removeLast() {
        count -= 1
        used = usedBefore
    }

    /// Removes all rows.
    package func removeAll() {
        count = 0
        used = 0
    }

    // MARK: - Writing

    package func setNull(_ row: Int, _ slot: Int) { self[row, slot] = Cell(kind: .null) }

    package func set(_ integer: Int64, _ row: Int, _ slot: Int) {
        self[row, slot] = Cell(bits: UInt64(bitPattern: integer), kind: .integer)
    }

    package func set(_ real: Double, _ row: Int, _ slot: Int) {
        self[row, slot] = Cell(bits: real.bitPattern, kind: .real)
    }

    /// A decimal, which stores represent as a number.
    package func set(_ decimal: Decimal, _ row: Int, _ slot: Int) { set(decimal.nearestDouble, row, slot) }

    package func setReference(to key: Int64, entity: Int, _ row: Int, _ slot: Int) {
        self[row, slot] = Cell(
            bits: UInt64(bitPattern: key), entity: UInt16(truncatingIfNeeded: entity), kind: .reference)
    }

    /// A text as UTF-8, or bytes.
    package func set(_ bytes: UnsafeRawBufferPointer, isText: Bool, _ row: Int, _ slot: Int) {
        if used + bytes.count > capacity { grow(to: used + bytes.count) }
        if let base = bytes.baseAddress { memory.advanced(by: used).copyMemory(from: base, byteCount: bytes.count) }
        self[row, slot] = Cell(
            bits: UInt64(used), count: UInt32(truncatingIfNeeded: bytes.count), kind: isText ? .text : .bytes)
        used += bytes.count
    }

    private func grow(to needed: Int) {
        let larger = max(needed, capacity * 2)
        let new = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
        new.copyMemory(from: memory, byteCount: used)
        memory.deallocate()
        (memory, capacity) = (new, larger)
    }

    // MARK: - Reading

    package func kind(_ row: Int, _ slot: Int) -> Kind { self[row, slot].kind }
    package func integer(_ row: Int, _ slot: Int) -> Int64 { Int64(bitPattern: self[row, slot].bits) }
    package func double(_ row: Int, _ slot: Int) -> Double { Double(bitPattern: self[row, slot].bits) }
    /// For a reference, the index of its entity in the model.
    package func entity(_ row: Int, _ slot: Int) -> Int { Int(self[row, slot].entity) }
    /// The bytes of a text or of data, valid until the batch changes.
    package func bytes(_ row: Int, _ slot: Int) -> UnsafeRawBufferPointer { bytes(of: self[row, slot]) }

    func bytes(of cell: Cell) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: memory + Int(cell.bits), count: Int(cell.count))
    }

    subscript(row: Int, slot: Int) -> Cell {
        @inline(__always) get { cells[row * width + slot] }
        @inline(__always) set { cells[row * width + slot] = newValue }
    }

    /// Binds a cell.
    @inline(__always)
    func bind(_ cell: Cell, to statement: SQLStatement, at position: Int) {
        switch cell.kind {
        case .absent, .null: statement.bindNull(at: position)
        case .integer, .reference: statement.bind(Int64(bitPattern: cell.bits), at: position)
        case .real: statement.bind(Double(bitPattern: cell.bits), at: position)
        case .text: statement.bind(borrowed: bytes(of: cell), isText: true, at: position)
        case .bytes: statement.bind(borrowed: bytes(of: cell), isText: false, at: position)
        }
    }

    /// The engine's value of a cell.
    func value(of cell: Cell, kind: EntityLayout.Slot.Kind) -> Value {
        switch cell.kind {
        case .absent, .null, .reference: return .null
        case .integer: return .integer(Int64(bitPattern: cell.bits))
        case .real:
            let number = Double(bitPattern: cell.bits)
            return kind == .decimal ? .decimal(Decimal(shortestOf: number)) : .real(number)
        case .text:
            let text = String(decoding: bytes(of: cell), as: UTF8.self)
            guard kind == .uri else { return .string(text) }
            return URL(string: text).map { .object(ObjectValue($0)) } ?? .null
        case .bytes:
            let bytes = bytes(of: cell)
            guard kind == .uuid, bytes.count == 16 else { return .data(Data(bytes)) }
            return .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
        }
    }
}

/// A cursor over rows. Columns are counted from 0, after the leading key columns.
///
/// Values are decoded as for objects. Valid as long as the ``StoreRows`` that created it.
package struct RowCursor {
    let statement: SQLStatement

    init(_ statement: SQLStatement) { self.statement = statement }

    /// Steps to the next row; false after the last.
    @inline(__always)
    package func next() throws -> Bool { try statement.step() }

    /// Whether a column is null.
    @inline(__always)
    package func isNull(_ column: Int32) -> Bool { statement.isNull(Int(column)) }

    /// An integer, a Boolean, or a key.
    @inline(__always)
    package func integer(_ column: Int32) -> Int64 { statement.integer(Int(column)) }

    /// A floating-point number, or a date in seconds since 2001.
    @inline(__always)
    package func double(_ column: Int32) -> Double { statement.double(Int(column)) }

    /// A decimal, stored as a number or as text; nil if the column contains neither.
    package func decimal(_ column: Int32) -> Decimal? {
        switch statement.type(Int(column)) {
        case .integer: Decimal(integer(column))
        case .real: Decimal(shortestOf: double(column))
        default: statement.text(Int(column)).flatMap { Decimal(string: $0) }
        }
    }

    /// The UTF-8 of a text, valid until the next step.
    @inline(__always)
    package func text(_ column: Int32) -> UnsafeRawBufferPointer {
        statement.textBytes(Int(column)) ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// Data, valid until the next step; a UUID has sixteen bytes.
    @inline(__always)
    package func bytes(_ column: Int32) -> UnsafeRawBufferPointer { statement.bytes(Int(column)) }

    /// Ends reading before the last row.
    package func finish() { statement.finish() }
}
