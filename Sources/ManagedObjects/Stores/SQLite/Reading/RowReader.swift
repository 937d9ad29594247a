import Foundation
import GRDBSQLite

/// Reads rows of an entity and its subentities into pages.
///
/// What to do with each column is decided once, when the reader is made. For each row the loop finds the entity by its
/// `Z_ENT` and runs down that entity's columns.
final class RowReader {
    /// How the cell of a slot is made from a column.
    private struct Step {
        enum Decoder: UInt8 {
            case integer, real, decimal, text, blob, uuid, external, reference
        }

        var column: Int32
        var slot: Int
        var decoder: Decoder
        /// Of a reference: the column with the `Z_ENT` of its destination, or -1, and the destination as declared.
        var companion: Int32 = -1
        var destination: Int = 0
    }

    /// The columns of one entity, and the page being filled.
    private struct Leaf {
        let layout: EntityLayout
        var steps: [Step] = []
        var page: Int = -1
    }

    /// Rows of a page at most, and the bytes after which a new one is begun.
    private static let rowLimit = 4096
    private static let byteLimit = 1 << 20

    /// The names of the columns to select, in order, beginning with `Z_PK`, `Z_ENT`, `Z_OPT`.
    let columns: [String]
    private(set) var pages: [RowPage] = []

    private let schema: SQLSchema
    private let store: UInt16
    private let externalData: ExternalData?
    private var leaves: [Leaf] = []
    /// The position of each entity's leaf by `Z_ENT`, or -1.
    private var leafByNumber: [Int]

    init(
        schema: SQLSchema, entity: SQLEntity, includesSubentities: Bool = true, store: UInt16,
        externalData: ExternalData?
    ) {
        self.schema = schema
        self.store = store
        self.externalData = externalData
        var columns = ["Z_PK", "Z_ENT", "Z_OPT"]
        var positions: [String: Int] = [:]
        func position(of name: String) -> Int32 {
            if let known = positions[name] { return Int32(known) }
            positions[name] = columns.count
            columns.append(name)
            return Int32(columns.count - 1)
        }
        let numbers = includesSubentities ? entity.hierarchyNumbers : [entity.number]
        leafByNumber = [Int](repeating: -1, count: Int(clamping: (numbers.max() ?? 0) + 1))
        for number in numbers {
            guard let index = schema.entityIndex(number: number),
                let leaf = schema.entity(schema.model.orderedEntities[index])
            else { continue }
            let layout = leaf.entity.layout
            var steps: [Step] = []
            for (slot, column) in leaf.columns.enumerated() {
                guard let column else { continue }
                let description = layout.slots[slot]
                var step = Step(
                    column: position(of: column.name), slot: slot,
                    decoder: Self.decoder(of: description.kind, column: column))
                if description.kind == .toOne {
                    step.companion = column.companion.map { position(of: $0) } ?? -1
                    step.destination = description.destination?.index ?? 0
                }
                steps.append(step)
            }
            leafByNumber[Int(number)] = leaves.count
            leaves.append(Leaf(layout: layout, steps: steps))
        }
        self.columns = columns
    }

    private static func decoder(of kind: EntityLayout.Slot.Kind, column: SQLColumn) -> Step.Decoder {
        if column.hasStorageByte { return .external }
        switch kind {
        case .integer16, .integer32, .integer64, .boolean, .position: return .integer
        case .double, .float, .date: return .real
        case .decimal: return .decimal
        case .string, .uri: return .text
        case .uuid: return .uuid
        case .toOne: return .reference
        case .data, .transformable, .undefined: return .blob
        }
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
        guard number >= 0, number < Int64(leafByNumber.count) else { return nil }
        let leaf = leafByNumber[Int(number)]
        guard leaf >= 0 else { return nil }
        let page = page(forLeaf: leaf)
        page.append(key: sqlite3_column_int64(row, 0), version: sqlite3_column_int64(row, 2))
        for step in leaves[leaf].steps {
            let type = sqlite3_column_type(row, step.column)
            if type == SQLITE_NULL { continue }
            switch step.decoder {
            case .integer:
                page.set(.integer(sqlite3_column_int64(row, step.column)), slot: step.slot)
            case .real:
                // TIMESTAMP is a numeric affinity: whole seconds come back as integers.
                page.set(.real(sqlite3_column_double(row, step.column)), slot: step.slot)
            case .decimal:
                switch type {
                case SQLITE_INTEGER: page.set(.integer(sqlite3_column_int64(row, step.column)), slot: step.slot)
                case SQLITE_FLOAT: page.set(.real(sqlite3_column_double(row, step.column)), slot: step.slot)
                default: page.setBytes(Self.text(row, step.column), kind: .text, slot: step.slot)
                }
            case .text:
                page.setBytes(Self.text(row, step.column), kind: .text, slot: step.slot)
            case .blob:
                page.setBytes(Self.bytes(row, step.column), kind: .blob, slot: step.slot)
            case .uuid:
                readUUID(Self.bytes(row, step.column), slot: step.slot, page: page)
            case .external:
                readExternal(Self.bytes(row, step.column), slot: step.slot, page: page)
            case .reference:
                var entity = step.destination
                if step.companion >= 0, sqlite3_column_type(row, step.companion) != SQLITE_NULL {
                    entity = schema.entityIndex(number: sqlite3_column_int64(row, step.companion)) ?? entity
                }
                page.set(.reference(sqlite3_column_int64(row, step.column), entity: entity), slot: step.slot)
            }
        }
        return RowResult.Position(page: Int32(leaves[leaf].page), row: Int32(page.count - 1))
    }

    private func page(forLeaf leaf: Int) -> RowPage {
        if leaves[leaf].page >= 0 {
            let page = pages[leaves[leaf].page]
            if page.count < Self.rowLimit, page.byteCount < Self.byteLimit { return page }
        }
        let page = RowPage(layout: leaves[leaf].layout, store: store)
        leaves[leaf].page = pages.count
        pages.append(page)
        return page
    }

    // MARK: - Bytes

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
    /// The name of the file beside the store that should hold the value and does not exist; nil where nothing is missing.
    func missingFile(row: Int, slot: Int) -> String? {
        let cell = cell(row: row, slot: slot)
        guard cell.kind == .null, cell.length > 0 else { return nil }
        return string(of: cell)
    }
}
