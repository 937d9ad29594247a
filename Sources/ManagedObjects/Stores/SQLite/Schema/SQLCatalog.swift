import Foundation

/// What is really in a store: tables with their columns, indexes and triggers, and the entities' numbers.
struct SQLCatalog: Sendable {
    /// The columns of each table and of each R-tree, in order.
    var columns: [String: [String]] = [:]
    /// The SQL of everything in `sqlite_master` that has some, by name.
    var statements: [String: String] = [:]
    /// The entities of `Z_PRIMARYKEY`, but those of a history.
    var numbers: [String: Int64] = [:]
    /// The views and virtual tables, in upper case: SQLite does not tell names apart by case.
    var derivedTables: Set<String> = []
    /// The tables in which `Z_PK` is the number of the row, as only an integer primary key is.
    var keyedTables: Set<String> = []

    /// Whether there is nothing at all: a file that has just been made.
    var isEmpty: Bool { statements.isEmpty && columns.isEmpty }

    func hasTable(_ name: String) -> Bool { columns[name] != nil }

    /// Refuses a store in which something else stands in the place of a table that the schema expects: a view, which may run without
    /// end, a virtual table, or a table that takes any value as a primary key, so that several rows would be one object.
    ///
    /// - Throws: Code 259.
    func requireTables(of schema: SQLSchema, url: URL?) throws {
        let own = ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]
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
