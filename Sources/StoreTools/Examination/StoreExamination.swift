import AtomicFiles
import CoreDataErrors
import Foundation
import GRDB
import ManagedObjects
import SQLStatements
import SQLStores
import SQLiteConnections
import StoreRescue

/// What a store's file consists of: tables and indexes with their sizes, free pages, the history, the tables of mirroring, and
/// files of large values. An examination reads one state, and changes nothing.
package struct StoreExamination: Sendable {
    /// A table or an index of the file.
    package struct Tree: Sendable {
        package let name: String
        /// The table to which an index belongs; the name of a table itself.
        package let table: String
        package var isIndex: Bool { name != table }
        /// The size of its pages, in bytes.
        package let byteCount: Int64
    }

    /// The history of changes.
    package struct History: Sendable {
        /// A program or author that has written transactions.
        package struct Author: Sendable {
            package let name: String
            package let transactionCount: Int
        }

        package let transactionCount: Int
        package let changeCount: Int
        /// The times of the first and last transaction.
        package let first: Date
        package let last: Date
        /// The changes of the last thirty days before the last transaction, which a purge of older ones would keep.
        package let recentChangeCount: Int
        /// The size of the tables of the history with their indexes, in bytes.
        package let byteCount: Int64
        /// Who wrote it, the one with the most transactions first.
        package let authors: [Author]
    }

    /// The tables with which Core Data mirrors a store to CloudKit.
    package struct Mirroring: Sendable {
        package let tables: [(name: String, rowCount: Int)]
        package let byteCount: Int64
    }

    package let pageSize: Int64
    package let pageCount: Int64
    package let freePageCount: Int64
    /// The size of the write-ahead log, in bytes.
    package let logByteCount: Int64
    /// Whether the file shrinks when rows are deleted, at once (1) or on request (2); 0 if it does not.
    package let automaticVacuum: Int64
    /// Whether SQLite has statistics about the indexes, with which it chooses among them.
    package let hasStatistics: Bool
    /// The tables and indexes, the largest first.
    package let trees: [Tree]
    package let history: History?
    package let mirroring: Mirroring?
    /// The files of large values beside the store.
    package let fileCount: Int
    package let fileByteCount: Int64
    /// The names of entities by their tables.
    package let entitiesByTable: [String: [String]]
    /// The rows that nothing owns, by entity.
    package let orphans: [Orphans]

    /// Examines the store at a location, in the state to which the context is pinned. Must be called on the context's queue.
    ///
    /// Cost: each page of the file; some statements for each entity that another one owns. Memory does not depend on the size of
    /// the store.
    ///
    /// - Throws: Errors of Core Data's.
    package init(of url: URL, model: NSManagedObjectModel, in context: NSManagedObjectContext) throws {
        guard let store = context.coordinator?.persistentStore(for: url) as? SQLiteStore else {
            throw CocoaError(
                .persistentStoreOperation, "Only stores in files are examined.", url: url.withoutPassword)
        }
        let tables = try StoreTables(of: url, in: context)
        let generation = context.pinnedGenerations?.generation(of: store)
        self = try store.reading(generation, .lastingState) { database in
            let size = try StoreReader(database).byteCount()
            let reader = StoreReader(database, limit: .scan(byteCount: size))
            return try StoreExamination(reader, url: url, model: model, tables)
        }
    }

    private init(
        _ reader: StoreReader, url: URL, model: NSManagedObjectModel, _ tables: StoreTables
    ) throws {
        pageSize = try reader.integer("SELECT page_size FROM pragma_page_size")
        pageCount = try reader.integer("SELECT page_count FROM pragma_page_count")
        freePageCount = try reader.integer("SELECT freelist_count FROM pragma_freelist_count")
        automaticVacuum = try reader.integer("SELECT auto_vacuum FROM pragma_auto_vacuum")
        logByteCount = FileStatus(SQLiteFile(url).path + "-wal")?.byteCount ?? 0
        let names = try reader.tableNames()
        hasStatistics = names.contains("sqlite_stat1")
        let trees = try Self.trees(reader, url: url)
        self.trees = trees
        func size(of names: [String]) -> Int64 {
            let names = Set(names)
            return trees.reduce(0) { $0 + (names.contains($1.table) ? $1.byteCount : 0) }
        }
        let historyTables = names.filter { ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"].contains($0) }
        history = try Self.history(reader, names, byteCount: size(of: Array(historyTables)))
        let mirrored = names.filter { $0.hasPrefix("ANSCK") && SQLSchema.isUsable($0) }.sorted()
        mirroring =
            mirrored.isEmpty
            ? nil
            : Mirroring(
                tables: try mirrored.map { ($0, Int(try reader.integer("SELECT count(*) FROM \($0)"))) },
                byteCount: size(of: mirrored))
        let files = ExternalData(directory: SQLiteFile(url).externalDataDirectory)
        var (fileCount, fileByteCount): (Int, Int64) = (0, 0)
        try files.forEachFile { name in
            fileCount += 1
            fileByteCount += FileStatus(files.url(of: name.uuidString).path)?.byteCount ?? 0
        }
        (self.fileCount, self.fileByteCount) = (fileCount, fileByteCount)
        entitiesByTable = Dictionary(grouping: tables.entities, by: \.table).mapValues { $0.map(\.name) }
        orphans = try OrphanSearch(model: model, tables: tables).orphans(reader)
    }

    // MARK: - Sizes

    /// The sizes of tables and indexes: by SQLite if it was built with `dbstat`, else by reading the pages.
    private static func trees(_ reader: StoreReader, url: URL) throws -> [Tree] {
        let owners = try reader.rows("SELECT name, tbl_name, rootpage FROM sqlite_master WHERE rootpage > 0")
            .compactMap { row in
                row.text(0).flatMap { name in row.text(1).map { (name, $0, Int(row.integer(2) ?? 0)) } }
            }
        let tables = Dictionary(owners.map { ($0.0, $0.1) }, uniquingKeysWith: { first, _ in first })
        let sizes = try reader.byteCountsOfTrees() ?? TreeSizes(url: url, roots: owners.map { ($0.0, $0.2) }).byteCounts
        return sizes.map { Tree(name: $0.key, table: tables[$0.key] ?? $0.key, byteCount: $0.value) }
            .sorted { ($1.byteCount, $0.name) < ($0.byteCount, $1.name) }
    }

    // MARK: - History

    private static func history(_ reader: StoreReader, _ names: Set<String>, byteCount: Int64) throws -> History? {
        guard names.isSuperset(of: ["ACHANGE", "ATRANSACTION"]) else { return nil }
        let range = try reader.firstRow(
            "SELECT count(*), CAST(min(ZTIMESTAMP) AS INTEGER), CAST(max(ZTIMESTAMP) AS INTEGER) FROM ATRANSACTION")
        guard let range, let count = range.integer(0), count > 0, let first = range.integer(1),
            let last = range.integer(2)
        else { return nil }
        let changes = try reader.integer("SELECT count(*) FROM ACHANGE")
        // A real number: the times of a damaged history may be the least integer.
        let bound = try reader.integer(
            "SELECT coalesce(max(Z_PK), 0) FROM ATRANSACTION WHERE ZTIMESTAMP < ?", [.real(Double(last) - 30 * 86_400)])
        let recent = try reader.integer("SELECT count(*) FROM ACHANGE WHERE ZTRANSACTIONID > ?", [.integer(bound)])
        var authors: [History.Author] = []
        if names.contains("ATRANSACTIONSTRING") {
            authors = try reader.rows(
                """
                SELECT coalesce(a.ZNAME, ''), coalesce(p.ZNAME, b.ZNAME, ''), count(*) FROM ATRANSACTION t
                LEFT JOIN ATRANSACTIONSTRING a ON a.Z_PK = t.ZAUTHORTS LEFT JOIN ATRANSACTIONSTRING b ON b.Z_PK = t.ZBUNDLEIDTS
                LEFT JOIN ATRANSACTIONSTRING p ON p.Z_PK = t.ZPROCESSIDTS GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 20
                """
            ).map { row in
                let (author, program) = (row.text(0) ?? "", row.text(1) ?? "")
                let name = author.isEmpty ? program : program.isEmpty ? author : "\(author) (\(program))"
                return History.Author(name: name, transactionCount: Int(row.integer(2) ?? 0))
            }
        }
        return History(
            transactionCount: Int(count), changeCount: Int(changes),
            first: Date(timeIntervalSinceReferenceDate: Double(first)),
            last: Date(timeIntervalSinceReferenceDate: Double(last)), recentChangeCount: Int(recent),
            byteCount: byteCount, authors: authors)
    }
}

extension StoreReader: RowCheckReader {
    /// Columns have no types in SQLite.
    func hasWrongType(_ column: String, _ kind: EntityLayout.Slot.Kind) -> String? {
        let types: String
        switch kind {
        case .integer16, .integer32, .integer64, .boolean, .position: types = "'integer'"
        case .date, .double, .float: types = "'integer', 'real'"
        case .decimal: types = "'integer', 'real', 'text'"
        case .string, .uri: types = "'text'"
        case .uuid, .data, .transformable: types = "'blob'"
        case .toOne, .undefined: return nil
        }
        return "typeof(\(column)) NOT IN ('null', \(types))"
    }
}
