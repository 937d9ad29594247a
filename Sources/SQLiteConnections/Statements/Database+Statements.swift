import GRDB
import SQLStatements

// Statements that only SQLite has: pragmas, and queries of its own tables.

extension Database {
    /// A number that changes with each change of the schema, and that other connections compare with the one they have read.
    package func versionOfSchema() throws -> Int64 { try Int64.fetchOne(self, sql: "PRAGMA schema_version") ?? 0 }

    /// Sets the number to the next one, so that other connections read the schema again.
    package func incrementVersionOfSchema() throws {
        try execute(sql: "PRAGMA schema_version = \((versionOfSchema() + 1) % Int64(Int32.max))")
    }

    /// The columns of a table with their declared types, in order; empty if there is no such table.
    package func columnTypes(of table: String) throws -> [(name: String, type: String)] {
        try Row.fetchAll(self, sql: "SELECT name, type FROM pragma_table_info(?)", arguments: [table])
            .map { ($0[0] as String, $0[1] as String) }
    }

    /// Whether there is a table of a name, in the state that the connection reads now.
    package func hasTable(_ name: String) throws -> Bool {
        try Bool.fetchOne(
            self, sql: "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?)",
            arguments: [name])
            ?? false
    }

    /// Moves the content of the log to the database file, and empties the log.
    ///
    /// - Returns: Whether another connection has prevented it.
    @discardableResult package func checkpointLog() throws -> Bool {
        try Int.fetchOne(self, sql: "PRAGMA wal_checkpoint(TRUNCATE)") != 0
    }

    /// Makes the connection keep its locks after each transaction.
    func keepLocks() throws { try execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }

    /// The names and statements of tables of an attached database and of their indexes, tables first.
    package func definitions(ofTables names: [String], in database: String) throws -> [(
        name: String, isTable: Bool, sql: String
    )] {
        let list = names.map { "'\($0)'" }.joined(separator: ", ")
        let objects = try Row.fetchAll(
            self,
            sql: "SELECT name, type, sql FROM \(database).sqlite_master "
                + "WHERE tbl_name IN (\(list)) AND type IN ('table', 'index') AND sql NOT NULL ORDER BY type DESC")
        return objects.map { ($0[0] as String, $0[1] as String == "table", $0[2] as String) }
    }
}

extension StoreReader {
    /// The size of the database in bytes.
    package func byteCount() throws -> Int64 {
        try integer("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
    }

    /// The sizes of the tables with their indexes, in bytes; empty if this SQLite cannot measure them.
    package func byteCountsOfTables() throws -> [String: Int64] {
        guard let sizes = try byteCountsOfTrees() else { return [:] }
        var counts: [String: Int64] = [:]
        try forEachRow("SELECT name, tbl_name FROM sqlite_master WHERE rootpage > 0") { row in
            if let name = row.text(0), let size = sizes[name] { counts[row.text(1) ?? name, default: 0] += size }
        }
        return counts
    }

    /// The sizes of the tables and of the indexes, in bytes; nil if this SQLite cannot measure them. Joined with `sqlite_master` by the
    /// callers: SQL would compare each name with each other one.
    package func byteCountsOfTrees() throws -> [String: Int64]? {
        guard try integer("SELECT count(*) FROM pragma_module_list WHERE name = 'dbstat'") > 0 else { return nil }
        var sizes: [String: Int64] = [:]
        // The sum of sizes that SQLite returns has 32 bits; the number of pages has 64.
        let statement = "SELECT name, pageno * page_size FROM dbstat, pragma_page_size WHERE aggregate = TRUE"
        try forEachRow(statement) { row in
            if let name = row.text(0) { sizes[name] = row.integer(1) }
        }
        return sizes
    }

    /// The damages that SQLite finds in the structure of the file.
    package func damages() throws -> [String] {
        // The result may consist of several lines, with a heading.
        try rows("PRAGMA integrity_check(20)").compactMap { $0.text(0) }
            .flatMap { $0.split(separator: "\n").map(String.init) }
            .filter { $0 != "ok" && !$0.hasPrefix("***") }
    }

    /// The name of the table that was created last.
    package func newestTable() throws -> String? {
        try rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid DESC LIMIT 1").first?.text(0)
    }
}

// Values in the form that GRDB's statements take and return.

extension ColumnValue {
    package init(_ value: DatabaseValue) {
        switch value.storage {
        case .null: self = .null
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .real(number)
        case .string(let text): self = .text(text)
        case .blob(let data): self = .blob(data)
        }
    }

    package var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let number): number.databaseValue
        case .real(let number): number.databaseValue
        case .text(let text): text.databaseValue
        case .blob(let data): data.databaseValue
        }
    }
}

extension Row {
    var columnValues: [ColumnValue] { databaseValues.map { ColumnValue($0) } }
}

extension StatementArguments {
    package init(_ values: [ColumnValue]) { self.init(values.map(\.databaseValue)) }
}

extension Database {
    /// Executes a statement that returns no rows. A statement with arguments is cached by its text.
    package func execute(_ query: SQLQuery) throws {
        guard !query.arguments.isEmpty else { return try execute(sql: query.sql) }
        // Bound here, because GRDB's arguments lose what follows a NUL in a text.
        let statement = try SQLStatement(query, in: self)
        defer { statement.finish() }
        try statement.run()
    }
}
