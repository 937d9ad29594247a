/// Rows that a context has read in advance: the batch around a fault, members of relationships.
///
/// Objects that are created or fired later get their row from here and need no statement. Everything is discarded when
/// the context saves, merges or refreshes, because the rows are as old as the statement that read them. Memory is
/// bounded: after some thousands of rows the older ones are discarded.
///
/// A row is found without a search by the number of its page. Rows are entered by key only when a row of their entity
/// is first looked up by key: members of relationships are mostly found by page.
struct PrefetchedRows {
    private var recent = Part(firstPage: 0)
    private var earlier = Part(firstPage: 0)

    /// The number of rows of the recent part at which it becomes the earlier part.
    private static let capacity = 16_384

    mutating func row(for key: ObjectKey) -> (RowPage, Int)? {
        recent.row(for: key) ?? earlier.row(for: key)
    }

    mutating func contains(_ key: ObjectKey) -> Bool { row(for: key) != nil }

    /// The number of the next page. Numbers are not reused.
    var endOfPages: Int { recent.firstPage + recent.pages.count }

    /// The page with a number, unless it was discarded.
    @inline(__always)
    func page(_ number: Int) -> RowPage? {
        let index = number - recent.firstPage
        if index >= 0 { return index < recent.pages.count ? recent.pages[index] : nil }
        let earlierIndex = number - earlier.firstPage
        return earlierIndex >= 0 && earlierIndex < earlier.pages.count ? earlier.pages[earlierIndex] : nil
    }

    /// Adds a page's rows; a row with the same key is replaced by the newer one.
    mutating func add(_ page: RowPage) {
        if recent.rowCount > Self.capacity {
            earlier = recent
            recent = Part(firstPage: endOfPages)
        }
        recent.add(page)
    }

    mutating func removeAll() {
        let end = endOfPages
        recent = Part(firstPage: end)
        earlier = Part(firstPage: end)
    }
}

/// Consecutively read pages, and their rows by key.
private struct Part {
    let firstPage: Int
    private(set) var pages: [RowPage] = []
    private(set) var rowCount = 0
    /// By the rows' own entity.
    private var tables: [RowTable] = []

    init(firstPage: Int) { self.firstPage = firstPage }

    mutating func add(_ page: RowPage) {
        let entity = page.layout.index
        while tables.count <= entity { tables.append(RowTable()) }
        tables[entity].waiting.append(Int32(truncatingIfNeeded: pages.count))
        pages.append(page)
        rowCount += page.count
    }

    mutating func row(for key: ObjectKey) -> (RowPage, Int)? {
        let entity = Int(key.entity)
        guard entity < tables.count else { return nil }
        return tables[entity].row(store: key.store, number: key.number, of: pages)
    }
}

/// Rows of one entity by key. Uses open addressing, because a row is looked up for every accessed object.
private struct RowTable {
    /// An entry of the table; `page` is -1 if it is free.
    private struct Entry {
        var number: Int64 = 0
        var page: Int32 = -1
        var row: Int32 = 0
    }

    /// Pages whose rows are not yet entered.
    var waiting: [Int32] = []
    private var entries: ContiguousArray<Entry> = []
    private var mask = 0
    private var count = 0

    mutating func row(store: UInt16, number: Int64, of pages: [RowPage]) -> (RowPage, Int)? {
        if !waiting.isEmpty { enterWaiting(pages) }
        guard count > 0 else { return nil }
        var slot = KeyHash.home(number, mask)
        while entries[slot].page >= 0 {
            if entries[slot].number == number {
                let page = pages[Int(entries[slot].page)]
                if page.store == store { return (page, Int(entries[slot].row)) }
            }
            slot = (slot + 1) & mask
        }
        return nil
    }

    private mutating func enterWaiting(_ pages: [RowPage]) {
        reserve(count + waiting.reduce(0) { $0 + pages[Int($1)].count })
        for page in waiting {
            for row in 0..<pages[Int(page)].count {
                let number = pages[Int(page)].primaryKey(ofRow: row)
                enter(Entry(number: number, page: page, row: Int32(truncatingIfNeeded: row)), of: pages)
            }
        }
        waiting = []
    }

    private mutating func enter(_ entry: Entry, of pages: [RowPage]) {
        var slot = KeyHash.home(entry.number, mask)
        while entries[slot].page >= 0 {
            if entries[slot].number == entry.number,
                pages[Int(entries[slot].page)].store == pages[Int(entry.page)].store
            {
                entries[slot] = entry
                return
            }
            slot = (slot + 1) & mask
        }
        entries[slot] = entry
        count += 1
    }

    private mutating func reserve(_ wanted: Int) {
        guard wanted * 2 > entries.count else { return }
        var capacity = 64
        while capacity < wanted * 2 { capacity *= 2 }
        let old = entries
        entries = ContiguousArray(repeating: Entry(), count: capacity)
        mask = capacity - 1
        for entry in old where entry.page >= 0 {
            var slot = KeyHash.home(entry.number, mask)
            while entries[slot].page >= 0 { slot = (slot + 1) & mask }
            entries[slot] = entry
        }
    }
}
