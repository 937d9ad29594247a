import Foundation
import StoreSupport

/// Rows of one entity as read from a store: immutable, and shared by the objects created from them.
///
/// A fetch fills pages, not objects: each row has one cell for each slot of the entity's layout. Cells are plain bytes
/// without reference counting; texts and binary data are in one arena. Strings, dates and numbers are created when an
/// object's attribute is read, and an object that is never changed never has values of its own. A page is also the
/// batch for which relationships are loaded: see `RelationshipBatches`.
package final class RowPage {
    /// One value of one row, sixteen plain bytes.
    package struct Cell: BitwiseCopyable {
        package enum Kind: UInt8, BitwiseCopyable {
            case null, integer, real
            /// UTF-8 text in the arena.
            case text
            /// Binary data in the arena; a UUID's sixteen bytes too.
            case blob
            /// Binary data in a file: `payload` is its number among the page's files.
            case file
            /// A to-one relationship: `payload` is the primary key, `entity` the destination's own entity.
            case reference
            /// A value that the store keeps as it is: `payload` is its number among the page's objects.
            case object
        }

        package var kind: Kind
        package var entity: UInt16
        /// The length of a text or blob in bytes.
        package var length: UInt32
        /// An integer, the bits of a double, a primary key, or an offset into the arena.
        package var payload: UInt64

        @inlinable
        package init(kind: Kind, entity: UInt16, length: UInt32, payload: UInt64) {
            (self.kind, self.entity, self.length, self.payload) = (kind, entity, length, payload)
        }

        static let null = Cell(kind: .null, entity: 0, length: 0, payload: 0)
        @inlinable @inline(__always) package static func integer(_ value: Int64) -> Cell {
            Cell(kind: .integer, entity: 0, length: 0, payload: UInt64(bitPattern: value))
        }
        @inlinable @inline(__always) package static func real(_ value: Double) -> Cell {
            Cell(kind: .real, entity: 0, length: 0, payload: value.bitPattern)
        }
        @inlinable @inline(__always) package static func reference(_ key: Int64, entity: Int) -> Cell {
            Cell(
                kind: .reference, entity: UInt16(truncatingIfNeeded: entity), length: 0,
                payload: UInt64(bitPattern: key))
        }
    }

    /// The primary key and the optimistic-locking version (`Z_OPT`) of a row.
    private struct Head {
        var key: Int64
        var version: Int64
    }

    /// The layout of the rows' own entity.
    package let layout: EntityLayout
    /// The store's number in its coordinator.
    let store: UInt16
    /// The number of cells of a row: the entity's slots.
    let width: Int
    // Unsafe, and without dynamic checks of exclusive access, because a cell is read for every attribute of every row.
    // Indexes are bounded by the layout, and only the store appends rows, before the page is shared.
    @exclusivity(unchecked) package private(set) var count = 0
    @exclusivity(unchecked) private var rowCapacity: Int
    @exclusivity(unchecked) private var heads: UnsafeMutablePointer<Head>
    @exclusivity(unchecked) @usableFromInline var cells: UnsafeMutablePointer<Cell>
    /// Whether files that should contain values are missing.
    @exclusivity(unchecked) package var missesFiles = false
    @exclusivity(unchecked) private var files: [MappedFile] = []
    @exclusivity(unchecked) private var objects: [ObjectValue] = []
    @exclusivity(unchecked) @usableFromInline var arena: UnsafeMutableRawPointer
    @exclusivity(unchecked) @usableFromInline var arenaCapacity: Int
    @exclusivity(unchecked) @usableFromInline var arenaCount = 0
    /// The region that contains the buffers above, until they grow. Nil if each is memory of its own.
    private let region: RowRegion?
    @exclusivity(unchecked) private var ownsRows = true
    @exclusivity(unchecked) private var ownsArena = true
    /// True if the rows were read ahead of access: their relationships are then likely to be accessed row by row too.
    var isReadAhead = false
    /// True if the rows are a batch of a fetch: their relationships are loaded for all of them.
    var isFetchBatch = false
    /// The time at which the rows were read; it is compared with a context's staleness interval.
    let readAt = ReadingTime.now
    /// The fetch whose objects get their rows later; the page itself then has no rows.
    package let fetched: FetchBatches?
    /// Batches of relationships already loaded for the rows, by the loader that owns them.
    @exclusivity(unchecked) var loaded: RelationshipBatches?

    package init(layout: EntityLayout, store: UInt16, rowCapacity: Int = 16, arenaCapacity: Int = 256) {
        self.layout = layout
        self.store = store
        fetched = nil
        region = nil
        width = layout.slots.count
        self.rowCapacity = max(1, rowCapacity)
        heads = .allocate(capacity: self.rowCapacity)
        cells = .allocate(capacity: self.rowCapacity * width)
        self.arenaCapacity = max(16, arenaCapacity)
        arena = .allocate(byteCount: self.arenaCapacity, alignment: 8)
    }

    /// A page with memory of a region; nil if the region has less than its rows and bytes need.
    package init?(layout: EntityLayout, store: UInt16, rows: Int, bytes: Int, in region: RowRegion) {
        let width = layout.slots.count
        let (headBytes, cellBytes) = (rows * MemoryLayout<Head>.stride, rows * width * MemoryLayout<Cell>.stride)
        guard let memory = region.allocate(byteCount: headBytes + cellBytes + bytes) else { return nil }
        self.layout = layout
        self.store = store
        self.region = region
        self.width = width
        fetched = nil
        rowCapacity = rows
        arenaCapacity = bytes
        heads = memory.bindMemory(to: Head.self, capacity: rows)
        cells = (memory + headBytes).bindMemory(to: Cell.self, capacity: rows * width)
        arena = memory + headBytes + cellBytes
        ownsRows = false
        ownsArena = false
    }

    /// A page without rows, for objects whose rows are read later.
    init(fetched: FetchBatches, layout: EntityLayout) {
        self.layout = layout
        self.fetched = fetched
        region = nil
        store = 0
        width = 0
        rowCapacity = 0
        heads = .allocate(capacity: 0)
        cells = .allocate(capacity: 0)
        arenaCapacity = 16
        arena = .allocate(byteCount: 16, alignment: 8)
    }

    deinit {
        deallocateRows()
        deallocateArena()
    }

    private func deallocateRows() {
        guard ownsRows else { return }
        heads.deallocate()
        cells.deallocate()
    }

    private func deallocateArena() {
        if ownsArena { arena.deallocate() }
    }

    /// The number of bytes in cells and arena, by which a store decides when to begin a new page.
    package var byteCount: Int { count * (width * MemoryLayout<Cell>.stride + MemoryLayout<Head>.stride) + arenaCount }
    /// The number of bytes of texts and binary data.
    package var arenaByteCount: Int { arenaCount }

    // MARK: - Filling, inlined into the loops of other modules, because each cell is a call

    /// Begins a row; its cells are null until they are set.
    package func append(key: Int64, version: Int64) {
        if count == rowCapacity { growRows() }
        (heads + count).initialize(to: Head(key: key, version: version))
        (cells + count * width).initialize(repeating: .null, count: width)
        count += 1
    }

    private func growRows() {
        rowCapacity = max(16, rowCapacity * 2)
        let grownHeads = Self.copy(heads, count: count, capacity: rowCapacity)
        let grownCells = Self.copy(cells, count: count * width, capacity: rowCapacity * width)
        deallocateRows()
        (heads, cells, ownsRows) = (grownHeads, grownCells, true)
    }

    private static func copy<Element: BitwiseCopyable>(
        _ elements: UnsafeMutablePointer<Element>, count: Int, capacity: Int
    ) -> UnsafeMutablePointer<Element> {
        let grown = UnsafeMutablePointer<Element>.allocate(capacity: capacity)
        grown.initialize(from: elements, count: count)
        return grown
    }

    /// Sets a cell of the last row.
    @inlinable @inline(__always)
    package func set(_ cell: Cell, slot: Int) {
        cells[(count - 1) * width + slot] = cell
    }

    /// Copies bytes into the arena and sets a cell of the last row to them.
    @inlinable @inline(__always)
    package func setBytes(_ bytes: UnsafeRawBufferPointer, kind: Cell.Kind, slot: Int) {
        if arenaCount + bytes.count > arenaCapacity { growArena(by: bytes.count) }
        if let base = bytes.baseAddress, bytes.count > 0 {
            (arena + arenaCount).copyMemory(from: base, byteCount: bytes.count)
        }
        cells[(count - 1) * width + slot] = Cell(
            kind: kind, entity: 0, length: UInt32(truncatingIfNeeded: bytes.count), payload: UInt64(arenaCount))
        arenaCount += bytes.count
    }

    /// Sets a cell of the last row to the content of a file.
    package func set(_ file: MappedFile, slot: Int) {
        set(Cell(kind: .file, entity: 0, length: 0, payload: UInt64(files.count)), slot: slot)
        files.append(file)
    }

    /// Sets a cell of the last row to a value that is kept as it is.
    func set(_ object: ObjectValue, slot: Int) {
        set(Cell(kind: .object, entity: 0, length: 0, payload: UInt64(objects.count)), slot: slot)
        objects.append(object)
    }

    @usableFromInline
    func growArena(by count: Int) {
        let capacity = max(arenaCount + count, arenaCapacity * 2)
        let grown = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        grown.copyMemory(from: arena, byteCount: arenaCount)
        deallocateArena()
        (arena, ownsArena) = (grown, true)
        arenaCapacity = capacity
    }

    // MARK: - Reading

    /// The key of a row's object.
    @inline(__always)
    package func key(ofRow row: Int) -> ObjectKey {
        ObjectKey(store: store, entity: UInt16(truncatingIfNeeded: layout.index), number: heads[row].key)
    }

    /// The primary key of a row.
    @inline(__always)
    package func primaryKey(ofRow row: Int) -> Int64 { heads[row].key }

    /// The optimistic-locking version of a row.
    @inline(__always)
    func version(ofRow row: Int) -> Int64 { heads[row].version }

    @inline(__always)
    package func cell(row: Int, slot: Int) -> Cell {
        cells[row * width + slot]
    }

    /// The cells of a row, one for each slot; valid as long as the page, because no rows are appended to a page that is
    /// shared.
    @inline(__always)
    func cells(row: Int) -> UnsafePointer<Cell> {
        UnsafePointer(cells + row * width)
    }

    /// The bytes of a text or blob cell; valid as long as the page.
    @inline(__always)
    func bytes(of cell: Cell) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: arena + Int(cell.payload), count: Int(cell.length))
    }

    /// The file of a cell.
    func file(of cell: Cell) -> MappedFile { files[Int(cell.payload)] }

    /// The value of a cell that the store keeps as it is.
    func object(of cell: Cell) -> Any { objects[Int(cell.payload)].value }

    /// The string of a text cell. Invalid UTF-8 is repaired, because SQLite does not validate text.
    func string(of cell: Cell) -> String {
        String(decoding: bytes(of: cell), as: UTF8.self)
    }
}
