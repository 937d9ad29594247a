import Foundation

/// A row as values, by slot.
package struct ValueRow {
    /// The index of the row's own entity in the model.
    package var entity: UInt16
    package var version: Int64
    package var values: ContiguousArray<Value>

    package init(entity: UInt16, version: Int64, values: ContiguousArray<Value>) {
        self.entity = entity
        self.version = version
        self.values = values
    }
}

/// Fills pages with rows that are values, one page for each entity until it is full.
package struct ValuePages {
    package private(set) var pages: [RowPage] = []
    /// The rows in the order in which they were added.
    package private(set) var order: ContiguousArray<RowResult.Position> = []

    private let entities: [NSEntityDescription]
    private let store: UInt16
    private var open: [UInt16: Int] = [:]
    private var positions: [ObjectKey: RowResult.Position] = [:]

    private static let fullRowCount = 4096
    private static let fullByteCount = 4 << 20

    package init(entities: [NSEntityDescription], store: UInt16) {
        self.entities = entities
        self.store = store
    }

    /// Adds a row to the order, and to a page unless it was added already. Does nothing if there is no row.
    package mutating func add(_ key: ObjectKey, row: () throws -> ValueRow?) rethrows {
        if let position = positions[key] {
            order.append(position)
            return
        }
        guard let row = try row() else { return }
        let index = pageIndex(of: key.entity)
        let page = pages[index]
        page.append(key: key.number, version: row.version)
        for (slot, value) in row.values.enumerated() { page.setValue(value, slot: slot) }
        let position = RowResult.Position(
            page: Int32(truncatingIfNeeded: index), row: Int32(truncatingIfNeeded: page.count - 1))
        positions[key] = position
        order.append(position)
    }

    private mutating func pageIndex(of entity: UInt16) -> Int {
        if let index = open[entity], pages[index].count < Self.fullRowCount,
            pages[index].byteCount < Self.fullByteCount
        {
            return index
        }
        pages.append(RowPage(layout: entities[Int(entity)].layout, store: store))
        open[entity] = pages.count - 1
        return pages.count - 1
    }
}

extension RowPage {
    /// Sets a cell of the row appended last. Decimals and URIs are stored as text, which is exact; transformable values
    /// as bytes, except those that the store keeps as they are.
    fileprivate func setValue(_ value: Value, slot: Int) {
        switch value {
        case .null: break
        case .integer(let number): set(.integer(number), slot: slot)
        case .real(let number): set(.real(number), slot: slot)
        case .string(let text): setText(text, slot: slot)
        case .data(let data): data.withUnsafeBytes { setBytes($0, kind: .blob, slot: slot) }
        case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { setBytes($0, kind: .blob, slot: slot) }
        case .reference(let key): set(.reference(key.number, entity: Int(key.entity)), slot: slot)
        case .decimal(let number): setText(number.description, slot: slot)
        case .object(let box):
            if layout.slots[slot].kind == .transformable {
                set(box, slot: slot)
            } else if let url = box.value as? URL {
                setText(url.absoluteString, slot: slot)
            }
        }
    }

    private func setText(_ text: String, slot: Int) {
        var text = text
        text.withUTF8 { setBytes(UnsafeRawBufferPointer($0), kind: .text, slot: slot) }
    }
}
