/// Rows that a context has read before anyone asked for them: the batch around a fault, members of relationships.
///
/// Objects made or fired later find their row here and need no statement. Everything is dropped when the context saves,
/// merges, refreshes or sweeps: what lies here is as old as the statement that read it.
struct RowsAhead {
    private struct Position {
        var page: Int32
        var row: Int32
    }

    private var pages: [RowPage] = []
    private var positions: [ObjectKey: Position] = [:]

    var isEmpty: Bool { pages.isEmpty }

    func row(for key: ObjectKey) -> (RowPage, Int)? {
        guard !pages.isEmpty, let position = positions[key] else { return nil }
        return (pages[Int(position.page)], Int(position.row))
    }

    func contains(_ key: ObjectKey) -> Bool { positions[key] != nil }

    mutating func add(_ page: RowPage) {
        let number = Int32(truncatingIfNeeded: pages.count)
        pages.append(page)
        positions.reserveCapacity(positions.count + page.count)
        let entity = UInt16(truncatingIfNeeded: page.layout.entity.index)
        for row in 0..<page.count {
            positions[ObjectKey(store: page.store, entity: entity, number: page.keys[row])] = Position(
                page: number, row: Int32(truncatingIfNeeded: row))
        }
    }

    mutating func removeAll() {
        guard !pages.isEmpty else { return }
        pages = []
        positions = [:]
    }
}
