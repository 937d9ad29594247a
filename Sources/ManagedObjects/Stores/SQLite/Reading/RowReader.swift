import Foundation
import GRDBSQLite

/// Reads rows of an entity and its subentities into pages.
///
/// What to do with each column was decided when the plan was made. For each row the loop finds the entity by its
/// `Z_ENT` and runs down that entity's columns.
final class RowReader {
    /// Rows of a page at most, and the bytes after which a new one is begun.
    private static let rowLimit = 4096
    private static let byteLimit = 1 << 20

    let plan: RowPlan
    // Without dynamic checks of exclusive access, because every row passes here, and a reader is one statement's.
    @exclusivity(unchecked) private(set) var pages: [RowPage] = []

    private let schema: SQLSchema
    private let store: UInt16
    private let externalData: ExternalData?
    /// The page being filled of each leaf, by its position in `pages`, or -1.
    @exclusivity(unchecked) private var pageByLeaf: [Int]
    /// The leaf that the last row was of, and the page that it came into: most rows follow others of their kind. Unmanaged
    /// because it would be counted for every row; `pages` keeps it.
    @exclusivity(unchecked) private var lastLeaf = -1
    @exclusivity(unchecked) private var lastPage: Unmanaged<RowPage>?

    init(_ plan: RowPlan, schema: SQLSchema, store: UInt16, externalData: ExternalData?) {
        self.plan = plan
        self.schema = schema
        self.store = store
        self.externalData = externalData
        pageByLeaf = [Int](repeating: -1, count: plan.leaves.count)
    }

    /// Reads all rows of a statement whose first columns are the reader's, in their order.
    func readAll(_ statement: SQLStatement, order: inout ContiguousArray<RowResult.Position>) throws {
        while try statement.step() {
            if let position = readRow(statement.handle) { order.append(position) }
        }
    }

    /// Reads the row that a statement is at. Nil for a row of an entity that the reader does not know.
    func readRow(_ row: SQLite.Handle) -> RowResult.Position? {
        let number = sqlite3_column_int64(row, 1)
        guard number >= 0, number < Int64(plan.leafByNumber.count) else { return nil }
        let leaf = plan.leafByNumber[Int(number)]
        guard leaf >= 0 else { return nil }
        if leaf != lastLeaf || lastPage?._withUnsafeGuaranteedRef(Self.hasRoom) != true {
            lastPage = Unmanaged.passUnretained(page(forLeaf: leaf))
            lastLeaf = leaf
        }
        return lastPage?._withUnsafeGuaranteedRef { page in
            readCells(row, leaf: leaf, into: page)
            return RowResult.Position(page: Int32(pageByLeaf[leaf]), row: Int32(page.count - 1))
        }
    }

    @inline(__always)
    private func readCells(_ row: SQLite.Handle, leaf: Int, into page: RowPage) {
        page.append(key: sqlite3_column_int64(row, 0), version: sqlite3_column_int64(row, 2))
        for step in plan.leaves[leaf].steps {
            // The type is asked for only where the value might be NULL: a call less for most columns.
            switch step.decoder {
            case .integer:
                let number = sqlite3_column_int64(row, step.column)
                if number == 0, Self.isNull(row, step.column) { continue }
                page.set(.integer(number), slot: step.slot)
            case .real:
                // TIMESTAMP is a numeric affinity: whole seconds come back as integers.
                let number = sqlite3_column_double(row, step.column)
                if number == 0, Self.isNull(row, step.column) { continue }
                page.set(.real(number), slot: step.slot)
            case .decimal:
                switch sqlite3_column_type(row, step.column) {
                case SQLITE_NULL: continue
                case SQLITE_INTEGER: page.set(.integer(sqlite3_column_int64(row, step.column)), slot: step.slot)
                case SQLITE_FLOAT: page.set(.real(sqlite3_column_double(row, step.column)), slot: step.slot)
                default: page.setBytes(Self.text(row, step.column), kind: .text, slot: step.slot)
                }
            case .text:
                guard let start = sqlite3_column_text(row, step.column) else { continue }
                let count = Int(sqlite3_column_bytes(row, step.column))
                page.setBytes(UnsafeRawBufferPointer(start: start, count: count), kind: .text, slot: step.slot)
            case .blob:
                if Self.isNull(row, step.column) { continue }
                page.setBytes(Self.bytes(row, step.column), kind: .blob, slot: step.slot)
            case .uuid:
                readUUID(Self.bytes(row, step.column), slot: step.slot, page: page)
            case .external:
                if Self.isNull(row, step.column) { continue }
                readExternal(Self.bytes(row, step.column), slot: step.slot, page: page)
            case .reference:
                let key = sqlite3_column_int64(row, step.column)
                if key == 0, Self.isNull(row, step.column) { continue }
                var entity = step.destination
                if step.companion >= 0, sqlite3_column_type(row, step.companion) != SQLITE_NULL {
                    entity = schema.entityIndex(number: sqlite3_column_int64(row, step.companion)) ?? entity
                }
                page.set(.reference(key, entity: entity), slot: step.slot)
            }
        }
    }

