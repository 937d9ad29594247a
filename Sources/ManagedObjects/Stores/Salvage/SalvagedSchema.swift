import Foundation
import GRDB

/// The schema of a damaged store: the tables that can still be read from it, completed by those of the model.
struct SalvagedSchema {
    let schema: SQLSchema
    /// The columns of each table, in order.
    let columns: [String: [String]]
    /// The root pages of the tables whose entries in the schema can be read.
    let roots: [String: Int]
    /// The tables of the model whose entries in the schema are lost, or that the store never had.
    let lost: [String]
    /// The last assigned keys, by entity.
    let lastKeys: [String: Int64]

    /// An entry of `sqlite_master` for a table.
    struct Entry {
        let name: String
        let root: Int
        let statement: String
    }

    /// Executes the statements of the entries in a database in memory, which says what columns they create.
    ///
    /// - Parameters:
    ///   - numbers: The rows of `Z_PRIMARYKEY`: the number, the name and the last key of each entity.
    init(
        _ entries: [Entry], numbers: [(number: Int64, name: String, lastKey: Int64)], model: NSManagedObjectModel
    ) throws {
        let queue = try DatabaseQueue()
        var roots: [String: Int] = [:]
        lastKeys = Dictionary(numbers.map { ($0.name, $0.lastKey) }, uniquingKeysWith: max)
        (schema, columns, lost) = try queue.writeWithoutTransaction { database in
            // Statements of a damaged file may be anything; only tables are created, with a limit of steps.
            for entry in entries where entry.statement.uppercased().hasPrefix("CREATE TABLE ") {
                guard
                    (try? StepLimit.inspection.run(on: database, { try database.execute(sql: entry.statement) })) != nil
                else { continue }
                roots[entry.name] = entry.root
            }
            let standard = SQLSchemaBuilder.schema(of: model)
            if !(try StoreReader(database).hasTable("Z_PRIMARYKEY")) {
                try database.execute(sql: "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR)")
            }
            for row in numbers {
                try database.execute(
                    sql: "INSERT OR IGNORE INTO Z_PRIMARYKEY (Z_ENT, Z_NAME) VALUES (?, ?)",
                    arguments: [row.number, row.name])
            }
            // With the numbers of the store, on which the names of join tables depend.
            let found = SQLSchemaBuilder.schema(of: model, catalog: try SQLCatalog(in: database))
            let names = found.missing.filter { !$0.contains(".") }
            for name in names {
                guard let statement = found.createStatement(of: name) ?? standard.createStatement(of: name) else {
                    continue
                }
                try database.execute(sql: statement)
            }
            let catalog = try SQLCatalog(in: database)
            return (SQLSchemaBuilder.schema(of: model, catalog: catalog), catalog.columns, names)
        }
        self.roots = roots
    }
}
