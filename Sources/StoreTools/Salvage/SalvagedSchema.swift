import Foundation
import GRDB
import ManagedObjects
import SQLStatements
import SQLStores
import SQLiteConnections
import StoreRescue

/// The schema of a damaged store: the tables that can still be read from it, completed by those of the model.
struct SalvagedSchema {
    let schema: SQLSchema
    /// The columns of each table, in order.
    let columns: [String: [String]]
    /// The root pages of the tables whose entries in the schema can be read.
    let roots: [String: Int]
    /// Whether an entry of the schema is damaged, so that the root of a table may not be known.
    let hasDamagedEntries: Bool
    /// The tables of the model whose entries in the schema are lost, or that the store never had.
    let lost: [String]
    /// The last assigned keys, by entity.
    let lastKeys: [String: Int64]

    /// The number of tables that are created in one database: SQLite takes a step for each table of a database when another one
    /// is created.
    private static let tablesTogether = 256

    /// Executes the statements of the entries in databases in memory, to determine the columns that they create. Cost: linear
    /// in the number of entries.
    ///
    /// - Parameters:
    ///   - numbers: The rows of `Z_PRIMARYKEY`: the number, the name and the last key of each entity.
    init(
        _ entries: [StoreRescue.Entry], numbers: [(number: Int64, name: String, lastKey: Int64)],
        model: NSManagedObjectModel
    ) throws {
        var roots: [String: Int] = [:]
        var knownRoots: Set<Int> = []
        var hasDamagedEntries = false
        lastKeys = Dictionary(numbers.map { ($0.name, $0.lastKey) }, uniquingKeysWith: max)
        var readable = SQLCatalog()
        // Names in SQLite are case-insensitive.
        var names: Set<String> = []
        for start in stride(from: 0, to: entries.count, by: Self.tablesTogether) {
            let part = entries[start..<min(start + Self.tablesTogether, entries.count)]
            let tables = try DatabaseQueue().writeWithoutTransaction { database in
                for entry in part {
                    let created = Self.create(entry.statement, in: database)
                        .flatMap { names.insert($0.lowercased()).inserted ? $0 : nil }
                    let isIntact = created == entry.name || entry.name.hasPrefix("sqlite_")
                    if !isIntact || !knownRoots.insert(entry.root).inserted { hasDamagedEntries = true }
                    for name in [entry.name, created].compactMap({ $0 }) where isIntact || roots[name] == nil {
                        roots[name] = entry.root
                        knownRoots.insert(entry.root)
                    }
                }
                return try SQLCatalog(tablesIn: database)
            }
            readable.add(tables)
        }
        (schema, columns, lost) = try DatabaseQueue().writeWithoutTransaction { database in
            // The statement of the store may have created it without these columns.
            try database.execute(sql: "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR)")
            for row in numbers {
                try database.execute(
                    sql: "INSERT OR IGNORE INTO Z_PRIMARYKEY (Z_ENT, Z_NAME) VALUES (?, ?)",
                    arguments: [row.number, row.name])
            }
            /// The tables of the store and those created here, which take precedence.
            func catalog() throws -> SQLCatalog {
                var catalog = try SQLCatalog(in: database)
                catalog.add(readable)
                return catalog
            }
            let standard = SQLSchemaBuilder.schema(of: model)
            // With the numbers of the store, on which the names of join tables depend.
            let found = SQLSchemaBuilder.schema(of: model, catalog: try catalog())
            let names = found.missing.filter { !$0.contains(".") }
            for name in names {
                guard let statement = found.createStatement(of: name) ?? standard.createStatement(of: name) else {
                    continue
                }
                try database.execute(sql: statement)
            }
            let completed = try catalog()
            return (SQLSchemaBuilder.schema(of: model, catalog: completed), completed.columns, names)
        }
        self.roots = roots
        self.hasDamagedEntries = hasDamagedEntries
    }

    /// The tables of the model, as their rows are recognised.
    var tables: RescuedTables {
        RescuedTables(
            entityTables: schema.tables.map { table in
                RescuedTables.EntityTable(
                    name: table.name, columns: columns[table.name] ?? [],
                    numbers: Set(schema.entities.filter { $0.table == table.name }.map(\.number)),
                    lastKey: lastKeys[table.root.name] ?? 0)
            },
            joinTables: schema.joinTables.map { join in
                func table(_ entity: Int?) -> String { entity.flatMap { schema.entity(at: $0) }?.table ?? "" }
                return RescuedTables.JoinTable(
                    name: join.name, columns: columns[join.name] ?? [],
                    source: (join.sourceColumn, table(join.owner.entity)),
                    destination: (join.destinationColumn, table(join.owner.destination)))
            },
            roots: roots, hasDamagedEntries: hasDamagedEntries, lost: lost)
    }

    /// Executes the statement of an entry, which in a damaged file may be anything: only if it creates a table, and with a
    /// limit of steps. Text after the first statement is ignored, as SQLite does when it reads a schema; as a statement
    /// it could attach other files.
    ///
    /// - Returns: The name of the table; nil if the statement is not valid.
    private static func create(_ statement: String, in database: Database) -> String? {
        guard statement.uppercased().hasPrefix("CREATE TABLE "),
            let creation = try? database.allStatements(sql: statement).next(),
            (try? StepLimit.inspection.run(on: database, { try creation.execute() })) != nil
        else { return nil }
        return try? StoreReader(database).newestTable()
    }
}
