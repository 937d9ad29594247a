import Foundation

/// Reads the rows of tables from the pages of a file that SQLite cannot read.
///
///     var rescue = try StoreRescue(of: url)
///     let numbers = rescue.rows(of: ["Z_PRIMARYKEY"], columnCounts: [4])[0]
///     try rescue.read(tables) { done, total in }
///     rescue.tables["ZNOTE"]?.rows
///
/// The tables are described by ``RescuedTables``: the rows of a page that nothing leads to belong to the table whose form they have.
package struct StoreRescue {
    /// The rows of a table, and what is missing.
    package struct Table {
        package fileprivate(set) var rows: [Int64: SalvagedRow] = [:]
        /// The cells and rows that are not valid.
        fileprivate var damagedRowCount = 0
        fileprivate var adoptedPages: [Int] = []
        /// Whether rows were found that are not valid.
        var hasDamagedRows: Bool { damagedRowCount > 0 }
    }

    /// An entry of `sqlite_master` for a table.
    package struct Entry {
        package let name: String
        package let root: Int
        package let statement: String
    }

    private let url: URL
    let pages: DatabasePages
    private(set) var scan: PageScan
    /// The entries of the schema that can be read.
    package let entries: [Entry]
    /// The tables that were read, by name.
    package private(set) var tables: [String: Table] = [:]
    /// What was found while reading.
    package var report = SalvageReport()

    /// Reads the schema of a file, which is not changed.
    ///
    /// - Throws: `CocoaError` if the file cannot be read, or is shorter than a page.
    package init(of url: URL) throws {
        self.url = url
        pages = try DatabasePages(url: url)
        var scan = PageScan(pages)
        entries = Self.entries(&scan)
        self.scan = scan
        report.isLogDamaged = pages.isLogDamaged
    }

    /// Checks that no program has written the files since they were opened: what was read of them may be parts of several states.
    ///
    /// - Throws: `CocoaError` if one has.
    package func requireUnchanged() throws {
        guard !pages.areUnchanged else { return }
        throw CocoaError(
            .fileReadUnknown,
            userInfo: [
                NSLocalizedDescriptionKey:
                    "\(url.lastPathComponent) was written while it was read. Close the program that uses it, or salvage a copy.",
                NSURLErrorKey: url, NSFilePathErrorKey: url.path,
            ])
    }

    /// The entries of `sqlite_master` for tables. Those on leaves that page 1 no longer leads to are found, too.
    private static func entries(_ scan: inout PageScan) -> [Entry] {
        let pages = scan.pages
        func isSchema(_ page: TablePage) -> Bool {
            page.cells.allSatisfy { cell in
                guard let row = SalvagedRow.beginning(cell, of: page, in: pages) else { return true }
                guard row.values.count == 5, case .text(let type) = row.values[0] else { return false }
                return ["table", "index", "trigger", "view"].contains(type)
            }
        }
        scan.walk(root: 1, accepts: isSchema)
        var leaves = (scan.leaves[1] ?? []).compactMap(scan.page)
        if scan.damaged.values.contains(1) {
            leaves += scan.orphans().filter { $0.root == nil || $0.root == 1 }.map(\.page)
        }
        var claimed: Set<Int> = []
        let rows = leaves.filter(isSchema).flatMap { page in
            page.cells.compactMap { cell in
                SalvagedRow(cell, of: page, in: pages) { claimed.insert($0).inserted }
            }
        }
        return rows.compactMap { row in
            guard case .text("table") = row.values[0], case .text(let name) = row.values[1],
                case .integer(let root) = row.values[3], case .text(let statement) = row.values[4],
                root > 1, root <= pages.count
            else { return nil }
            return Entry(name: name, root: Int(root), statement: statement)
        }
    }

    // MARK: - Tables of a known form

    /// The first row of a table for which a closure returns a value. If the table's root is not known, the rows on leaves that no
    /// table has are examined.
    ///
    /// - Parameter columnCount: The number of columns of the rows.
    package mutating func firstRow<Result>(
        of name: String, columnCount: Int, _ read: (SalvagedRow) throws -> Result?
    ) rethrows -> Result? {
        var leaves: [TablePage] = []
        if let root = root(of: name) {
            scan.walk(root: root)
            leaves = (scan.leaves[root] ?? []).compactMap(scan.page)
        }
        if leaves.isEmpty { leaves = scan.orphans(knowsRoots: false).map(\.page) }
        var claimed: Set<Int> = []
        for page in leaves {
            for cell in page.cells {
                guard SalvagedRow.beginning(cell, of: page, in: pages)?.values.count == columnCount,
                    let row = SalvagedRow(cell, of: page, in: pages, claim: { claimed.insert($0).inserted }),
                    row.lost.isEmpty
                else { continue }
                if let result = try read(row) { return result }
            }
        }
        return nil
    }

    /// The complete rows of tables, each with a number of columns. If the root of one is not known, rows of its form on any leaf that
    /// no table has.
    package mutating func rows(of names: [String], columnCounts: [Int]) -> [[SalvagedRow]] {
        let roots = names.map(root)
        for root in roots.compactMap({ $0 }) { scan.walk(root: root) }
        return zip(roots, columnCounts).map { Self.rows(of: $0, scan, columnCount: $1) }
    }

    private func root(of name: String) -> Int? { entries.first { $0.name == name }?.root }

    private static func rows(of root: Int?, _ scan: PageScan, columnCount: Int) -> [SalvagedRow] {
        let leaves = root.map { (scan.leaves[$0] ?? []).compactMap(scan.page) } ?? []
        let isLost = leaves.isEmpty
        var claimed: Set<Int> = []
        return (isLost ? scan.orphans(knowsRoots: false).map(\.page) : leaves).flatMap { page -> [SalvagedRow] in
            let rows = page.cells.compactMap { cell -> SalvagedRow? in
                guard SalvagedRow.beginning(cell, of: page, in: scan.pages)?.values.count == columnCount,
                    let row = SalvagedRow(cell, of: page, in: scan.pages, claim: { claimed.insert($0).inserted }),
                    row.lost.isEmpty
                else { return nil }
                return row
            }
            return isLost && rows.count < page.cells.count ? [] : rows
        }
    }

    // MARK: - The tables of entities and relationships

    /// Reads all rows of tables.
    ///
    /// - Parameter willRead: Called for each table with the number of tables read and their total; throws to cancel.
    package mutating func read(_ known: RescuedTables, willRead: (Int, Int) throws -> Void) throws {
        let entityTables = known.entityTables.map(\.name)
        let names = entityTables + known.joinTables.map(\.name)
        for (index, name) in names.enumerated() {
            try willRead(index, names.count)
            guard let root = known.roots[name] else { continue }
            let fits = known.check(of: name)
            scan.walk(root: root) { [pages] page in
                // An empty leaf fits every table.
                page.cells.isEmpty
                    || page.cells.contains { cell in
                        SalvagedRow.beginning(cell, of: page, in: pages).map(fits) ?? false
                    }
            }
            for page in (scan.leaves[root] ?? []).compactMap(scan.page) { add(page, to: name, fits) }
        }
        // Of several names of a root, that of a table of the model.
        let wanted = Set(names)
        let roots = known.roots.sorted { $0.key < $1.key }
        let rootNames = Dictionary(
            (roots.filter { wanted.contains($0.key) } + roots).map { ($0.value, $0.key) },
            uniquingKeysWith: { first, _ in first })
        adoptOrphans(known, rootNames)
        let missing = missingKeys(known)
        for (page, root) in scan.damaged.sorted(by: { $0.key < $1.key }) {
            let name = root == 1 ? "sqlite_master" : rootNames[root]
            report.damagedPages.append(.init(page: page, table: name, keys: missing[page]))
        }
        for name in names {
            report.damagedRowCount += tables[name]?.damagedRowCount ?? 0
            report.adoptedPageCount += tables[name]?.adoptedPages.count ?? 0
        }
    }

    private mutating func add(_ page: TablePage, to name: String, _ fits: (SalvagedRow) -> Bool) {
        var table = tables.removeValue(forKey: name) ?? Table()
        table.damagedRowCount += page.damagedCount
        for cell in page.cells {
            // Only a row of the table takes pages. Of rows that refer to the same pages the first one has them.
            guard let beginning = SalvagedRow.beginning(cell, of: page, in: pages), fits(beginning),
                let row = cell.overflow == nil
                    ? beginning : SalvagedRow(cell, of: page, in: pages, claim: { scan.claim($0) })
            else {
                table.damagedRowCount += 1
                continue
            }
            // A row that was reached from the root is newer than one that was found without it.
            if table.rows[cell.key] == nil { table.rows[cell.key] = row }
        }
        tables[name] = table
    }

    /// Adds the leaves that no page leads to: to the table that the pointer map names, or to the only one that their
    /// rows fit.
    private mutating func adoptOrphans(_ known: RescuedTables, _ rootNames: [Int: String]) {
        let wanted = Set(known.entityTables.map(\.name) + known.joinTables.map(\.name))
        let checks = known.entityTables.map { (name: $0.name, fits: known.check(of: $0.name)) }
        let damagedRoots = Set(scan.damaged.values)
        var unnamed: [Int: [TablePage]] = [:]
        for orphan in scan.orphans(knowsRoots: !known.hasDamagedEntries) {
            if let name = orphan.root.flatMap({ rootNames[$0] }) {
                guard wanted.contains(name) else { continue }
                adopt(orphan.page, by: name, known)
                if let parent = orphan.parent, let root = orphan.root { scan.markDamaged(parent, root: root) }
                continue
            }
            let rows = orphan.page.cells.compactMap { SalvagedRow.beginning($0, of: orphan.page, in: pages) }
            if !rows.isEmpty, let table = checks.first(where: { rows.allSatisfy($0.fits) }) {
                adopt(orphan.page, by: table.name, known)
            } else {
                unnamed[orphan.root ?? -orphan.page.number, default: []].append(orphan.page)
            }
        }
        // A page of a join table is assigned to the table whose rows refer to existing objects: objects are read first.
        for (_, leaves) in unnamed.sorted(by: { $0.key < $1.key }) { adoptPairs(leaves, known, damagedRoots) }
    }

    private mutating func adopt(_ page: TablePage, by name: String, _ known: RescuedTables) {
        add(page, to: name, known.check(of: name))
        tables[name]?.adoptedPages.append(page.number)
    }

    private mutating func adoptPairs(
        _ leaves: [TablePage], _ known: RescuedTables, _ damagedRoots: Set<Int>
    ) {
        let rows = leaves.flatMap { page in
            page.cells.compactMap { SalvagedRow.beginning($0, of: page, in: pages) }
        }
        let candidates = known.joinTables.filter { join in
            // A table that was read completely misses no page.
            guard known.lost.contains(join.name) || known.roots[join.name].map(damagedRoots.contains) == true
            else { return false }
            let fits = known.check(of: join.name)
            return !rows.isEmpty && rows.allSatisfy { fits($0) && hasObjects($0, of: join) }
        }
        guard candidates.count == 1 else {
            // Other tables, such as those of a history, have such rows too.
            if candidates.count > 1 { report.ambiguousPages += leaves.map(\.number) }
            return
        }
        for page in leaves { adopt(page, by: candidates[0].name, known) }
    }

    /// Whether both objects of a pair were read.
    private func hasObjects(_ row: SalvagedRow, of join: RescuedTables.JoinTable) -> Bool {
        [join.source, join.destination].allSatisfy { side in
            guard let position = join.columns.firstIndex(of: side.column), row.values.indices.contains(position),
                case .integer(let key) = row.values[position]
            else { return false }
            return tables[side.table]?.rows[key] != nil
        }
    }

    /// The keys that the rows of damaged leaves can have, by page: those between the keys of the leaves before and after
    /// it. Pages of which no key is missing, such as an interior page whose leaves were found, are not included.
    private func missingKeys(_ known: RescuedTables) -> [Int: ClosedRange<Int64>] {
        let damagedRoots = Set(scan.damaged.values)
        var missing: [Int: ClosedRange<Int64>] = [:]
        for table in known.entityTables {
            guard let root = known.roots[table.name], damagedRoots.contains(root) else { continue }
            let found = (tables[table.name] ?? Table()).rows.keys.sorted()
            let ranges = scan.missingKeys(root: root, last: table.lastKey)
            for (page, range) in ranges where !Self.contains(found, range) { missing[page] = range }
        }
        return missing
    }

    /// Whether a sorted list contains a key of a range. Cost: the logarithm of the number of keys.
    private static func contains(_ keys: [Int64], _ range: ClosedRange<Int64>) -> Bool {
        var (low, high) = (0, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < range.lowerBound { low = middle + 1 } else { high = middle }
        }
        return low < keys.count && keys[low] <= range.upperBound
    }
}

