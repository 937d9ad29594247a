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

    /// Executes the statement of an entry, which in a damaged file may be anything: only if it creates a table with the columns
    /// that it lists, and with a limit of steps. Text after the first statement is ignored, as SQLite does when it reads a
    /// schema; as a statement it could attach other files.
    ///
    /// - Returns: The name of the table; nil if the statement is not valid.
    private static func create(_ statement: String, in database: Database) -> String? {
        guard listsColumns(statement),
            let creation = try? database.allStatements(sql: statement).next(),
            (try? StepLimit.inspection.run(on: database, { try creation.execute() })) != nil
        else { return nil }
        return try? StoreReader(database).newestTable()
    }

    /// Whether a statement begins as `CREATE TABLE name (`. With `AS SELECT` it would make rows of any size. SQLite never writes
    /// that to a schema, but the columns of the new table.
    private static func listsColumns(_ statement: String) -> Bool {
        let beginning = "CREATE TABLE "
        guard statement.prefix(beginning.count).uppercased() == beginning else { return false }
        var rest = statement.utf8.dropFirst(beginning.utf8.count)
        skipBlanks(&rest)
        guard let first = rest.first else { return false }
        switch first {
        case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"):
            rest.removeFirst()
            while let byte = rest.popFirst() {
                guard byte == first else { continue }
                // A quotation mark twice is one of the name.
                guard rest.first == first else { break }
                rest.removeFirst()
            }
        case UInt8(ascii: "["):
            rest = rest.drop { $0 != UInt8(ascii: "]") }.dropFirst()
        default:
            rest = rest.drop(while: isOfName)
        }
        skipBlanks(&rest)
        return rest.first == UInt8(ascii: "(")
    }

    /// Whether SQLite allows a byte in a name without quotation marks.
    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...0xFF: true
        default: false
        }
    }

    /// Removes spaces and comments at the beginning of a text.
    private static func skipBlanks(_ text: inout Substring.UTF8View) {
        while let byte = text.first {
            if [0x09, 0x0A, 0x0C, 0x0D, 0x20].contains(byte) {
                text.removeFirst()
            } else if text.starts(with: "--".utf8) {
                text = text.drop { $0 != 0x0A }
            } else if text.starts(with: "/*".utf8) {
                text = text.dropFirst(2)
                while !text.isEmpty, !text.starts(with: "*/".utf8) { text.removeFirst() }
                text = text.dropFirst(2)
            } else {
                return
            }
        }
    }
}
