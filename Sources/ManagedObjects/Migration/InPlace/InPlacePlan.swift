import GRDB

/// The statements that bring the tables of a store from one schema to another, in order.
///
/// No row is read by the program. Cost: a table whose columns are only added or renamed is not copied; one whose columns
/// are removed, or change their types, is copied once.
struct InPlacePlan {
    let schema: MigratedSchema
    private let catalog: SQLCatalog
    private(set) var statements: [String] = []
    /// Creates the unique indexes; a failure of one means that rows break the constraint.
    private(set) var constraints: [String] = []

    /// - Parameters:
    ///   - types: The names and declared types of the columns of each table.
    ///   - defersCleanUp: Whether columns and tables that the new schema does not have stay, under other names.
    init(
        _ schema: MigratedSchema, _ catalog: SQLCatalog, types: [String: [(name: String, type: String)]],
        defersCleanUp: Bool
    ) {
        self.schema = schema
        self.catalog = catalog
        let tables = Self.tables(schema, catalog, types, defersCleanUp)
        let joinTables = JoinTableMigration(schema, catalog)
        let links = schema.movedRelationships.enumerated().map { LinkMigration(schema, catalog, $1, number: $0) }
        let references = ReferenceMigration(schema)
        let kept = Set(tables.filter { $0.isInPlace && $0.oldTable == $0.name && !$0.renamesColumns }.map(\.name))
            .union(joinTables.unchanged)
        statements += links.flatMap { $0.reading() }
        removeDerivedObjects(except: kept)
        var left = migrate(tables)
        let pairs = joinTables.statements()
        statements += pairs.statements
        left += pairs.left
        remove(left, defersCleanUp)
        statements += links.flatMap { $0.writing() }
        statements += joinTables.cleaning() + references.cleaning() + references.positions() + references.companions()
        statements += DerivedColumns(schema).statements(
            includingOthers: !links.isEmpty || !schema.removedNumbers.isEmpty || tables.contains(where: \.isShared))
        statements += CloudKitMigration(schema: schema, catalog: catalog).statements()
        createIndexes(on: kept)
    }

    private static func tables(
        _ schema: MigratedSchema, _ catalog: SQLCatalog, _ types: [String: [(name: String, type: String)]],
        _ defersCleanUp: Bool
    ) -> [TableMigration] {
        var newTables: [String: Set<String>] = [:]
        for pair in schema.pairs { newTables[pair.old.table, default: []].insert(pair.new.table) }
        return schema.new.tables.map { table in
            let former = schema.pairs.first { $0.new.entity.rootEntity === table.root }?.old.table
            return TableMigration(
                schema, table, oldTable: former.flatMap { catalog.hasTable($0) ? $0 : nil },
                isShared: former.map { (newTables[$0]?.count ?? 0) > 1 } ?? false,
                oldColumns: former.flatMap { types[$0] } ?? [], defersCleanUp: defersCleanUp)
        }
    }

    // MARK: - Entity tables

    /// Returns the names of the old tables that are no longer needed.
    private mutating func migrate(_ tables: [TableMigration]) -> [String] {
        let staying = Set(tables.filter { $0.isInPlace && $0.oldTable == $0.name }.map(\.name))
        var names: [String: String] = [:]
        for (index, table) in schema.old.tables.enumerated()
        where catalog.hasTable(table.name) && !staying.contains(table.name) {
            names[table.name] = "Z__T\(index)"
            statements.append("ALTER TABLE \(table.name) RENAME TO Z__T\(index)")
        }
        var dropped = Set(names.values)
        for table in tables {
            if staying.contains(table.name) {
                statements += table.alterations()
            } else if table.isInPlace, let from = table.oldTable.flatMap({ names[$0] }) {
                dropped.remove(from)
                statements.append("ALTER TABLE \(from) RENAME TO \(table.name)")
                statements += table.alterations()
            } else {
                statements.append(SQLiteDialect().text(of: table.table.definition))
                if let from = table.oldTable.flatMap({ names[$0] }), !table.pairs.isEmpty {
                    statements.append(table.copy(from: from))
                }
            }
        }
        return dropped.sorted()
    }

    /// Drops tables, and those that earlier migrations have left; or leaves them under other names.
    private mutating func remove(_ tables: [String], _ defersCleanUp: Bool) {
        if defersCleanUp {
            var names = Set(catalog.columns.keys)
            statements += tables.map { "ALTER TABLE \($0) RENAME TO \(DeferredCleanUp.name(besides: &names))" }
        } else {
            let left = catalog.columns.keys.filter(DeferredCleanUp.isLeft)
            statements += (left + tables).sorted().map { "DROP TABLE \($0.quotedDatabaseIdentifier)" }
        }
    }

    // MARK: - Indexes, triggers and R-trees

    private static let historyTables = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]

    /// Whether an index, trigger or virtual table is Core Data's own, by its name. Others are kept; SQLite renames the tables
    /// and columns in them.
    private func isOwn(_ name: String, _ sql: String, _ kind: String, prefixes: [String]) -> Bool {
        guard prefixes.contains(where: name.hasPrefix), sql.hasPrefix("CREATE \(kind) ") else { return false }
        return !Self.historyTables.contains { sql.contains(" ON \($0) ") || sql.contains(" ON \($0)(") }
    }

    /// The table of the statement of an index.
    private static func table(of statement: String) -> String {
        statement.split(separator: " ").drop { $0 != "ON" }.dropFirst().first.map(String.init) ?? ""
    }

    /// Drops triggers and R-trees, which are created again, and indexes that the new schema does not have.
    ///
    /// - Parameter kept: The tables whose columns keep their names.
    private mutating func removeDerivedObjects(except kept: Set<String>) {
        let wanted = Set(schema.new.indexStatements.filter { kept.contains(Self.table(of: $0)) })
        for (name, sql) in catalog.statements.sorted(by: { $0.key < $1.key }) {
            // Other programs may have given any name.
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
    }

    /// - Parameter kept: The tables whose indexes still exist.
    private mutating func createIndexes(on kept: Set<String>) {
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
    }
}
