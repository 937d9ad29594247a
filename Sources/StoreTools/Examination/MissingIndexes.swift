import Foundation
import GRDB
import ManagedObjects
import SQLStatements
import SQLStores
import SQLiteConnections

// Which indexes statements lack, according to the plans that SQLite makes for them. No statement is executed.

extension StoreExamination {
    /// A statement whose plan is examined.
    package struct Statement: Sendable {
        package let text: String
        /// The fetch request template that the statement executes; nil for a statement of a program.
        package let template: String?
        /// How often the program executed it.
        package let count: Int

        package init(_ text: String, template: String? = nil, count: Int = 1) {
            (self.text, self.template, self.count) = (text, template, count)
        }
    }

    /// What a statement does because a table lacks an index.
    package struct MissingIndex: Sendable, Hashable {
        /// What SQLite does.
        package enum Work: Sendable, Hashable {
            /// It reads all rows of the table.
            case reading
            /// It reads a whole index, which has the columns but does not begin with one that the statement compares.
            case readingIndex(String)
            /// It makes an index of all rows, and drops it.
            case makingIndex
            /// It finds rows by an index, and sorts them.
            case sorting
        }

        package let work: Work
        /// Whether the rows are sorted too.
        package let sorts: Bool
        package let table: String
        /// The columns of the index that would help: those that the statement compares and sorts by. Empty if no index would, because
        /// it compares or sorts by values that are computed.
        package let columns: [String]
        /// The number of rows of the table.
        package let rowCount: Int
    }

    /// The indexes that statements lack. Must be called on the context's queue.
    ///
    /// - Returns: For each statement the missing indexes, nil if SQLite has no plan for it.
    package static func missingIndexes(
        of statements: [Statement], storeAt url: URL, in context: NSManagedObjectContext
    ) throws -> [(statement: Statement, missing: [MissingIndex]?)] {
        guard let store = context.coordinator?.persistentStore(for: url) as? SQLiteStore else {
            return statements.map { ($0, nil) }
        }
        let generation = context.pinnedGenerations?.generation(of: store)
        return try store.reading(generation, .lastingState) { database in
            let reader = StoreReader(database, limit: .scan(byteCount: try StoreReader(database).byteCount()))
            var plans = QueryPlans(reader: reader, database: database, tables: try reader.tableNames())
            return try statements.map { ($0, try plans.missingIndexes(of: $0.text)) }
        }
    }
}

/// Examines the plans of statements, and counts each table once.
private struct QueryPlans {
    let reader: StoreReader
    let database: Database
    let tables: Set<String>
    /// Counting reads the whole table, and many statements may read the same one.
    private var counts: [String: Int] = [:]
    /// The columns with which indexes of a table begin.
    private var leadingColumns: [String: Set<String>] = [:]

    init(reader: StoreReader, database: Database, tables: Set<String>) {
        (self.reader, self.database, self.tables) = (reader, database, tables)
    }

    /// Nil if SQLite has no plan: for a statement of another database, or one that is incomplete.
    mutating func missingIndexes(of statement: String) throws -> [StoreExamination.MissingIndex]? {
        let steps: [String]
        do {
            let prepared = try database.makeStatement(sql: "EXPLAIN QUERY PLAN \(statement)")
            // A plan needs no values for the parameters.
            prepared.setUncheckedArguments(StatementArguments())
            steps = try Row.fetchAll(prepared).compactMap { String.fromDatabaseValue($0[3]) }
        } catch is DatabaseError {
            return nil
        }
        let text = QueryText(statement)
        // Where only the last terms are sorted, an index gives the order of the first ones.
        let sorts = steps.contains("USE TEMP B-TREE FOR ORDER BY")
        let order = sorts ? text.order : nil
        var missing: [StoreExamination.MissingIndex] = []
        for step in steps {
            guard let (work, source) = Self.work(of: step), let (table, alias) = text.table(source),
                tables.contains(table)
            else { continue }
            let (compared, sorted) = (text.compared(alias), text.columns(of: alias))
            // A whole index that only gives the order is what the statement needs.
            if case .readingIndex = work, compared.isEmpty { continue }
            guard !sorted.isEmpty else { continue }
            let leading = try leading(of: table)
            let candidates = if case .reading = work { sorted } else { compared }
            missing.append(
                .init(
                    work: work, sorts: order?.alias == alias, table: table,
                    columns: candidates.contains(where: leading.contains)
                        ? candidates.filter { !leading.contains($0) } : candidates,
                    rowCount: try count(table)))
        }
        if sorts, !missing.contains(where: \.sorts) {
            let alias = order?.alias ?? text.firstAlias
            if let (table, _) = text.table(alias.map { [$0] } ?? []), tables.contains(table) {
                let columns = order.map { order in
                    text.equated(order.alias).filter { !order.columns.contains($0) } + order.columns
                }
                missing.append(
                    .init(
                        work: .sorting, sorts: true, table: table, columns: columns ?? [], rowCount: try count(table)))
            }
        }
        return missing
    }

    /// What a step does without an index, and the words with which it names the table. Nil for other steps.
    private static func work(of step: String) -> (StoreExamination.MissingIndex.Work, [String])? {
        let words = step.split(separator: " ").map(String.init)
        let end = words.firstIndex(of: "USING") ?? words.count
        let source = Array(words[..<end].dropFirst())
        if words.first == "SEARCH", step.contains(" USING AUTOMATIC ") { return (.makingIndex, source) }
        // The virtual table of a spatial index is read by its own index.
        guard words.first == "SCAN", !words.contains("VIRTUAL") else { return nil }
        guard let index = words.lastIndex(of: "INDEX"), index > end, index + 1 < words.count else {
            return (.reading, source)
        }
        return (.readingIndex(words[index + 1]), source)
    }

