import Foundation

/// The actual schema of a store: tables with their columns, indexes and triggers, and the entities' numbers.
struct SQLCatalog: Sendable {
    /// The columns of each table and of each R-tree, in order.
    var columns: [String: [String]] = [:]
    /// The database's names of the types of columns, by table and column; empty if columns have no types.
    var columnTypes: [String: [String: String]] = [:]
    /// The SQL of all entries in `sqlite_master` that have some, by name.
    var statements: [String: String] = [:]
    /// The entities of `Z_PRIMARYKEY`, without those of a history.
    var numbers: [String: Int64] = [:]
    /// The views and virtual tables, in upper case: names in SQLite are case-insensitive.
    var derivedTables: Set<String> = []
    /// The tables in which `Z_PK` is the rowid, which only an integer primary key is.
    var keyedTables: Set<String> = []

    /// Whether the database is empty: a file that has just been created.
    var isEmpty: Bool { statements.isEmpty && columns.isEmpty }

    func hasTable(_ name: String) -> Bool { columns[name] != nil }

    /// Rejects a store that has something else in place of a table of the schema: a view, which may never terminate, a
    /// virtual table, or a table that accepts any value as a primary key, so that several rows could be one object.
    ///
    /// - Throws: Code 259.
    func requireTables(of schema: SQLSchema, url: URL?) throws {
        let own = [
            "Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING",
            OldValueStatements.values, OldValueStatements.pairs,
        ]
        let entityTables = schema.tables.map(\.name)
        for name in own + entityTables + schema.joinTables.map(\.name) where derivedTables.contains(name.uppercased()) {
            throw CocoaError(
                .fileReadCorruptFile,
                "The store is damaged: \(name) is a view or a virtual table, and must be a table.",
                url: url)
        }
        guard hasTable("Z_PRIMARYKEY") else {
            throw CocoaError(.fileReadCorruptFile, "The store is damaged: it lacks the table Z_PRIMARYKEY.", url: url)
        }
        for name in entityTables where hasTable(name) && !keyedTables.contains(name) {
            throw CocoaError(
                .fileReadCorruptFile, "The store is damaged: Z_PK is not the primary key of the table \(name).",
                url: url)
        }
    }
}
