import Foundation
import ManagedObjects
import SQLStatements
import SQLStores
import SQLiteConnections

/// Checks the rows of one entity, in its own columns only: inherited columns are checked with the superentity.
struct EntityRowCheck {
    private let sqlEntity: SQLEntity
    private let schema: SQLSchema
    private let catalog: SQLCatalog
    /// The files of large values; nil if all values are in the rows.
    private let files: ExternalData?
    private let reader: any RowCheckReader
    /// The files to which rows of the entity's table refer, whatever their entity. Set by the check.
    private(set) var referencedFiles: Set<UUID> = []

    private static let exampleCount = 5

    init(
        _ sqlEntity: SQLEntity, schema: SQLSchema, catalog: SQLCatalog, files: ExternalData?, reader: any RowCheckReader
    ) {
        self.sqlEntity = sqlEntity
        self.schema = schema
        self.catalog = catalog
        self.files = files
        self.reader = reader
    }

    private var name: String { sqlEntity.entity.name }
    private var table: String { sqlEntity.table }

    /// The condition for the rows of the entity and its subentities, in any table: rows may have wrong numbers.
    private func isOfEntity(_ sqlEntity: SQLEntity, _ alias: String) -> String {
        SQLRestriction.areOfEntities(sqlEntity.hierarchyNumbers, alias)
    }

    mutating func problems() throws -> [RowProblem] {
        guard catalog.hasTable(table) else { return [] }
        var problems: [RowProblem] = []
        if sqlEntity.entity.superentity == nil { problems += try tableProblems() }
        let slots = sqlEntity.entity.slots
        for index in slots.indices.dropFirst(schema.superentity(of: sqlEntity.entity)?.slots.count ?? 0) {
            guard let column = sqlEntity.columns[index] else { continue }
            let slot = slots[index]
            if slot.kind == .toOne {
                problems += try referenceProblems(slot, column)
            } else {
                problems += try valueProblems(slot, column)
                if column.hasStorageByte, let files { problems += try fileProblems(slot, column, files) }
            }
        }
        for constraint in sqlEntity.entity.constraints { problems += try uniquenessProblems(constraint) }
        return problems
    }

    // MARK: - Problems

    /// The problem of the rows that match a condition; nil if there are none. The condition uses the alias `t` for the
    /// table.
    private func problem(
        _ kind: RowProblem.Kind, _ property: String?, where condition: String, _ message: String,
        repairs: [SQLQuery] = []
    ) throws -> RowProblem? {
        let count = Int(try reader.integer("SELECT count(*) FROM \(table) t WHERE \(condition)"))
        guard count > 0 else { return nil }
        let rows = try reader.rows(
            "SELECT Z_PK, Z_ENT FROM \(table) t WHERE \(condition) ORDER BY Z_PK LIMIT \(Self.exampleCount)")
        return RowProblem(
            kind: kind, entity: name, property: property, count: count, examples: rows.map(rowName), message: message,
            repairs: repairs)
    }

    private func rowName(_ row: StoredRow) -> String {
        let index = row.integer(1).flatMap { schema.entityIndex(number: $0) }
        let entity = index.map { schema.model.entities[$0].name } ?? name
        return "\(entity)/\(row.key(0))"
    }

    private func query(_ command: some SQLCommand, _ arguments: [ColumnValue] = []) -> SQLQuery {
        SQLQuery(command, arguments, in: reader.dialect)
    }

    // MARK: - Table

    private func tableProblems() throws -> [RowProblem] {
        let abstract = sqlEntity.hierarchyNumbers.filter { number in
            schema.entityIndex(number: number).map { schema.model.entities[$0].isAbstract } ?? false
        }
        var problems = [
            try problem(
                .wrongEntity, nil, where: "t.Z_ENT IS NULL OR NOT \(isOfEntity(sqlEntity, "t"))",
                "Rows have entity numbers that do not belong to their table.")
        ]
        if !abstract.isEmpty {
            problems.append(
                try problem(
                    .wrongEntity, nil, where: SQLRestriction.areOfEntities(abstract, "t"),
                    "The entity of the rows is abstract."))
        }
        let highest = try reader.integer(KeyCommands.highest(in: table))
        let counted = try reader.integer(KeyCommands.last, [.integer(sqlEntity.number)])
        let correction = query(KeyCommands.update, [.integer(highest), .integer(sqlEntity.number)])
        if max(highest, counted) >= PrimaryKeys.bound {
            problems.append(
                RowProblem(
                    kind: .keyBeyondMaximum, entity: name, count: 1, examples: ["\(name)/p\(max(highest, counted))"],
                    message: "The last key is \(max(highest, counted)), and no keys are left after it: "
                        + "no objects can be inserted.",
                    repairs: highest < PrimaryKeys.bound ? [correction] : []))
        } else if highest > counted {
            problems.append(
                RowProblem(
                    kind: .keyBeyondMaximum, entity: name, count: 1, examples: ["\(name)/p\(highest)"],
                    message: "The recorded last key is \(counted), but the highest key is \(highest): "
                        + "new objects may get the keys of old ones.",
                    repairs: [correction]))
        }
        return problems.compactMap { $0 }
    }