    private mutating func count(_ table: String) throws -> Int {
        if let count = counts[table] { return count }
        let count = Int(try reader.integer("SELECT count(*) FROM \"\(table)\""))
        counts[table] = count
        return count
    }

    private mutating func leading(of table: String) throws -> Set<String> {
        if let columns = leadingColumns[table] { return columns }
        let rows = try reader.rows(
            "SELECT i.name FROM pragma_index_list(?) l JOIN pragma_index_info(l.name) i WHERE i.seqno = 0",
            [.text(table)])
        let columns = Set(rows.compactMap { $0.text(0) })
        leadingColumns[table] = columns
        return columns
    }
}

/// The words of a query, to find out which table a step of its plan means, and which columns it compares and sorts by.
private struct QueryText {
    private let words: [String]

    init(_ text: String) {
        var words: [String] = []
        var word = ""
        for character in text {
            if character.isLetter || character.isNumber || "_.$".contains(character) {
                word.append(character)
            } else {
                if !word.isEmpty { words.append(word) }
                word = ""
                if !character.isWhitespace { words.append(String(character)) }
            }
        }
        if !word.isEmpty { words.append(word) }
        self.words = words
    }

    /// The table that a plan names: `t0`, `ZNOTE AS t0` or `TABLE ZNOTE AS t0`, and the name by which the query refers to it.
    func table(_ source: [String]) -> (table: String, alias: String)? {
        let parts = source.filter { $0 != "TABLE" && $0 != "AS" }
        guard let last = parts.prefix(2).last, let first = parts.first else { return nil }
        if first != last { return (first, last) }
        for (index, word) in words.enumerated() where ["FROM", "JOIN", ","].contains(word.uppercased()) {
            guard index + 1 < words.count else { continue }
            let table = words[index + 1]
            if table == last { return (table, table) }
            let next = words[(index + 2)...].prefix(2).first { $0.uppercased() != "AS" }
            if next == last { return (table, last) }
        }
        return nil
    }

    /// The name of the first table of the query.
    var firstAlias: String? {
        guard let from = words.firstIndex(where: { $0.uppercased() == "FROM" }), from + 1 < words.count else {
            return nil
        }
        let next = words[(from + 2)...].prefix(2).first { $0.uppercased() != "AS" }
        let isName = next.map { word in
            word.contains { $0.isLetter } && !Self.clauses.contains(word.uppercased())
        }
        return isName == true ? next : words[from + 1]
    }

    private static let clauses: Set = ["WHERE", "JOIN", "LEFT", "INNER", "CROSS", "ORDER", "GROUP", "LIMIT"]

    private func index(of clause: String) -> Int? { words.lastIndex { $0.uppercased() == clause } }

    /// The columns of a table that the query names after WHERE, in the order of their first use.
    func columns(of alias: String) -> [String] {
        let start = words.firstIndex { ["WHERE", "ORDER"].contains($0.uppercased()) }
        return start.map { columns(of: alias, in: words[$0...].indices) { _ in true } } ?? []
    }

    /// The columns of a table that the query compares.
    func compared(_ alias: String) -> [String] { compared(alias) { _ in true } }

    /// The columns of a table that the query compares by `=`.
    func equated(_ alias: String) -> [String] {
        compared(alias) { $0 + 1 < words.count && ["=", "IS"].contains(words[$0 + 1].uppercased()) }
    }

    private func compared(_ alias: String, where isIncluded: (Int) -> Bool) -> [String] {
        guard let start = words.firstIndex(where: { $0.uppercased() == "WHERE" }) else { return [] }
        return columns(of: alias, in: start..<max(start, index(of: "ORDER") ?? words.count), where: isIncluded)
    }

    private func columns(of alias: String, in range: Range<Int>, where isIncluded: (Int) -> Bool) -> [String] {
        var columns: [String] = []
        for index in range where words[index].hasPrefix(alias + ".") && isIncluded(index) {
            let column = String(words[index].dropFirst(alias.count + 1))
            if !columns.contains(column), column != "Z_PK", column != "Z_ENT" { columns.append(column) }
        }
        return columns
    }

    /// The columns that the query sorts by, if they are columns of one table without a collation. Nil otherwise.
    var order: (alias: String, columns: [String])? {
        guard let start = index(of: "ORDER"), start + 2 < words.count else { return nil }
        let terms = words[(start + 2)...].prefix { !["LIMIT", "OFFSET"].contains($0.uppercased()) }
            .split(separator: ",")
        var alias: String?
        var columns: [String] = []
        for term in terms {
            guard let parts = term.first?.split(separator: "."), parts.count == 2,
                term.dropFirst().allSatisfy({ ["ASC", "DESC"].contains($0.uppercased()) }),
                alias == nil || alias == String(parts[0])
            else { return nil }
            alias = String(parts[0])
            // Each index ends with the primary key.
            if parts[1] != "Z_PK" { columns.append(String(parts[1])) }
        }
        return columns.isEmpty ? nil : alias.map { ($0, columns) }
    }
}
