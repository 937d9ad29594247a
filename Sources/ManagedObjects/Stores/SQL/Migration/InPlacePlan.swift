import SQLStores

/// The statements that convert the tables of a store from one schema to another, in order.
///
/// No row is read by the program. Cost: a table whose columns are only added or renamed is not copied; one whose columns
/// are removed, or change their types, is copied once.
struct InPlacePlan {
    let schema: MigratedSchema
    private let catalog: SQLCatalog
    private(set) var statements: [String] = []
    /// Creates the unique indexes; if one of them fails, rows violate the constraint.
    private(set) var constraints: [String] = []
    /// The derived texts that the database cannot compute.
    let texts: [DerivedColumns.Text]

    /// - Parameters:
    ///   - objects: The indexes, triggers and views of the tables.
    ///   - types: The names and declared types of the columns of each table.
    ///   - defersCleanUp: Whether columns and tables that the new schema does not have stay, under other names.
    init(
        _ schema: MigratedSchema, _ catalog: SQLCatalog, types: [String: [(name: String, type: String)]],
        objects: some TableObjects, defersCleanUp: Bool
    ) {
        self.schema = schema
        self.catalog = catalog
        let tables = Self.tables(schema, catalog, types, defersCleanUp)
        let joinTables = JoinTableMigration(schema, catalog)
        let links = schema.movedRelationships.enumerated().map { LinkMigration(schema, catalog, $1, number: $0) }
        let references = ReferenceMigration(schema)
        let kept = Set(tables.filter { $0.isInPlace && $0.oldTable == $0.name && !$0.renamesColumns }.map(\.name))
            .union(joinTables.unchanged)
        let derived = DerivedColumns(
            schema,
            includesOthers: !links.isEmpty || !schema.removedNumbers.isEmpty || tables.contains(where: \.isShared))
        texts = derived.texts
        append(links.flatMap { $0.reading() })
        statements += objects.removal(except: kept)
        var left = migrate(tables)
        let pairs = joinTables.statements()
        append(pairs.statements)
        left += pairs.left
        remove(left, defersCleanUp)
        append(links.flatMap { $0.writing() })
        append(joinTables.cleaning())
        append(references.cleaning() + references.positions() + references.companions())
        append(derived.statements)
        append(CloudKitMigration(schema: schema, catalog: catalog).statements())
        let created = objects.creation(on: kept)
        statements += created.statements
        constraints = created.constraints
    }

    private mutating func append(_ commands: [any SQLCommand]) {
        statements += commands.map { schema.dialect.text(of: $0) }
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
            append([SQLAlteration.renameTable(table.name, to: "Z__T\(index)")])
        }
        var dropped = Set(names.values)
        for table in tables {
            if staying.contains(table.name) {
                append(table.alterations())
            } else if table.isInPlace, let from = table.oldTable.flatMap({ names[$0] }) {
                dropped.remove(from)
                append([SQLAlteration.renameTable(from, to: table.name)] + table.alterations())
            } else {
                append([table.table.definition])
                if let from = table.oldTable.flatMap({ names[$0] }), !table.pairs.isEmpty {
                    append([table.copy(from: from)])
                }
            }
        }
        return dropped.sorted()
    }

    /// Drops tables, and those that earlier migrations have left; or leaves them under other names.
    private mutating func remove(_ tables: [String], _ defersCleanUp: Bool) {
        if defersCleanUp {
            var names = Set(catalog.columns.keys)
            append(tables.map { SQLAlteration.renameTable($0, to: DeferredCleanUp.name(besides: &names)) })
        } else {
            let left = catalog.columns.keys.filter(DeferredCleanUp.isLeft)
            append((left + tables).sorted().map(SQLAlteration.dropTable))
        }
    }
}