    private func page(forLeaf leaf: Int) -> RowPage {
        var (rows, bytes) = (16, 256)
        if pageByLeaf[leaf] >= 0 {
            let page = pages[pageByLeaf[leaf]]
            if Self.hasRoom(page) { return page }
            // One page is full, and the next is likely to be.
            (rows, bytes) = (page.count, page.arenaByteCount)
        }
        let page = RowPage(
            layout: plan.leaves[leaf].layout, store: store, rowCapacity: rows, arenaCapacity: bytes)
        pageByLeaf[leaf] = pages.count
        pages.append(page)
        return page
    }

    @inline(__always)
    private static func hasRoom(_ page: RowPage) -> Bool {
        page.count < rowLimit && page.byteCount < byteLimit
    }

    // MARK: - Bytes

    @inline(__always)
    private static func isNull(_ row: SQLite.Handle, _ column: Int32) -> Bool {
        sqlite3_column_type(row, column) == SQLITE_NULL
    }

    @inline(__always)
    private static func text(_ row: SQLite.Handle, _ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_text(row, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(row, column)))
    }

    @inline(__always)
    private static func bytes(_ row: SQLite.Handle, _ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(row, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(row, column)))
    }

    /// Sixteen bytes, or a text as some other programs write it.
    private func readUUID(_ bytes: UnsafeRawBufferPointer, slot: Int, page: RowPage) {
        if bytes.count == 16 {
            page.setBytes(bytes, kind: .blob, slot: slot)
        } else if bytes.count == 36, let uuid = UUID(uuidString: String(decoding: bytes, as: UTF8.self)) {
            withUnsafeBytes(of: uuid.uuid) { page.setBytes($0, kind: .blob, slot: slot) }
        }
    }

    /// Data behind a marker. Where the file is absent the cell is null, but keeps the file's name: see
    /// ``RowPage/missingFile(row:slot:)``.
    private func readExternal(_ bytes: UnsafeRawBufferPointer, slot: Int, page: RowPage) {
        if let name = ExternalData.name(in: bytes) {
            if let data = externalData?.data(named: name) {
                data.withUnsafeBytes { page.setBytes($0, kind: .blob, slot: slot) }
            } else {
                page.setBytes(UnsafeRawBufferPointer(rebasing: bytes[1..<37]), kind: .null, slot: slot)
                page.missesFiles = true
            }
        } else if bytes.first == ExternalData.Marker.inline {
            page.setBytes(UnsafeRawBufferPointer(rebasing: bytes.dropFirst()), kind: .blob, slot: slot)
        } else {
            // Written before the attribute allowed files.
            page.setBytes(bytes, kind: .blob, slot: slot)
        }
    }
}

extension RowPage {
    /// The name of the file beside the store that should hold the value and does not exist; nil where nothing is
    /// missing.
    func missingFile(row: Int, slot: Int) -> String? {
        let cell = cell(row: row, slot: slot)
        guard cell.kind == .null, cell.length > 0 else { return nil }
        return string(of: cell)
    }

    /// A row's values, with those whose files do not exist as references to these files.
    func valuesAndMissingFiles(row: Int) -> ContiguousArray<Value> {
        var values = values(row: row)
        for slot in values.indices where values[slot].isNull {
            guard let name = missingFile(row: row, slot: slot) else { continue }
            values[slot] = .object(ObjectValue(MissingFileValue(name: name)))
        }
        return values
    }
}
