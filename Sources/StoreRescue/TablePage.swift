/// A page of a table's b-tree: an interior page with its children, or a leaf with its rows.
struct TablePage {
    /// A row of a leaf.
    struct Cell {
        /// The position of the cell in the page.
        let start: Int
        let key: Int64
        /// The number of bytes of the row's record.
        let payloadSize: Int
        /// The part of the record that is in the page.
        let local: Range<Int>
        /// The page with the next part; nil if the record is complete.
        let overflow: Int?
    }

    let number: Int
    let bytes: [UInt8]
    let isLeaf: Bool
    /// The children of an interior page, in order; 0 for a child whose pointer is damaged.
    private(set) var children: [Int] = []
    /// The rows of a leaf.
    private(set) var cells: [Cell] = []
    /// The number of cells that are not valid.
    private(set) var damagedCount = 0
    /// Whether a cell ends where the page ends, as in every page that SQLite has filled.
    private(set) var endsAtEnd = false
    /// Whether each byte after the beginning of the cells belongs to a cell, a free block, or the fragments that the page counts, as in
    /// every page that SQLite has written: otherwise it has cells that its header does not count. True if a cell is not valid.
    private(set) var isAccountedFor = true
    /// The bytes between the positions of the cells and the first cell, which belong to no cell.
    private(set) var gap: Range<Int> = 0..<0

    /// Parses a page; nil if it is not a page of a table.
    init?(_ bytes: [UInt8], number: Int, usableSize: Int) {
        let start = number == 1 ? 100 : 0
        guard bytes.count >= usableSize, usableSize > start + 12 else { return nil }
        guard bytes[start] == 13 || bytes[start] == 5 else { return nil }
        self.number = number
        self.bytes = bytes
        isLeaf = bytes[start] == 13
        let count = Self.integer(bytes, start + 3, 2)
        let header = start + (isLeaf ? 8 : 12)
        let declared = Self.integer(bytes, start + 5, 2)
        let content = declared == 0 ? 65536 : declared
        guard header + 2 * count <= content, content <= usableSize else { return nil }
        gap = header + 2 * count..<content
        var last: Int64?
        var used = 0
        for index in 0..<count {
            let offset = Self.integer(bytes, header + 2 * index, 2)
            guard offset >= header + 2 * count, offset < usableSize else {
                damagedCount += 1
                if !isLeaf { children.append(0) }
                continue
            }
            if isLeaf {
                // Keys ascend: a cell with another key is not one of this page.
                if let cell = Self.cell(bytes, offset, usableSize), last.map({ $0 < cell.key }) ?? true {
                    last = cell.key
                    cells.append(cell)
                    let end = cell.local.upperBound + (cell.overflow == nil ? 0 : 4)
                    // A cell has the four bytes that a free block needs.
                    used += max(4, end - offset)
                    if end == usableSize || cell.local.upperBound - offset < 4 && offset + 4 == usableSize {
                        endsAtEnd = true
                    }
                } else {
                    damagedCount += 1
                }
            } else {
                children.append(offset + 4 <= usableSize ? Self.integer(bytes, offset, 4) : 0)
                var end = offset + 4
                _ = Varint.read(bytes, &end, end: usableSize)
                used += end - offset
            }
        }
        if !isLeaf { children.append(Self.integer(bytes, start + 8, 4)) }
        guard damagedCount == 0 else { return }
        let free = freeBlocks.reduce(0) { $0 + $1.count }
        isAccountedFor = used + free + Int(bytes[start + 7]) == usableSize - content
    }

    /// The chain of blocks between cells that SQLite has freed. Their positions ascend: a chain that does not ends there.
    var freeBlocks: [Range<Int>] {
        var blocks: [Range<Int>] = []
        var next = Self.integer(bytes, (number == 1 ? 100 : 0) + 1, 2)
        while next >= gap.upperBound, next + 4 <= bytes.count {
            let end = next + Self.integer(bytes, next + 2, 2)
            guard end >= next + 4, end <= bytes.count else { break }
            blocks.append(next..<end)
            let following = Self.integer(bytes, next, 2)
            guard following >= end else { break }
            next = following
        }
        return blocks
    }

    /// Parses the bytes at an offset as a cell of a leaf; nil if they are none.
    static func cell(_ bytes: [UInt8], _ offset: Int, _ usableSize: Int) -> Cell? {
        var position = offset
        guard let size = Varint.read(bytes, &position, end: usableSize),
            let key = Varint.read(bytes, &position, end: usableSize), size > 0, size < 1 << 31
        else { return nil }
        let payload = Int(size)
        let most = usableSize - 35
        guard payload > most else {
            guard position + payload <= usableSize else { return nil }
            return Cell(
                start: offset, key: key, payloadSize: payload, local: position..<position + payload, overflow: nil)
        }
        let least = (usableSize - 12) * 32 / 255 - 23
        let fitting = least + (payload - least) % (usableSize - 4)
        let local = fitting <= most ? fitting : least
        guard position + local + 4 <= usableSize else { return nil }
        return Cell(
            start: offset, key: key, payloadSize: payload, local: position..<position + local,
            overflow: integer(bytes, position + local, 4))
    }

    private static func integer(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> Int {
        bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
    }
}

/// The variable-length integers of SQLite's format.
enum Varint {
    /// Reads an integer and advances the position; nil if it does not end before `end`.
    static func read(_ bytes: [UInt8], _ position: inout Int, end: Int) -> Int64? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard position < end else { return nil }
            let byte = bytes[position]
            position += 1
            if index == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte < 0x80 { break }
        }
        return Int64(bitPattern: value)
    }
}
