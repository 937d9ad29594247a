import Foundation
import ManagedObjects
import SQLStatements
import SQLStores
import SQLiteConnections

/// Checks the rows of all tables of a store, whatever its database.
///
/// Cost: one or two statements for each stored property, each over all rows of its table.
struct SchemaCheck {
    let schema: SQLSchema
    let catalog: SQLCatalog
    let naming: SQLNaming
    /// The files of large values; nil if all values are in the rows.
    let files: ExternalData?
    let reader: any RowCheckReader

    /// The problems, table by table, and the files to which rows refer.
    ///
    /// - Parameter willCheck: Called before each entity with the number of checked entities and their total; throws to cancel.
    func problems(
        willCheck: (Int, Int) throws -> Void
    ) throws -> (problems: [RowProblem], referencedFiles: Set<UUID>) {
        var problems = MissingTables(schema, catalog: catalog, naming: naming, dialect: reader.dialect).problems()
        var referenced: Set<UUID> = []
        for (index, entity) in schema.entities.enumerated() {
            try willCheck(index, schema.entities.count)
            var check = EntityRowCheck(entity, schema: schema, catalog: catalog, files: files, reader: reader)
            problems += try check.problems()
            problems += try PositionCheck(entity, schema: schema, catalog: catalog, reader: reader).problems()
            referenced.formUnion(check.referencedFiles)
        }
        for table in schema.joinTables {
            problems += try PairCheck(table, schema: schema, catalog: catalog, reader: reader).problems()
        }
        problems += try HistoryCheck(catalog: catalog, reader: reader).problems()
        return (problems, referenced)
    }
}

/// Reads the rows of a store that is checked, in one state of the store.
protocol RowCheckReader: SQLRowReading {
    /// The condition that a value has a type that its kind does not allow; nil if there is no such type, or if the database
    /// ensures the types.
    func hasWrongType(_ column: String, _ kind: EntityLayout.Slot.Kind) -> String?
}

/// The tables and columns that a store lacks although the model requires them: for example, because a program has
/// changed the metadata of the store without migrating it. The repair adds them, with the default values of attributes.
struct MissingTables {
    private let schema: SQLSchema
    private let dialect: any SQLDialect
    /// The schema of the store after the repair.
    private let complete: SQLSchema

    /// - Parameter schema: The schema of the model in a store with the catalog.
    init(_ schema: SQLSchema, catalog: SQLCatalog, naming: SQLNaming, dialect: any SQLDialect) {
        self.schema = schema
        self.dialect = dialect
        var completed = catalog
        for name in schema.missing {
            let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
            if parts.count == 2 {
                completed.columns[parts[0], default: []].append(parts[1])
            } else if let table = schema.tables.first(where: { $0.name == name }) {
                completed.columns[name] = SQLEntity.rowColumns + table.columns.map(\.name)
            } else if let join = schema.joinTables.first(where: { $0.name == name }) {
                completed.columns[name] = join.columns
            }
        }
        complete = SQLSchemaBuilder.schema(of: schema.model, catalog: completed, naming: naming)
    }

    /// A problem for each table and each column.
    func problems() -> [RowProblem] {
        schema.missing.map { name in
            RowProblem(
                kind: .missingTable, entity: name, count: 1, examples: [],
                message: "The store lacks \(name), which the model requires.", repairs: repairs(of: name))
        }
    }

