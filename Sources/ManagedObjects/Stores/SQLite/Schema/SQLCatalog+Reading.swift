import GRDB

extension SQLCatalog {
    /// Reads what is in a store. Cost: one statement for each table.
    init(in database: Database) throws {
        let objects = try Row.fetchCursor(database, sql: "SELECT type, name, sql FROM sqlite_master")
        var tables: [String] = []
        while let object = try objects.next() {
            guard let name: String = object["name"] else { continue }
            statements[name] = object["sql"]
            if object["type"] == "table" { tables.append(name) }
        }
        for table in tables {
            // Not GRDB's own list: tables of other programs may have names that it refuses.
            let rows = try Row.fetchAll(database, sql: "SELECT name FROM pragma_table_info(?)", arguments: [table])
            columns[table] = rows.compactMap { $0["name"] }
        }
        guard hasTable("Z_PRIMARYKEY") else { return }
        for row in try Row.fetchAll(database, sql: "SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY") {
            if let name: String = row["Z_NAME"], let number: Int64 = row["Z_ENT"] { numbers[name] = number }
        }
    }
}
