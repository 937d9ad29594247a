import SQLStatements

// The rows that were deleted, as far as their bytes are still in the files.

extension StoreRescue {
    /// The rows in bytes that SQLite does not use: free blocks and unused bytes in the pages of tables, free pages, contents of pages
    /// that the log has replaced, and earlier frames of the log. Call ``read(_:willRead:)`` before.
    ///
    /// Only rows of entities' tables that fit the types of their columns, and only if they fit no other table. A row with a key that
    /// the table has, and a copy of one that it has, is not deleted. Of several states of an object the latest is returned.
    /// A row that the table may have had on a damaged page is returned as one that may be lost.
    ///
    /// Cost: each page of the tables is read, each free page, and the whole log.
    ///
    /// - Parameter willRead: Called with the number of pages read and their total, without those of the log; throws to cancel.
    package func deletedRows(of known: RescuedTables, willRead: (Int, Int) throws -> Void) rethrows -> [DeletedRow] {
        var collection = DeletedRowCollection(self, known)
        let free = scan.freePages().filter { !pages.isAuxiliary($0) }.sorted()
        let owned = known.entityTables.flatMap { table in
            (known.roots[table.name].flatMap { scan.leaves[$0] } ?? []).map { (page: $0, table: table.name) }
        }
        let owners = Dictionary(owned.map { ($0.page, $0.table) }, uniquingKeysWith: { first, _ in first })
        let replaced = pages.numbers.filter { pages.replacedPage($0) != nil }
        let total = owned.count + free.count + replaced.count
        for (index, entry) in owned.enumerated() {
            try willRead(index, total)
            if let page = scan.page(entry.page) { collection.add(unusedOf: page, table: entry.table) }
        }
        for (index, number) in free.enumerated() {
            try willRead(owned.count + index, total)
            if let bytes = pages.page(number) { collection.add(allOf: bytes, number, table: nil, .freePage) }
        }
        for (index, number) in replaced.enumerated() {
            try willRead(owned.count + free.count + index, total)
            guard let bytes = pages.replacedPage(number) else { continue }
            collection.add(allOf: bytes, number, table: owners[number], .replacedPage)
        }
        try pages.forEachEarlierFrame { frame in
            try willRead(total, total)
            collection.add(allOf: frame.bytes, frame.page, table: owners[frame.page], .logFrame(frame.frame))
        }
        return collection.rows
    }

    /// Whether a row of a table may have been on a damaged page, or was read and is not valid: it need not have been deleted.
    fileprivate func mayBeLost(_ key: Int64, of table: String) -> Bool {
        if tables[table]?.hasDamagedRows == true { return true }
        return report.damagedPages.contains { page in
            guard page.table == nil || page.table == table else { return false }
            // A page whose keys are not known may have had any.
            return page.keys?.contains(key) ?? true
        }
    }
}

/// The deleted rows that were found, without those that exist and without repetitions.
private struct DeletedRowCollection {
    private let rescue: StoreRescue
    private let forms: [RowForm]
    private var found: [DeletedRow] = []
    /// The positions in the list of rows with a key, by table.
    private var positions: [String: [Int64: Int]] = [:]
    /// The values of rows, by table: those that exist, and those that were found without a key.
    private var contents: [String: Set<RowContent>] = [:]

    init(_ rescue: StoreRescue, _ known: RescuedTables) {
        self.rescue = rescue
        let statements = Dictionary(
            rescue.entries.map { ($0.name, $0.statement) }, uniquingKeysWith: { first, _ in first })
        forms = known.entityTables.compactMap { table in
            statements[table.name].flatMap { RowForm(table, statement: $0) }
        }
        for form in forms {
            let rows = rescue.tables[form.table.name]?.rows ?? [:]
            contents[form.table.name] = Set(rows.values.map(RowContent.init))
        }
    }

    /// The rows, by table and key; those without a key in the order in which they were found.
    var rows: [DeletedRow] {
        // A row whose key was found elsewhere is one row.
        let keyed = Dictionary(grouping: found.filter { $0.key != nil }, by: \.table).mapValues {
            Set($0.map { RowContent($0.row) })
        }
        return found.enumerated().filter { _, row in
            row.key != nil || keyed[row.table]?.contains(RowContent(row.row)) != true
        }.sorted { one, other in
            (one.element.table, one.element.key ?? .max, one.offset) < (
                other.element.table, other.element.key ?? .max, other.offset
            )
        }.map(\.element)
    }

    /// Adds the rows in the bytes of a table's page that belong to no cell.
    mutating func add(unusedOf page: TablePage, table: String) {
        let unused = unused(page.bytes, table: table)
        for block in page.freeBlocks { add(unused.rows(in: block, isBlock: true), page.number, .freeBlock) }
        add(unused.rows(in: page.gap, isBlock: false), page.number, .unusedBytes)
    }

    /// Adds the rows of a page that is not, or not in this state, part of the store.
    mutating func add(allOf bytes: [UInt8], _ number: Int, table: String?, _ place: DeletedRow.Place) {
        let unused = unused(bytes, table: table)
        guard let page = TablePage(bytes, number: number, usableSize: rescue.pages.usableSize), page.isLeaf else {
            // The beginning of a page may be overwritten by the list of free pages.
            return add(unused.rows(in: 8..<rescue.pages.usableSize, isBlock: false), number, place)
        }
        for cell in page.cells {
            if let row = unused.whole(at: cell.start, limit: rescue.pages.usableSize) { add([row], number, place) }
        }
        for block in page.freeBlocks { add(unused.rows(in: block, isBlock: true), number, place) }
        add(unused.rows(in: page.gap, isBlock: false), number, place)
    }

    private func unused(_ bytes: [UInt8], table: String?) -> UnusedBytes {
        UnusedBytes(
            bytes: bytes, usableSize: rescue.pages.usableSize, encoding: rescue.pages.encoding,
            forms: table.map { name in forms.filter { $0.table.name == name } } ?? forms)
    }

    private mutating func add(_ rows: [UnusedBytes.Found], _ page: Int, _ place: DeletedRow.Place) {
        for item in rows {
            let table = item.form.table.name
            let key = item.hasKey ? item.row.key : nil
            let row = DeletedRow(
                table: table, entityNumber: item.form.entityNumber(of: item.row), key: key, row: item.row, page: page,
                place: place, mayBeLost: key.map { rescue.mayBeLost($0, of: table) } ?? false)
            guard let key else {
                if contents[table, default: []].insert(RowContent(item.row)).inserted { found.append(row) }
                continue
            }
            guard rescue.tables[table]?.rows[key] == nil else { continue }
            if let position = positions[table]?[key] {
                if item.form.version(of: found[position].row) < item.form.version(of: item.row) {
                    found[position] = row
                }
            } else {
                positions[table, default: [:]][key] = found.count
                found.append(row)
            }
        }
    }
}

/// The values of a row as the member of a set.
private struct RowContent: Hashable {
    private let values: [ColumnValue]

    init(_ row: SalvagedRow) { values = row.values }

    func hash(into hasher: inout Hasher) {
        for value in values {
            switch value {
            case .null: hasher.combine(0)
            // An integer equals a real number of the same size.
            case .integer(let number): hasher.combine(Double(number))
            case .real(let number): hasher.combine(number)
            case .text(let text): hasher.combine(text)
            case .blob(let data): hasher.combine(data)
            }
        }
    }
}
