import Foundation

/// The sizes of a database's tables and indexes, from its pages: where SQLite was built without `dbstat`.
package struct TreeSizes {
    /// The sizes in bytes, by name. A page that is reached twice, in a damaged file, counts once.
    package private(set) var byteCounts: [String: Int64] = [:]

    /// Walks the trees from their roots.
    ///
    /// Cost: each page is read once; a bit in memory for each page.
    ///
    /// - Parameter roots: The names of tables and indexes with the numbers of their root pages.
    /// - Throws: `CocoaError` if a file cannot be read or is shorter than a page.
    package init(url: URL, roots: [(name: String, page: Int)]) throws {
        let pages = try DatabasePages(url: url)
        var visited = [Bool](repeating: false, count: pages.count + 1)
        for (name, root) in roots + [(name: "sqlite_schema", page: 1)] {
            byteCounts[name] = Int64(Self.count(from: root, pages, &visited)) * Int64(pages.size)
        }
    }

    private static func count(from root: Int, _ pages: DatabasePages, _ visited: inout [Bool]) -> Int {
        var count = 0
        var pending = [root]
        while let number = pending.popLast() {
            guard number >= 1, number < visited.count, !visited[number], let page = pages.page(number) else { continue }
            visited[number] = true
            count += 1
            let node = TreePage(page, number: number, usableSize: pages.usableSize)
            pending += node.children
            for first in node.overflows {
                // Each page of a chain begins with the number of the next one.
                var next = first
                while next >= 1, next < visited.count, !visited[next], let page = pages.page(next) {
                    visited[next] = true
                    count += 1
                    next = Int(page[0]) << 24 | Int(page[1]) << 16 | Int(page[2]) << 8 | Int(page[3])
                }
            }
        }
        return count
    }
}

/// A page of a b-tree of either kind: the pages to which it refers.
private struct TreePage {
    private(set) var children: [Int] = []
    /// The first pages of the chains of values that do not fit.
    private(set) var overflows: [Int] = []

    init(_ bytes: [UInt8], number: Int, usableSize: Int) {
        let start = number == 1 ? 100 : 0
        func integer(_ offset: Int, _ count: Int) -> Int? {
            guard offset >= 0, offset + count <= usableSize else { return nil }
            return bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
        }
        guard let kind = integer(start, 1), [2, 5, 10, 13].contains(kind), let count = integer(start + 3, 2) else {
            return
        }
        let isInterior = kind < 10
        if isInterior, let last = integer(start + 8, 4) { children.append(last) }
        let header = start + (isInterior ? 12 : 8)
        for index in 0..<count {
            guard let offset = integer(header + 2 * index, 2) else { return }
            var position = offset
            if isInterior {
                if let child = integer(offset, 4) { children.append(child) }
                position += 4
            }
            // The interior pages of a table contain keys only.
            guard kind != 5, let size = Varint.read(bytes, &position, end: usableSize), size > 0, size < 1 << 31 else {
                continue
            }
            if kind == 13 { _ = Varint.read(bytes, &position, end: usableSize) }
            let payload = Int(size)
            let most = kind == 13 ? usableSize - 35 : (usableSize - 12) * 64 / 255 - 23
            guard payload > most else { continue }
            let least = (usableSize - 12) * 32 / 255 - 23
            let fitting = least + (payload - least) % (usableSize - 4)
            let local = fitting <= most ? fitting : least
            if let page = integer(position + local, 4) { overflows.append(page) }
        }
    }
}
