import Foundation
import GRDB
import ModelFiles

/// Reads the rows of a store that SQLite cannot read, page by page, and writes them into a new store of the model.
package struct RowSalvage {
    /// The rows of a table, and what is missing of it.
    struct Table {
        var rows: [Int64: SalvagedRow] = [:]
        /// The cells and rows that are not valid.
        var damagedRowCount = 0
        var adoptedPages: [Int] = []
    }

    let url: URL
    let model: NSManagedObjectModel
    private let pages: DatabasePages
    private var scan: PageScan
    let schema: SalvagedSchema
    let uuid: String?
    let metadata: [String: Any]
    private(set) var tables: [String: Table] = [:]
    /// What was found while reading.
    package internal(set) var report = SalvageReport()

    // MARK: - Reading

    /// The model that is cached in a store, whose file may be damaged; nil if it has none, or it is lost.
    ///
    /// - Throws: `CocoaError` if the file cannot be read.
    package static func cachedModel(of url: URL) throws -> NSManagedObjectModel? {
        let pages = try DatabasePages(url: url.withoutLinks)
        var scan = PageScan(pages)
        let entries = Self.entries(&scan)
        var leaves: [TablePage] = []
        if let root = entries.first(where: { $0.name == "Z_MODELCACHE" })?.root {
            scan.walk(root: root)
            leaves = (scan.leaves[root] ?? []).compactMap(scan.page)
        }
        if leaves.isEmpty { leaves = scan.orphans(knowsRoots: false).map(\.page) }
        for page in leaves {
            for cell in page.cells {
                guard let row = SalvagedRow(cell, of: page, in: pages), row.lost.isEmpty, row.values.count == 1,
                    case .blob(let content) = row.values[0], let value = try? ModelCache.read(content)
                else { continue }
                return try NSManagedObjectModel(value: value)
            }
        }
        return nil
    }

    /// Reads all rows of the model's entities.
    ///
    /// - Parameters:
    ///   - url: The location of the store, which is not changed.
    ///   - model: The model of the store.
    ///   - willRead: Called for each table with the number of tables read and their total; throws to cancel.
    /// - Throws: `CocoaError` if the file cannot be read at all.
    package init(of url: URL, model: NSManagedObjectModel, willRead: (Int, Int) throws -> Void) throws {
        self.url = url.withoutLinks
        self.model = model
        // The order of a model's entities is determined when it is frozen, as a coordinator does.
        model.freeze()
        pages = try DatabasePages(url: self.url)
        var scan = PageScan(pages)
        let entries = Self.entries(&scan)
        let own = ["Z_PRIMARYKEY", "Z_METADATA"].map { name in entries.first { $0.name == name }?.root }
        for root in own.compactMap({ $0 }) { scan.walk(root: root) }
        let numbers = Self.rows(of: own[0], scan, columnCount: 4).compactMap {
            row -> (number: Int64, name: String, lastKey: Int64)? in
            guard case .text(let name) = row.values[1], case .integer(let last) = row.values[3],
                case .null = row.values[0], (1...0xFFFF).contains(row.key)
            else { return nil }
            return (row.key, name, last)
        }
        let metadata = Self.rows(of: own[1], scan, columnCount: 3).lazy.compactMap(Self.metadata).first
        uuid = metadata?.uuid
        self.metadata = metadata?.content ?? [:]
        schema = try SalvagedSchema(entries, numbers: numbers, model: model)
        self.scan = scan
        report.isSchemaKnown = !entries.isEmpty
        report.missing = entries.isEmpty ? [] : schema.lost + schema.schema.missing
        report.areNumbersKnown = !numbers.isEmpty
        report.knowsMetadata = metadata != nil
        try readTables(willRead)
    }

    /// The entries of `sqlite_master` for tables. Those on leaves that page 1 no longer leads to are found, too.
    private static func entries(_ scan: inout PageScan) -> [SalvagedSchema.Entry] {
        func rows(of page: TablePage, _ pages: DatabasePages) -> [SalvagedRow]? {
            let rows = page.cells.compactMap { SalvagedRow($0, of: page, in: pages) }
            let isSchema = rows.allSatisfy { row in
                guard row.values.count == 5, case .text(let type) = row.values[0] else { return false }
                return ["table", "index", "trigger", "view"].contains(type)
            }
            return isSchema ? rows : nil
        }
        let pages = scan.pages
        scan.walk(root: 1) { page in rows(of: page, pages) != nil }
        var leaves = (scan.leaves[1] ?? []).compactMap(scan.page)
        if scan.damaged.values.contains(1) {
            leaves += scan.orphans().filter { $0.root == nil || $0.root == 1 }.map(\.page)
        }
        return leaves.flatMap { rows(of: $0, pages) ?? [] }.compactMap { row in
            guard case .text("table") = row.values[0], case .text(let name) = row.values[1],
                case .integer(let root) = row.values[3], case .text(let statement) = row.values[4],
                root > 1, root <= pages.count
            else { return nil }
            return SalvagedSchema.Entry(name: name, root: Int(root), statement: statement)
        }
    }

    /// The complete rows of one of Core Data's own tables. If its root is not known, rows of its form on any leaf that
    /// no table has.
    private static func rows(of root: Int?, _ scan: PageScan, columnCount: Int) -> [SalvagedRow] {
        let leaves = root.map { (scan.leaves[$0] ?? []).compactMap(scan.page) } ?? []
        let isLost = leaves.isEmpty
        return (isLost ? scan.orphans(knowsRoots: false).map(\.page) : leaves).flatMap { page -> [SalvagedRow] in
            let rows = page.cells.compactMap { SalvagedRow($0, of: page, in: scan.pages) }
                .filter { $0.values.count == columnCount && $0.lost.isEmpty }
            return isLost && rows.count < page.cells.count ? [] : rows
        }
    }

    private static func metadata(_ row: SalvagedRow) -> (uuid: String, content: [String: Any])? {
        guard case .text(let uuid) = row.values[1], UUID(uuidString: uuid) != nil,
            case .blob(let data) = row.values[2]
        else { return nil }
        return StoreMetadata.content(of: data).map { (uuid, $0) }
    }

    // MARK: - Tables

    private mutating func readTables(_ willRead: (Int, Int) throws -> Void) throws {
        let entityTables = schema.schema.tables.map(\.name)
        let names = entityTables + schema.schema.joinTables.map(\.name)
        for (index, name) in names.enumerated() {
            try willRead(index, names.count)
            guard let root = schema.roots[name] else { continue }
            let fits = check(of: name)
            scan.walk(root: root) { [pages] page in
                // An empty leaf fits every table.
                page.cells.isEmpty
                    || page.cells.contains { cell in
                        SalvagedRow(cell, of: page, in: pages).map(fits) ?? false
                    }
            }
            for page in (scan.leaves[root] ?? []).compactMap(scan.page) { add(page, to: name, fits) }
        }
        // Of several names of a root, that of a table of the model.
        let known = Set(names)
        let roots = schema.roots.sorted { $0.key < $1.key }
        let rootNames = Dictionary(
            (roots.filter { known.contains($0.key) } + roots).map { ($0.value, $0.key) },
            uniquingKeysWith: { first, _ in first })
        adoptOrphans(entityTables, rootNames)
        let missing = missingKeys()
        for (page, root) in scan.damaged.sorted(by: { $0.key < $1.key }) {
            let name = root == 1 ? "sqlite_master" : rootNames[root]
            report.damagedPages.append(.init(page: page, table: name, keys: missing[page]))
        }
        for name in names {
            report.damagedRowCount += tables[name]?.damagedRowCount ?? 0
            report.adoptedPageCount += tables[name]?.adoptedPages.count ?? 0
        }
    }

    /// A check whether a row can be one of a table.
    private func check(of name: String) -> (SalvagedRow) -> Bool {
        let columns = schema.columns[name] ?? []
        if schema.schema.joinTables.contains(where: { $0.name == name }) {
            return { row in
                row.values.count == columns.count
                    && row.values.allSatisfy { value in
                        if case .integer = value { return true }
                        return value.isNull
                    }
            }
        }
        let numbers = Set(schema.schema.entities.filter { $0.table == name }.map(\.number))
        guard let entity = columns.firstIndex(of: "Z_ENT") else { return { _ in false } }
        return { row in
            guard row.values.count <= columns.count, row.values.indices.contains(entity),
                case .integer(let number) = row.values[entity]
            else { return false }
            return numbers.contains(number)
        }
    }

    private mutating func add(_ page: TablePage, to name: String, _ fits: (SalvagedRow) -> Bool) {
        var table = tables.removeValue(forKey: name) ?? Table()
        table.damagedRowCount += page.damagedCount
        for cell in page.cells {
            var claimed: [Int] = []
            guard let row = SalvagedRow(cell, of: page, in: pages, claim: { claimed.append($0) }), fits(row) else {
                table.damagedRowCount += 1
                continue
            }
            for number in claimed { scan.claim(number) }
            // A row that was reached from the root is newer than one that was found without it.
            if table.rows[cell.key] == nil { table.rows[cell.key] = row }
        }
        tables[name] = table
    }

    /// Adds the leaves that no page leads to: to the table that the pointer map names, or to the only one that their
    /// rows fit.
    private mutating func adoptOrphans(_ entityTables: [String], _ rootNames: [Int: String]) {
        let known = Set(entityTables + schema.schema.joinTables.map(\.name))
        let checks = entityTables.map { (name: $0, fits: check(of: $0)) }
        let damagedRoots = Set(scan.damaged.values)
        var unnamed: [Int: [TablePage]] = [:]
        for orphan in scan.orphans(knowsRoots: !schema.hasDamagedEntries) {
            if let name = orphan.root.flatMap({ rootNames[$0] }) {
                if known.contains(name) { adopt(orphan.page, by: name) }
                continue
            }
            let rows = orphan.page.cells.compactMap { SalvagedRow($0, of: orphan.page, in: pages) }
            if !rows.isEmpty, let table = checks.first(where: { rows.allSatisfy($0.fits) }) {
                adopt(orphan.page, by: table.name)
            } else {
                unnamed[orphan.root ?? -orphan.page.number, default: []].append(orphan.page)
            }
        }
        // A page of a join table is assigned to the table whose rows refer to existing objects: objects are read first.
        for (_, leaves) in unnamed.sorted(by: { $0.key < $1.key }) { adoptPairs(leaves, damagedRoots) }
    }

    private mutating func adopt(_ page: TablePage, by name: String) {
        add(page, to: name, check(of: name))
        tables[name]?.adoptedPages.append(page.number)
    }

    private mutating func adoptPairs(_ leaves: [TablePage], _ damagedRoots: Set<Int>) {
        let rows = leaves.flatMap { page in page.cells.compactMap { SalvagedRow($0, of: page, in: pages) } }
        let candidates = schema.schema.joinTables.filter { join in
            // A table that was read completely misses no page.
            guard schema.lost.contains(join.name) || schema.roots[join.name].map(damagedRoots.contains) == true
            else { return false }
            let fits = check(of: join.name)
            return !rows.isEmpty && rows.allSatisfy { fits($0) && hasObjects($0, of: join) }
        }
        guard candidates.count == 1 else {
            // Other tables, such as those of a history, have such rows too.
            if candidates.count > 1 { report.ambiguousPages += leaves.map(\.number) }
            return
        }
        for page in leaves { adopt(page, by: candidates[0].name) }
    }

    /// Whether both objects of a pair were read.
    private func hasObjects(_ row: SalvagedRow, of join: SQLJoinTable) -> Bool {
        guard let columns = schema.columns[join.name], let destination = join.owner.destinationEntity,
            let owner = join.owner.entityIfAny
        else { return false }
        return [(join.sourceColumn, owner), (join.destinationColumn, destination)].allSatisfy { column, entity in
            guard let position = columns.firstIndex(of: column), row.values.indices.contains(position),
                case .integer(let key) = row.values[position], let table = schema.schema.entity(entity)?.table
            else { return false }
            return tables[table]?.rows[key] != nil
        }
    }

    /// The keys that the rows of damaged leaves can have, by page: those between the keys of the leaves before and after
    /// it. Pages of which no key is missing, such as an interior page whose leaves were found, are not included.
    private func missingKeys() -> [Int: ClosedRange<Int64>] {
        let damagedRoots = Set(scan.damaged.values)
        var missing: [Int: ClosedRange<Int64>] = [:]
        for table in schema.schema.tables {
            guard let root = schema.roots[table.name], damagedRoots.contains(root) else { continue }
            let found = (tables[table.name] ?? Table()).rows.keys.sorted()
            let ranges = scan.missingKeys(root: root, last: schema.lastKeys[table.root.name ?? ""] ?? 0)
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

    /// The numbers of objects that can be read, by the names of their entities.
    package var readableCounts: [String: Int] {
        var counts: [String: Int] = [:]
        for entity in schema.schema.entities {
            guard let position = schema.columns[entity.table]?.firstIndex(of: "Z_ENT") else { continue }
            counts[entity.entity.name ?? ""] = (tables[entity.table]?.rows ?? [:]).values.count { row in
                row.values.indices.contains(position) && row.values[position] == .integer(entity.number)
            }
        }
        return counts
    }
}
