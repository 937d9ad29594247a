/// What is really in a store: tables with their columns, indexes and triggers, and the entities' numbers.
struct SQLCatalog: Sendable {
    /// The columns of each table and virtual table, in order.
    var columns: [String: [String]] = [:]
    /// The SQL of everything in `sqlite_master` that has some, by name.
    var statements: [String: String] = [:]
    /// The entities of `Z_PRIMARYKEY`.
    var numbers: [String: Int64] = [:]

    /// Whether there is nothing at all: a file that has just been made.
    var isEmpty: Bool { statements.isEmpty && columns.isEmpty }

    func hasTable(_ name: String) -> Bool { columns[name] != nil }
}