// MARK: - Descriptions of tables

/// The tables that are read from a damaged file, and what their rows contain.
package struct RescuedTables {
    /// The table of an entity and its subentities.
    package struct EntityTable {
        package let name: String
        /// The names of the columns, in order.
        package let columns: [String]
        /// The numbers of the entities in the column `Z_ENT`.
        package let numbers: Set<Int64>
        /// The greatest key that was assigned.
        package let lastKey: Int64

        package init(name: String, columns: [String], numbers: Set<Int64>, lastKey: Int64) {
            (self.name, self.columns, self.numbers, self.lastKey) = (name, columns, numbers, lastKey)
        }
    }

    /// The table of the pairs of a relationship.
    package struct JoinTable {
        /// A column, and the table to whose rows it refers.
        package typealias Side = (column: String, table: String)

        package let name: String
        /// The names of the columns, in order.
        package let columns: [String]
        package let source: Side
        package let destination: Side

        package init(name: String, columns: [String], source: Side, destination: Side) {
            (self.name, self.columns, self.source, self.destination) = (name, columns, source, destination)
        }
    }

    package let entityTables: [EntityTable]
    package let joinTables: [JoinTable]
    /// The root pages of all tables whose entries in the schema can be read, these among them.
    package let roots: [String: Int]
    /// Whether an entry of the schema is damaged, so that the root of a table may not be known.
    package let hasDamagedEntries: Bool
    /// The tables whose entries in the schema are lost, or that the store never had.
    package let lost: [String]

    package init(
        entityTables: [EntityTable], joinTables: [JoinTable], roots: [String: Int], hasDamagedEntries: Bool,
        lost: [String]
    ) {
        (self.entityTables, self.joinTables, self.roots) = (entityTables, joinTables, roots)
        (self.hasDamagedEntries, self.lost) = (hasDamagedEntries, lost)
    }

    /// A check whether a row can be one of a table.
    fileprivate func check(of name: String) -> (SalvagedRow) -> Bool {
        if let join = joinTables.first(where: { $0.name == name }) {
            return { row in
                row.values.count == join.columns.count
                    && row.values.allSatisfy { value in
                        if case .integer = value { return true }
                        return value.isNull
                    }
            }
        }
        guard let table = entityTables.first(where: { $0.name == name }),
            let entity = table.columns.firstIndex(of: "Z_ENT")
        else { return { _ in false } }
        return { row in
            guard row.values.count <= table.columns.count, row.values.indices.contains(entity),
                case .integer(let number) = row.values[entity]
            else { return false }
            return table.numbers.contains(number)
        }
    }
}