    private func repairs(of name: String) -> [SQLQuery] {
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            let table = complete.tableDefinitions.first { $0.name == name }.map { dialect.text(of: $0) }
            let indexes = complete.indexStatements(in: dialect).filter { $0.contains(" ON \(name) (") }
            return ((table.map { [$0] } ?? []) + indexes).map { SQLQuery(sql: $0) }
        }
        let (table, column) = (parts[0], parts[1])
        let declaration = complete.tables.first { $0.name == table }?.columns.first { $0.name == column }?.declaration
        // Columns of join tables, and the entities of references, are integers.
        let addition = SQLAlteration.addColumn(column, declaration ?? .integer, to: table)
        return [SQLQuery(addition, in: dialect)] + defaults(of: column, in: table)
    }

    /// The statements that set a new column to the default value of its attribute, for each entity that declares it.
    private func defaults(of column: String, in table: String) -> [SQLQuery] {
        complete.entities.filter { $0.table == table }.compactMap { sqlEntity in
            let inherited = complete.superentity(of: sqlEntity.entity)?.slots.count ?? 0
            let slot = sqlEntity.columns.indices.dropFirst(inherited).first { sqlEntity.columns[$0]?.name == column }
            guard let slot, let value = Self.columnValue(of: sqlEntity.entity.slots[slot].initial) else {
                return nil
            }
            return SQLQuery(
                SQLUpdate(table, set: [.parameter(column)], where: .entities(sqlEntity.hierarchyNumbers)), [value],
                in: dialect)
        }
    }

    /// The value in a column; nil for null and for values that need a transformer.
    private static func columnValue(of value: Value) -> ColumnValue? {
        switch value {
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .string(let text): .text(text)
        case .uuid(let uuid): ColumnValue(uuid)
        case .decimal(let number): .real(number.nearestDouble)
        case .object(let box): (box.value as? URL).map { .text($0.absoluteString) }
        case .null, .data, .reference: nil
        }
    }
}

/// Checks the pairs of a many-to-many relationship: both objects must exist.
struct PairCheck {
    private let table: SQLJoinTable
    private let schema: SQLSchema
    private let catalog: SQLCatalog
    private let reader: any RowCheckReader

    init(_ table: SQLJoinTable, schema: SQLSchema, catalog: SQLCatalog, reader: any RowCheckReader) {
        self.table = table
        self.schema = schema
        self.catalog = catalog
        self.reader = reader
    }

    func problems() throws -> [RowProblem] {
        guard catalog.hasTable(table.name), let source = schema.entity(at: table.owner.entity),
            let destination = schema.destination(of: table.owner)
        else { return [] }
        let condition =
            "NOT EXISTS (\(rows(of: source, table.sourceColumn))) "
            + "OR NOT EXISTS (\(rows(of: destination, table.destinationColumn)))"
        let count = Int(try reader.integer("SELECT count(*) FROM \(table.name) p WHERE \(condition)"))
        guard count > 0 else { return [] }
        let examples = try reader.rows(
            """
            SELECT \(table.sourceColumn), \(table.destinationColumn) FROM \(table.name) p
            WHERE \(condition) ORDER BY 1, 2 LIMIT 5
            """)
        let names = (source.entity.name, destination.entity.name)
        return [
            RowProblem(
                kind: .danglingReference, entity: names.0, property: table.owner.name, count: count,
                examples: examples.map {
                    "\(names.0)/\($0.key(0)) - \(names.1)/\($0.key(1))"
                }, message: "Pairs refer to objects that do not exist.",
                repairs: [SQLQuery(SQLDelete(from: table.name, as: "p", where: .text(condition)), in: reader.dialect)])
        ]
    }

    private func rows(of sqlEntity: SQLEntity, _ column: String) -> String {
        let isOfEntity = SQLRestriction.areOfEntities(sqlEntity.hierarchyNumbers, "e")
        return "SELECT 1 FROM \(sqlEntity.table) e WHERE e.Z_PK = p.\(column) AND \(isOfEntity)"
    }
}

/// Checks the positions of the members of an entity's ordered relationships: without a position, or with that of another
/// member, the order of members is not determined.
struct PositionCheck {
    private let sqlEntity: SQLEntity
    private let schema: SQLSchema
    private let catalog: SQLCatalog
    private let reader: any RowCheckReader

    init(_ sqlEntity: SQLEntity, schema: SQLSchema, catalog: SQLCatalog, reader: any RowCheckReader) {
        self.sqlEntity = sqlEntity
        self.schema = schema
        self.catalog = catalog
        self.reader = reader
    }

