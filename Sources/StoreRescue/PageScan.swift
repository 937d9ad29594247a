/// Walks the b-trees of tables from their roots, and finds the leaves that damaged pages no longer lead to.
struct PageScan {
    let pages: DatabasePages
    /// The leaves of each tree, by the number of its root page, in the order of their keys.
    private(set) var leaves: [Int: [Int]] = [:]
    /// The pages of trees that cannot be read, with the root pages of their trees.
    private(set) var damaged: [Int: Int] = [:]
    /// The leaves and the damaged pages of each tree, in the order in which pages lead to them.
    private var order: [Int: [Int]] = [:]
    private var owners: [Int: Int] = [:]
    /// The pages of records' overflow chains, which may look like any other page.
    private var overflow: Set<Int> = []

    init(_ pages: DatabasePages) { self.pages = pages }

    /// No tree of SQLite is higher: a page has at least two children.
    private static let maximumDepth = 40

    /// Walks a tree. A page to which two pages point is visited once, and the second of them is marked as damaged.
    ///
    /// - Parameter accepts: Whether a leaf can belong to the tree: a damaged page may refer to leaves of other trees.
    mutating func walk(root: Int, accepts: (TablePage) -> Bool = { _ in true }) {
        var pending: [(page: Int, parent: Int, depth: Int)] = [(root, 0, 0)]
        while let (number, parent, depth) = pending.popLast() {
            guard owners[number] == nil, damaged[number] == nil else {
                // In a B-tree a page has one parent. The child pointer of the second parent is wrong, so the child to which it should
                // point is missing.
                if parent > 0 { damaged[parent] = root }
                continue
            }
            // A pointer that is damaged refers to no page of this tree.
            if parent > 0, let entry = pages.parent(of: number), entry.kind != .node || entry.page != parent {
                damaged[parent] = root
                continue
            }
            guard number > 0, number <= pages.count else {
                damaged[parent] = root
                continue
            }
            guard let page = page(number), depth < Self.maximumDepth else {
                damaged[number] = root
                order[root, default: []].append(number)
                continue
            }
            if page.isLeaf {
                guard accepts(page) else {
                    damaged[parent == 0 ? number : parent] = root
                    continue
                }
                leaves[root, default: []].append(number)
                order[root, default: []].append(number)
            } else {
                pending += page.children.reversed().map { ($0, number, depth + 1) }
            }
            owners[number] = root
            if page.damagedCount > 0 || !page.isAccountedFor { damaged[number] = root }
        }
    }

    /// The keys between those of the leaves before and after each damaged page of a tree, by page. Cost: each leaf of the
    /// tree is read.
    ///
    /// - Parameter last: The greatest key of the table, for pages without a leaf after them.
    func missingKeys(root: Int, last: Int64) -> [Int: ClosedRange<Int64>] {
        let leaves = Set(leaves[root] ?? [])
        var missing: [Int: ClosedRange<Int64>] = [:]
        var before: Int64 = 0
        // The damaged pages since the last leaf with rows.
        var damaged: [Int] = []
        for number in order[root] ?? [] {
            guard leaves.contains(number) else {
                damaged.append(number)
                continue
            }
            guard let cells = page(number)?.cells, let first = cells.first, let final = cells.last else { continue }
            if before < first.key, before + 1 < first.key {
                for number in damaged { missing[number] = before + 1...first.key - 1 }
            }
            damaged = []
            before = final.key
        }
        if before < last { for number in damaged { missing[number] = before + 1...last } }
        return missing
    }

    /// The page of a number; nil if it is not a page of a table.
    func page(_ number: Int) -> TablePage? {
        pages.page(number).flatMap { TablePage($0, number: number, usableSize: pages.usableSize) }
    }

    /// Notes that a page of a tree is damaged.
    mutating func markDamaged(_ number: Int, root: Int) { damaged[number] = root }

    /// Notes that a page belongs to the record of a row. False if it already belongs to one.
    mutating func claim(_ number: Int) -> Bool { overflow.insert(number).inserted }

    /// A leaf that no walk has reached.
    struct Orphan {
        let page: TablePage
        /// The root page of its tree, by the pointer map; nil if the map does not contain it.
        let root: Int?
        /// The parent by the pointer map, if it can be read and has no child pointer to the page: then the parent is damaged.
        var parent: Int?
    }

    /// The leaves that belong to trees but were not reached, because a page above them is damaged or their root is not
    /// known. Free pages have old contents and are not included. Walk all trees before.
    ///
    /// - Parameter knowsRoots: Whether the roots of all trees are known, if no page is damaged.
    func orphans(knowsRoots: Bool = true) -> [Orphan] {
        let free = freePages()
        let mayHaveOrphans = !knowsRoots || !damaged.isEmpty || leaves[1] == nil
        return pages.numbers.compactMap { number in
            guard owners[number] == nil, damaged[number] == nil, !overflow.contains(number), !free.contains(number),
                !pages.isAuxiliary(number), let page = page(number), page.isLeaf, !page.cells.isEmpty
            else { return nil }
            switch climb(from: number) {
            case .root(let root): return Orphan(page: page, root: root)
            case .unnamed(let root, let parent): return Orphan(page: page, root: root, parent: parent)
            case .none: return nil
            case .unknown: return mayHaveOrphans ? Orphan(page: page, root: nil) : nil
            }
        }
    }

    private enum Ascent {
        case root(Int)
        /// The root, and the parent by the pointer map, which can be read and has no child pointer to the page.
        case unnamed(root: Int, parent: Int)
        /// The page is not part of a tree.
        case none
        case unknown
    }

    /// Follows the pointer map to the root of a tree, or to a damaged page whose tree is known.
    private func climb(from number: Int) -> Ascent {
        var number = number
        for _ in 0..<Self.maximumDepth {
            guard let entry = pages.parent(of: number) else {
                return pages.hasPointerMap && number == 1 ? .root(1) : .unknown
            }
            switch entry.kind {
            case .free, .firstOverflow, .laterOverflow: return .none
            case .root: return .root(number)
            case .node:
                if let root = damaged[entry.page] { return .root(root) }
                if let root = owners[entry.page] { return .unnamed(root: root, parent: entry.page) }
                number = entry.page
                if number == 1 { return .root(1) }
            }
        }
        return .unknown
    }

    /// The pages of the list of free pages, and those that the pointer map calls free.
    func freePages() -> Set<Int> {
        var free: Set<Int> = []
        func number(_ bytes: [UInt8], _ offset: Int) -> Int {
            bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        guard let first = pages.page(1), first.starts(with: Array("SQLite format 3\0".utf8)) else { return free }
        var trunk = number(first, 32)
        while trunk > 1, owners[trunk] == nil, free.insert(trunk).inserted, let bytes = pages.page(trunk) {
            let count = number(bytes, 4)
            guard count <= pages.usableSize / 4 - 2 else { break }
            for index in 0..<count { free.insert(number(bytes, 8 + 4 * index)) }
            trunk = number(bytes, 0)
        }
        return free
    }
}
