import CoreDataErrors
import Foundation
import GRDB
import GRDBSQLite
import SQLStatements

/// Reads rows of a store whose content is not trusted: for metadata and for integrity checks.
///
/// Any column may contain any type, so values are returned only in the type that they have (``StoredRow``). Each
/// statement has a step limit, and fails with `SQLITE_INTERRUPT` when it is reached.
package struct StoreReader: SQLRowReading {
    private let database: Database
    private let limit: StepLimit

    package init(_ database: Database, limit: StepLimit = .inspection) {
        self.database = database
        self.limit = limit
    }

    /// The tables, views and virtual tables of the database: `name`, `type`, and `wr`, which is not 0 for tables
    /// WITHOUT ROWID.
    ///
    /// SQLite derives these from the statements in `sqlite_master`; a crafted file may have any value in the other
    /// columns of that table.
    package static let tableList =
        sqlite3_libversion_number() >= 3_037_000
        ? "SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main' AND name <> 'sqlite_schema'"
        : "SELECT name, type, 0 AS wr FROM sqlite_master WHERE type IN ('table', 'view')"

    package var dialect: any SQLDialect { SQLiteDialect() }

    /// The names of the tables, without views and virtual tables.
    package func tableNames() throws -> Set<String> {
        var names: Set<String> = []
        try forEachRow("SELECT name FROM (\(Self.tableList)) WHERE type = 'table'") { row in
            if let name = row.text(0) { names.insert(name) }
        }
        return names
    }

    package func firstRow(_ sql: String, _ arguments: [ColumnValue]) throws -> StoredRow? {
        try limit.run(on: database) {
            try Row.fetchOne(database, sql: sql, arguments: StatementArguments(arguments)).map {
                StoredRow($0.columnValues)
            }
        }
    }

    package func forEachRow(
        _ sql: String, _ arguments: [ColumnValue], _ body: (StoredRow) throws -> Void
    ) throws {
        try limit.run(on: database) {
            // Not cached by text, because a check executes a different statement for each property.
            let rows = try Row.fetchCursor(database, sql: sql, arguments: StatementArguments(arguments))
            while let row = try rows.next() { try body(StoredRow(row.columnValues)) }
        }
    }
}

extension SQLCatalog {
    /// Reads the schema of a store. Cost: four statements, regardless of the number of tables.
    ///
    /// - Throws: Code 259 if the numbers of the entities are damaged, and errors of SQLite.
    package init(in database: Database) throws {
        try self.init(tablesIn: database)
        if hasTable("Z_PRIMARYKEY") { try readNumbers(StoreReader(database)) }
    }

    /// Reads the tables of a database that may be none of a store.
    package init(tablesIn database: Database) throws {
        self.init()
        let reader = StoreReader(database)
        for object in try reader.rows("SELECT name, sql FROM sqlite_master") {
            if let name = object.text(0) { statements[name] = object.text(1) }
        }
        try readTables(reader)
    }

    private mutating func readTables(_ reader: StoreReader) throws {
        // Tables WITHOUT ROWID accept any value as an integer primary key.
        var keyless: Set<String> = []
        for object in try reader.rows(StoreReader.tableList) {
            guard let name = object.text(0), let type = object.text(1) else { continue }
            if type != "table" { derivedTables.insert(name.uppercased()) }
            if type == "table" { columns[name] = [] }
            if object.integer(2) != 0 { keyless.insert(name) }
        }
        // Virtual tables other than R-trees may need modules that are not available.
        let tables =
            "(SELECT name FROM (\(StoreReader.tableList)) WHERE type = 'table' OR type = 'virtual' AND name GLOB 'Z_RT_*')"
        var keys: [String: [String]] = [:]
        for column in try reader.rows(
            "SELECT t.name, c.name, c.type, c.pk FROM \(tables) t JOIN pragma_table_info(t.name) c")
        {
            guard let table = column.text(0), let name = column.text(1) else { continue }
            columns[table, default: []].append(name)
            if column.integer(3) != 0 {
                keys[table, default: []].append("\(name) \(column.text(2) ?? "")".uppercased())
            }
        }
        keyedTables = Set(keys.filter { $0.value == ["Z_PK INTEGER"] && !keyless.contains($0.key) }.keys)
    }

    /// The numbers of a history's own entities start here; entity numbers above the last are invalid.
    private static let firstHistoryNumber: Int64 = 16000
    private static let lastNumber: Int64 = 0xFFFF

    private mutating func readNumbers(_ reader: StoreReader) throws {
        for row in try reader.rows("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY") {
            guard let number = row.integer(0), let name = row.text(1), (1...Self.lastNumber).contains(number)
            else {
                throw CocoaError(
                    .fileReadCorruptFile,
                    "The store is damaged: Z_PRIMARYKEY has a row without an entity's number and name.")
            }
            // A history's entity CHANGE may have the same name as one of the model's entities.
            guard number < Self.firstHistoryNumber else { continue }
            guard numbers.updateValue(number, forKey: name) == nil else {
                throw CocoaError(
                    .fileReadCorruptFile, "The store is damaged: Z_PRIMARYKEY contains the entity “\(name)” twice.")
            }
        }
        guard Set(numbers.values).count == numbers.count else {
            throw CocoaError(
                .fileReadCorruptFile, "The store is damaged: Z_PRIMARYKEY has two entities with the same number.")
        }
    }
}
