import GRDB

// The statements that create a store, as Core Data writes them.

extension SQLSchema {
    /// All statements of a new store, in order: tables, indexes, triggers, and the tables for metadata.
    var createStatements: [String] {
        tableStatements + indexStatements + triggerStatements + Self.ownTableStatements
    }

    /// Entity tables, each followed by the join tables that its entities own.
    private var tableStatements: [String] {
        tables.flatMap { table in [Self.statement(table)] + joinTables(of: table).map(Self.statement) }
    }

    /// The statement that creates the table of an entity or a relationship; nil if the schema has none of that name.
    func createStatement(of table: String) -> String? {
        tableStatements.first { $0.hasPrefix("CREATE TABLE \(table) ") }
    }

    static func statement(_ table: SQLTable) -> String {
        let columns = table.columns.map { ", \($0.name) \($0.declaration.rawValue)" }.joined()
        return "CREATE TABLE \(table.name) ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER\(columns) )"
    }

    static func statement(_ table: SQLJoinTable) -> String {
        let columns = table.columns.map { "\($0) INTEGER" }.joined(separator: ", ")
        return "CREATE TABLE \(table.name) ( \(columns), "
            + "PRIMARY KEY (\(table.sourceColumn), \(table.destinationColumn)) )"
    }

    func joinTables(of table: SQLTable) -> [SQLJoinTable] {
        joinTables.filter { $0.owner.entityIfAny?.rootEntity === table.root }
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
                sql: "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, 0)",
                arguments: [entity.number, entity.entity.name, superentity])
        }
    }
}
