import GRDB
import SQLiteConnections
import SQLStatements

// The statements that create a store, as Core Data writes them.

extension SQLSchema {
    /// All statements of a new store, in order: tables, indexes, triggers, and the tables for metadata.
    var createStatements: [String] {
        tableStatements + indexStatements + triggerStatements + Self.ownTableStatements
    }

    /// The statements that create the indexes.
    var indexStatements: [String] { indexStatements(in: SQLiteDialect()) }

    private var tableStatements: [String] {
        tableDefinitions.map { SQLiteDialect().text(of: $0) }
    }

    /// The statement that creates the table of an entity or a relationship; nil if the schema has none of that name.
    package func createStatement(of table: String) -> String? {
        tableDefinitions.first { $0.name == table }.map { SQLiteDialect().text(of: $0) }
    }

    private static let ownTableStatements = [
        "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
        "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
        "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
    ]

    /// Creates everything in an empty database, and the rows with the entities' numbers.
    func create(in database: Database) throws {
        for statement in createStatements { try database.execute(sql: statement) }
        for entity in entities {
            let superentity = entity.entity.superentity.flatMap { self.entity(at: $0)?.number } ?? 0
            try database.execute(
                SQLQuery(
                    KeyCommands.insertion,
                    [
                        .integer(entity.number), ColumnValue(entity.entity.name),
                        .integer(superentity), .integer(0),
                    ]))
        }
    }
}

/// The indexes, triggers and R-trees of an SQLite store that is migrated in place.
struct SQLiteTableObjects: TableObjects {
    let schema: MigratedSchema
    let catalog: SQLCatalog

    private static let historyTables = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]

    /// Whether an index, trigger or virtual table is Core Data's own, by its name. Others are kept; SQLite renames the tables
    /// and columns in them.
    private func isOwn(_ name: String, _ sql: String, _ kind: String, prefixes: [String]) -> Bool {
        guard prefixes.contains(where: name.hasPrefix), sql.hasPrefix("CREATE \(kind) ") else { return false }
        return !Self.historyTables.contains { sql.contains(" ON \($0) ") || sql.contains(" ON \($0)(") }
    }

    /// Drops triggers and R-trees, which are created again, and indexes that the new schema does not have.
    func removal(except kept: Set<String>) -> [String] {
        var statements: [String] = []
        let wanted = Set(schema.new.indexStatements.filter { kept.contains(Self.table(of: $0)) })
        for (name, sql) in catalog.statements.sorted(by: { $0.key < $1.key }) {
            // The objects of other programs may have any name, so names are quoted.
            let quoted = name.quotedDatabaseIdentifier
            let isIndex = ["INDEX", "UNIQUE INDEX"].contains { isOwn(name, sql, $0, prefixes: ["Z"]) }
            if isOwn(name, sql, "TRIGGER", prefixes: ["Z_DA_", "Z_RT_"]) {
                statements.append("DROP TRIGGER \(quoted)")
            } else if isOwn(name, sql, "VIRTUAL TABLE", prefixes: ["Z_RT_"]) {
                statements.append("DROP TABLE \(quoted)")
            } else if isIndex, !wanted.contains(sql) {
                statements.append("DROP INDEX \(quoted)")
            }
        }
        return statements
    }

    func creation(on kept: Set<String>) -> (statements: [String], constraints: [String]) {
        var (statements, constraints): ([String], [String]) = ([], [])
        let new = schema.new
        let existing = Set(catalog.statements.values)
        for statement in new.indexStatements {
            if existing.contains(statement), kept.contains(Self.table(of: statement)),
                statement.hasPrefix("CREATE INDEX ") || statement.hasPrefix("CREATE UNIQUE INDEX ")
            {
                continue
            }
            if statement.hasPrefix("CREATE UNIQUE INDEX") {
                constraints.append(statement)
            } else {
                statements.append(statement)
            }
        }
        statements += new.triggerStatements
        let spatialTables = new.spatialTables
        for entity in new.entities {
            for index in entity.entity.indexes {
                let name = SQLSchema.spatialTable(of: index.name, in: entity.entity)
                guard let columns = spatialTables[name] else { continue }
                let values = columns.map { $0.dropLast("_MIN".count) }.joined(separator: ", ")
                statements.append(
                    "INSERT OR REPLACE INTO \(name) (Z_PK, \(columns.joined(separator: ", "))) "
                        + "SELECT Z_PK, \(values) FROM \(entity.table)")
            }
        }
        return (statements, constraints)
    }
}
