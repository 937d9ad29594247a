import GRDB
import SQLStores
import SQLiteConnections

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
    func createStatement(of table: String) -> String? {
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
            let superentity = entity.entity.superentity.flatMap { self.entity($0)?.number } ?? 0
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
