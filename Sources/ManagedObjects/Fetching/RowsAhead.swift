/// Rows that a context has read before anyone asked for them: the batch around a fault, members of relationships.
///
/// Objects made or fired later find their row here and need no statement. Everything is dropped when the context saves,
/// merges or refreshes: what lies here is as old as the statement that read it. Memory is bounded: when some tens of
/// thousands of rows have come together, the ones before them go.
struct RowsAhead {
    private var recent = RowTable()
    private var earlier = RowTable()

    /// Rows in one of the two tables before they change places.
    private static let capacity = 65_536

    func row(for key: ObjectKey) -> (RowPage, Int)? {
        recent.row(for: key) ?? earlier.row(for: key)
    }

    func contains(_ key: ObjectKey) -> Bool { row(for: key) != nil }

    /// Enters a page's rows; a row that is here already is replaced by the newer one.
    mutating func add(_ page: RowPage) {
        if recent.count > Self.capacity {
            earlier = recent
            recent = RowTable()
        }
        recent.add(page)
    }

    mutating func removeAll() {
        recent = RowTable()
        earlier = RowTable()
    }
}

/// Rows of pages by key.
private struct RowTable {
    /// A place in the table; `page` is -1 where it is free.
    private struct Entry {
        var key = ObjectKey(store: 0, entity: 0, number: 0)
        var page: Int32 = -1
        var row: Int32 = 0
    }

    private var pages: [RowPage] = []
    // Open addressing, because a row is entered for every member of every relationship that a loop comes by.
    private var entries: ContiguousArray<Entry> = []
    private var mask = 0
    private(set) var count = 0

    func row(for key: ObjectKey) -> (RowPage, Int)? {
        guard let slot = slot(of: key) else { return nil }
        return (pages[Int(entries[slot].page)], Int(entries[slot].row))
    }

    mutating func add(_ page: RowPage) {
        let number = Int32(truncatingIfNeeded: pages.count)
        pages.append(page)
        reserve(count + page.count)
        let entity = UInt16(truncatingIfNeeded: page.layout.index)
        let mask = mask
        count += entries.withUnsafeMutableBufferPointer { entries in
            var added = 0
            for (row, key) in page.keys.enumerated() {
                let entry = Entry(
                    key: ObjectKey(store: page.store, entity: entity, number: key), page: number,
                    row: Int32(truncatingIfNeeded: row))
                if Self.enter(entry, into: entries, mask: mask) { added += 1 }
            }
            return added
        }
    }

    // MARK: - The table

    private func slot(of key: ObjectKey) -> Int? {
        guard count > 0 else { return nil }
        var slot = key.spread & mask
        while entries[slot].page >= 0 {
            if entries[slot].key == key { return slot }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// Enters a row; false where it takes the place of another.
    private static func enter(_ entry: Entry, into entries: UnsafeMutableBufferPointer<Entry>, mask: Int) -> Bool {
        var slot = entry.key.spread & mask
        while entries[slot].page >= 0 {
            if entries[slot].key == entry.key {
                entries[slot] = entry
                return false
            }
            slot = (slot + 1) & mask
        }
        entries[slot] = entry
        return true
    }

    private mutating func reserve(_ wanted: Int) {
        guard wanted * 2 > entries.count else { return }
        var capacity = 64
        while capacity < wanted * 2 { capacity *= 2 }
        let old = entries
        entries = ContiguousArray(repeating: Entry(), count: capacity)
        mask = capacity - 1
        let mask = mask
        entries.withUnsafeMutableBufferPointer { entries in
            for entry in old where entry.page >= 0 { _ = Self.enter(entry, into: entries, mask: mask) }
        }
    }
}