    // MARK: - References

    private func referenceProblems(_ slot: SchemaSlot, _ column: SQLColumn) throws -> [RowProblem] {
        guard let destination = slot.destination.flatMap({ schema.entity(at: $0) }),
            catalog.hasTable(destination.table)
        else { return [] }
        let name = slot.name ?? slot.property
        let own = isOfEntity(sqlEntity, "t")
        let target = "SELECT 1 FROM \(destination.table) d WHERE d.Z_PK = t.\(column.name)"
        let dangling = "\(own) AND t.\(column.name) IS NOT NULL AND NOT EXISTS (\(target))"
        let astray = "\(own) AND EXISTS (\(target) AND NOT \(isOfEntity(destination, "d")))"
        var problems = [
            try problem(
                .danglingReference, name, where: dangling, "Objects refer to objects that do not exist.",
                repairs: [clearing(slot, column, where: dangling)]),
            try problem(
                .wrongEntity, name, where: astray,
                "Objects refer to objects of an entity that the model does not allow."
            ),
        ]
        if let companion = column.companion {
            let entity = "SELECT d.Z_ENT FROM \(destination.table) d WHERE d.Z_PK = t.\(column.name)"
            let wrong =
                "\(own) AND EXISTS (\(target)) AND t.\(companion) \(reader.dialect.differentOperator) (\(entity))"
            problems.append(
                try problem(
                    .wrongEntity, name, where: wrong,
                    "References have another entity number than the objects to which they refer.",
                    repairs: [
                        query(
                            SQLUpdate(
                                table, as: "t", set: [.expression("(\(entity))", of: companion)], where: .text(wrong)))
                    ]))
        }
        if slot.name != nil, let relationship = slot.relationship.map({ schema.model.relationships[$0] }),
            let inverse = schema.model.inverse(of: relationship), !inverse.isToMany,
            let back = destination.column(named: inverse.name)
        {
            problems.append(try inverseProblem(slot, relationship, column, inverse, back, destination))
        }
        return problems.compactMap { $0 }
    }

    /// Clears a reference with the columns that belong to it.
    private func clearing(_ slot: SchemaSlot, _ column: SQLColumn, where condition: String) -> SQLQuery {
        let position = slot.relationship.flatMap(sqlEntity.entity.positionSlot)
            .flatMap { sqlEntity.columns[$0]?.name }
        let columns = [column.name, column.companion, position].compactMap { $0 }
        return query(
            SQLUpdate(
                table, as: "t", set: columns.map { .null($0) } + [.versionIncrement()], where: .text(condition)))
    }

    /// Checks one-to-one relationships whose inverse refers to another object. If the inverse is empty, the repair sets
    /// it; otherwise the repair clears the relationship.
    private func inverseProblem(
        _ slot: SchemaSlot, _ relationship: SchemaRelationship, _ column: SQLColumn,
        _ inverse: SchemaRelationship, _ back: SQLColumn, _ destination: SQLEntity
    ) throws -> RowProblem? {
        let own = isOfEntity(sqlEntity, "t")
        let other = "SELECT 1 FROM \(destination.table) d WHERE d.Z_PK = t.\(column.name)"
        let disagrees = "\(own) AND EXISTS (\(other) AND d.\(back.name) \(reader.dialect.differentOperator) t.Z_PK)"
        let claimant = "FROM \(table) t WHERE t.\(column.name) = d.Z_PK AND \(own)"
        var assignments = [SQLAssignment.expression("(SELECT min(t.Z_PK) \(claimant))", of: back.name)]
        if let companion = back.companion {
            let entity = "(SELECT t.Z_ENT \(claimant) ORDER BY t.Z_PK LIMIT 1)"
            assignments.append(.expression(entity, of: companion))
        }
        let message = "Objects refer to objects whose \(inverse.name) does not refer back."
        return try problem(
            .disagreeingInverse, relationship.name, where: disagrees, message,
            repairs: [
                query(
                    SQLUpdate(
                        destination.table, as: "d", set: assignments + [.versionIncrement()],
                        where: .text("d.\(back.name) IS NULL AND EXISTS (SELECT 1 \(claimant))"))),
                clearing(slot, column, where: disagrees),
            ])
    }

