import Foundation

/// Values of some rows of one table, by slot, as columns hold them: filled, written, and filled again. As many rows as one
/// statement looks for. Texts and bytes lie
/// one after the other in memory of the batch's own, so that a value costs no allocation.
@_spi(Stores)
public final class RowBatch {
    /// What a cell holds.
    public enum Kind: UInt8 {
        /// Nothing was said.
        case absent
        case null, integer, real, text, bytes
        /// The key of a row that is referred to.
        case reference
    }

    struct Cell {
        /// The number, or where in the memory the bytes begin.
        var bits: UInt64 = 0
        var count: UInt32 = 0
        /// Of a reference, the entity's position in the model.
        var entity: UInt16 = 0
        var kind = Kind.absent
    }

    private let width: Int
    // A pointer, because nothing here is touched as often, and an array would be checked for who else has it each time.
    private let cells: UnsafeMutablePointer<Cell>
    /// The number of rows.
    public private(set) var count = 0
    // Raw memory, because SQLite reads it while a statement runs.
    private var memory = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 8)
    private var capacity = 4096
    private var used = 0
    /// What was used when the last row began.
    private var usedBefore = 0

    init(width: Int) {
        self.width = width
        cells = .allocate(capacity: width * EntityRows.lookupCount)
    }

    deinit {
        memory.deallocate()
        cells.deallocate()
    }

    /// Whether no more rows fit.
    public var isFull: Bool { count == EntityRows.lookupCount }

    /// Begins a row in which nothing is said, and gives its place. There must be room for it.
    @discardableResult
    public func addRow() -> Int {
        precondition(count < EntityRows.lookupCount, "The batch is full.")
        (cells + count * width).initialize(repeating: Cell(), count: width)
        count += 1
        usedBefore = used
        return count - 1
    }

    /// Forgets the row that was added last.
    public func removeLast() {
        count -= 1
        used = usedBefore
    }

    /// Forgets the rows.
    public func removeAll() {
        count = 0
        used = 0
    }

    // MARK: - Filling

    public func setNull(_ row: Int, _ slot: Int) { self[row, slot] = Cell(kind: .null) }

    public func set(_ integer: Int64, _ row: Int, _ slot: Int) {
        self[row, slot] = Cell(bits: UInt64(bitPattern: integer), kind: .integer)
    }

    public func set(_ real: Double, _ row: Int, _ slot: Int) {
        self[row, slot] = Cell(bits: real.bitPattern, kind: .real)
    }

    /// A decimal, which stores keep as a number.
    public func set(_ decimal: Decimal, _ row: Int, _ slot: Int) { set(decimal.nearestDouble, row, slot) }

    public func setReference(to key: Int64, entity: Int, _ row: Int, _ slot: Int) {
        self[row, slot] = Cell(
            bits: UInt64(bitPattern: key), entity: UInt16(truncatingIfNeeded: entity), kind: .reference)
    }

    /// A text as UTF-8, or bytes.
    public func set(_ bytes: UnsafeRawBufferPointer, isText: Bool, _ row: Int, _ slot: Int) {
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

    public func kind(_ row: Int, _ slot: Int) -> Kind { self[row, slot].kind }
    public func integer(_ row: Int, _ slot: Int) -> Int64 { Int64(bitPattern: self[row, slot].bits) }
    /// Of a reference, the entity's position in the model.
    public func entity(_ row: Int, _ slot: Int) -> Int { Int(self[row, slot].entity) }
    /// The bytes of a text or of data, valid until the batch changes.
    public func bytes(_ row: Int, _ slot: Int) -> UnsafeRawBufferPointer { bytes(of: self[row, slot]) }

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

    /// A cell as the engine's value.
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
