import Foundation
import ManagedObjects
import SQLStatements
import SQLiteConnections
import StoreSupport

/// Reads rows of an entity and its subentities into pages.
///
/// The decoding of each column is part of the plan. For each row the loop finds the entity by its `Z_ENT` and decodes
/// that entity's columns.
final class RowReader {
    /// The maximum number of rows of a page, and the number of bytes after which a new page is begun.
    private static let rowLimit = 4096
    private static let byteLimit = 1 << 20
    /// The number of pages after which further ones are made in regions: a result of that size fills some of these.
    private static let pagesWithoutRegion = 2

    let plan: RowPlan
    // Without dynamic checks of exclusive access, because this is accessed for every row, and a reader is used by one
    // statement only.
    @exclusivity(unchecked) private(set) var pages: [RowPage] = []

    private let schema: SQLSchema
    private let store: UInt16
    private let externalData: ExternalData?
    /// The index in `pages` of the page that is being filled, by leaf, or -1.
    @exclusivity(unchecked) private var pageByLeaf: [Int]
    /// The leaf and the page of the previous row: most rows follow others of the same entity. Unmanaged because it
    /// would otherwise be retained for every row; `pages` retains it.
    @exclusivity(unchecked) private var lastLeaf = -1
    @exclusivity(unchecked) private var lastPage: Unmanaged<RowPage>?
    /// The region of the page that was made last.
    private var region: RowRegion?

    init(_ plan: RowPlan, schema: SQLSchema, store: UInt16, externalData: ExternalData?) {
        self.plan = plan
        self.schema = schema
        self.store = store
        self.externalData = externalData
        pageByLeaf = [Int](repeating: -1, count: plan.leaves.count)
    }

    /// Discards the rows that were read, because the statement is executed again.
    func restart() {
        pages = []
        pageByLeaf = [Int](repeating: -1, count: plan.leaves.count)
        (lastLeaf, lastPage, region) = (-1, nil, nil)
    }

    /// Reads all rows of a statement without their order.
    func readAll(_ statement: some SQLCursor) throws {
        while try statement.step() { _ = readRow(statement) }
    }

    /// Reads all rows of a statement whose first columns are the reader's, in their order.
    func readAll(_ statement: some SQLCursor, order: inout ContiguousArray<RowResult.Position>) throws {
        while try statement.step() {
            if let position = readRow(statement) { order.append(position) }
        }
    }

    /// Reads the current row of a statement. Nil for a row of an unknown entity.
    func readRow(_ row: some SQLRow) -> RowResult.Position? {
        let number = row.integer(1)
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
    private func readCells(_ row: some SQLRow, leaf: Int, into page: RowPage) {
        page.append(key: row.integer(0), version: row.integer(2))
        for step in plan.leaves[leaf].steps {
            // The type is queried only if the value might be NULL, which avoids a call for most columns.
            switch step.decoder {
            case .integer:
                let number = row.integer(step.column)
                if number == 0, row.isNull(step.column) { continue }
                page.set(.integer(number), slot: step.slot)
            case .real:
                // TIMESTAMP has numeric affinity: whole seconds are returned as integers.
                let number = row.double(step.column)
                if number == 0, row.isNull(step.column) { continue }
                page.set(.real(number), slot: step.slot)
            case .decimal:
                switch row.type(step.column) {
                case .null: continue
                case .integer: page.set(.integer(row.integer(step.column)), slot: step.slot)
                case .real: page.set(.real(row.double(step.column)), slot: step.slot)
                case .text, .blob:
                    guard let text = row.textBytes(step.column) else { continue }
                    page.setBytes(text, kind: .text, slot: step.slot)
                }
            case .text:
                guard let text = row.textBytes(step.column) else { continue }
                page.setBytes(text, kind: .text, slot: step.slot)
            case .blob:
                if row.isNull(step.column) { continue }
                page.setBytes(row.bytes(step.column), kind: .blob, slot: step.slot)
            case .uuid:
                readUUID(row.bytes(step.column), slot: step.slot, page: page)
            case .external:
                if row.isNull(step.column) { continue }
                readExternal(row.bytes(step.column), slot: step.slot, page: page)
            case .reference:
                let key = row.integer(step.column)
                if key == 0, row.isNull(step.column) { continue }
                var entity = step.destination
                if step.companion >= 0, !row.isNull(step.companion) {
                    entity = schema.entityIndex(number: row.integer(step.companion)) ?? entity
                }
                page.set(.reference(key, entity: entity), slot: step.slot)
            }
        }
    }

    private func page(forLeaf leaf: Int) -> RowPage {
        var full: RowPage?
        if pageByLeaf[leaf] >= 0 {
            let page = pages[pageByLeaf[leaf]]
            if Self.hasRoom(page) { return page }
            full = page
        }
        let page = newPage(plan.leaves[leaf].layout, after: full)
        pageByLeaf[leaf] = pages.count
        pages.append(page)
        return page
    }

    /// A page to be filled. One that follows a full page is likely to become full too.
    private func newPage(_ layout: EntityLayout, after full: RowPage?) -> RowPage {
        guard let full else { return RowPage(layout: layout, store: store) }
        let rows = full.count
        // The texts of the next rows are rarely shorter or longer by an eighth.
        let bytes = full.arenaByteCount + full.arenaByteCount / 8
        if pages.count >= Self.pagesWithoutRegion {
            if let region, let page = RowPage(layout: layout, store: store, rows: rows, bytes: bytes, in: region) {
                return page
            }
            let next = RowRegion()
            if let page = RowPage(layout: layout, store: store, rows: rows, bytes: bytes, in: next) {
                region = next
                return page
            }
        }
        return RowPage(layout: layout, store: store, rowCapacity: rows, arenaCapacity: bytes)
    }

    @inline(__always)
    private static func hasRoom(_ page: RowPage) -> Bool {
        page.count < rowLimit && page.byteCount < byteLimit
    }

    // MARK: - Bytes

    /// Sixteen bytes, or the text that some other programs write.
    private func readUUID(_ bytes: UnsafeRawBufferPointer, slot: Int, page: RowPage) {
        if bytes.count == 16 {
            page.setBytes(bytes, kind: .blob, slot: slot)
        } else if bytes.count == 36, let uuid = UUID(uuidString: String(decoding: bytes, as: UTF8.self)) {
            withUnsafeBytes(of: uuid.uuid) { page.setBytes($0, kind: .blob, slot: slot) }
        }
    }

    /// Data after a marker byte, or the name of a file, whose content is read by an access. If the file does not exist, the cell
    /// is null but keeps the file's name: see ``RowPage/missingFile(row:slot:)``.
    private func readExternal(_ bytes: UnsafeRawBufferPointer, slot: Int, page: RowPage) {
        if let name = ExternalData.name(in: bytes) {
            switch externalData?.content(named: name) {
            case .file(let file): page.set(file, slot: slot)
            case .data(let data): data.withUnsafeBytes { page.setBytes($0, kind: .blob, slot: slot) }
            case nil:
                page.setBytes(UnsafeRawBufferPointer(rebasing: bytes[1..<37]), kind: .null, slot: slot)
                page.missesFiles = true
            }
        } else if bytes.first == ExternalData.Marker.inline {
            page.setBytes(UnsafeRawBufferPointer(rebasing: bytes.dropFirst()), kind: .blob, slot: slot)
        } else {
            // Written before the attribute allowed external storage.
            page.setBytes(bytes, kind: .blob, slot: slot)
        }
    }
}