    /// Cost: one statement for each ordered relationship that the entity declares.
    func problems() throws -> [RowProblem] {
        let inherited = schema.superentity(of: sqlEntity.entity)?.toMany.count ?? 0
        return try sqlEntity.entity.toMany.dropFirst(inherited).compactMap { relationship in
            guard !relationship.isTransient, relationship.isOrdered,
                let (table, owner, position) = columns(of: relationship), catalog.hasTable(table)
            else { return nil }
            return try problem(relationship, table, owner: owner, position: position)
        }
    }

    private func columns(of relationship: SchemaRelationship) -> (table: String, owner: String, position: String)? {
        if let pairs = schema.pairs(of: relationship) {
            return pairs.position.map { (pairs.table, pairs.source, $0) }
        }
        return schema.membership(of: relationship).flatMap { members in
            members.position.map { (members.table, members.owner, $0) }
        }
    }

    private func problem(
        _ relationship: SchemaRelationship, _ table: String, owner: String, position: String
    ) throws -> RowProblem? {
        // NULL is equal to NULL in a group.
        let owners =
            "SELECT DISTINCT \(owner) AS owner FROM \(table) WHERE \(owner) IS NOT NULL "
            + "GROUP BY \(owner), \(position) HAVING count(*) > 1"
        let found = try reader.rows(
            "SELECT owner, (SELECT count(*) FROM (\(owners)) AS o) FROM (\(owners)) AS p ORDER BY 1 LIMIT 5")
        guard let count = found.first?.integer(1) else { return nil }
        let name = sqlEntity.entity.name
        return RowProblem(
            kind: .ambiguousPosition, entity: name, property: relationship.name, count: Int(count),
            examples: found.map { "\(name)/\($0.key(0))" },
            message: "Several members of an ordered relationship have the same position, or none.")
    }
}

/// Checks the numbers of a history: a transaction with a number above the recorded last one, or changes without a
/// transaction, would not be read after a token.
struct HistoryCheck {
    let catalog: SQLCatalog
    let reader: any RowCheckReader

    /// Cost: three statements, one of them over all changes.
    func problems() throws -> [RowProblem] {
        guard catalog.hasTable("ATRANSACTION"), catalog.hasTable("ACHANGE") else { return [] }
        var problems: [RowProblem] = []
        for (table, number) in [
            ("ATRANSACTION", HistoryTables.Number.transaction), ("ACHANGE", HistoryTables.Number.change),
        ] {
            let highest = try reader.integer(KeyCommands.highest(in: table))
            let counted = try reader.firstRow(
                reader.dialect.text(of: KeyCommands.last), [.integer(number)])?.integer(0)
            // Without a row in Z_PRIMARYKEY the highest number is used.
            guard let counted, highest > counted else { continue }
            problems.append(
                RowProblem(
                    kind: .keyBeyondMaximum, entity: table, count: 1, examples: ["\(table)/p\(highest)"],
                    message: "The recorded last number of the history is \(counted), but the highest is \(highest).",
                    repairs: [
                        SQLQuery(
                            KeyCommands.update, [.integer(highest), .integer(number)], in: reader.dialect)
                    ]))
        }
        let lost = "NOT EXISTS (SELECT 1 FROM ATRANSACTION AS t WHERE t.Z_PK = c.ZTRANSACTIONID)"
        let count = try reader.integer("SELECT count(*) FROM ACHANGE AS c WHERE \(lost)")
        if count > 0 {
            problems.append(
                RowProblem(
                    kind: .danglingReference, entity: "ACHANGE", property: "ZTRANSACTIONID", count: Int(count),
                    examples: try reader.rows(
                        "SELECT Z_PK FROM ACHANGE AS c WHERE \(lost) ORDER BY Z_PK LIMIT 5"
                    ).map { "ACHANGE/\($0.key(0))" },
                    message: "Changes of the history belong to transactions that do not exist.",
                    repairs: [SQLQuery(SQLDelete(from: "ACHANGE", as: "c", where: .text(lost)), in: reader.dialect)]))
        }
        return problems
    }
}