    // MARK: - Values

    private func valueProblems(_ slot: SchemaSlot, _ column: SQLColumn) throws -> [RowProblem] {
        let name = slot.name ?? slot.property
        let own = isOfEntity(sqlEntity, "t")
        var problems: [RowProblem?] = []
        if let isWrong = reader.hasWrongType("t.\(column.name)", slot.kind) {
            problems.append(
                try problem(
                    .wrongType, name, where: "\(own) AND \(isWrong)",
                    "Values have a type that the attribute does not allow."))
        }
        if slot.kind == .uuid {
            let length = reader.dialect.byteCount(of: "t.\(column.name)")
            problems.append(
                try problem(
                    .wrongType, name, where: "\(own) AND \(length) <> 16", "UUIDs do not consist of 16 bytes."))
        }
        return problems.compactMap { $0 }
    }

    private mutating func fileProblems(
        _ slot: SchemaSlot, _ column: SQLColumn, _ files: ExternalData
    ) throws -> [RowProblem] {
        var missing: [Int64] = []
        var examples: [String] = []
        // A row with a wrong entity number keeps its file: a repair cannot restore it.
        try reader.forEachRow(
            """
            SELECT Z_PK, Z_ENT, \(column.name), \(isOfEntity(sqlEntity, "t")) FROM \(table) t
            WHERE substr(t.\(column.name), 1, 1) = x'02' ORDER BY Z_PK
            """
        ) { row in
            guard let value = row.data(2), let file = value.withUnsafeBytes({ ExternalData.name(in: $0) }) else {
                return
            }
            if let name = UUID(uuidString: file) { referencedFiles.insert(name) }
            if row.integer(3) == 1, !files.hasFile(named: file), let key = row.integer(0) {
                if examples.count < Self.exampleCount { examples.append(rowName(row)) }
                missing.append(key)
            }
        }
        guard !missing.isEmpty else { return [] }
        // The data cannot be restored, and a required value cannot be cleared.
        let clearing = SQLUpdate(table, set: [.null(column.name), .versionIncrement()], where: .key)
        let repairs = missing.map { query(clearing, [.integer($0)]) }
        return [
            RowProblem(
                kind: .missingFile, entity: name, property: slot.name, count: missing.count,
                examples: examples,
                message: "The files of the values do not exist, or are not regular files.",
                repairs: slot.isOptional ? repairs : [])
        ]
    }

    // MARK: - Uniqueness

    private func uniquenessProblems(_ names: [String]) throws -> [RowProblem] {
        let columns = names.compactMap { sqlEntity.column(named: $0)?.name }
        guard columns.count == names.count, !columns.isEmpty else { return [] }
        let list = columns.joined(separator: ", ")
        let present = columns.map { "t.\($0) IS NOT NULL" }.joined(separator: " AND ")
        let groups =
            "FROM \(table) t WHERE \(isOfEntity(sqlEntity, "t")) AND \(present) GROUP BY \(list) HAVING count(*) > 1"
        let count = Int(try reader.integer("SELECT count(*) FROM (SELECT 1 \(groups)) AS g"))
        guard count > 0 else { return [] }
        let rows = try reader.rows(
            """
            SELECT f.Z_PK, f.Z_ENT, g.number FROM (SELECT min(Z_PK) AS first, count(*) AS number \(groups)) AS g
            JOIN \(table) AS f ON f.Z_PK = g.first ORDER BY 1 LIMIT \(Self.exampleCount)
            """)
        return [
            RowProblem(
                kind: .notUnique, entity: name, property: names.joined(separator: ","), count: count,
                examples: rows.map { "\(rowName($0)) and \(($0.integer(2) ?? 2) - 1) more" },
                message: "Several objects have the same values, which must be unique.")
        ]
    }
}
