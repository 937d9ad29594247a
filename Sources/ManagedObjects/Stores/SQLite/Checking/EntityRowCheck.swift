import Foundation

/// Checks the rows of one entity, in its own columns only: inherited columns are checked with the superentity.
struct EntityRowCheck {
    private let place: SQLEntity
    private let schema: SQLSchema
    private let catalog: SQLCatalog
    private let file: SQLiteFile
    private let reader: StoreReader
    /// The files to which the entity's rows refer. Set by the check.
    private(set) var referencedFiles: Set<String> = []

    private static let exampleCount = 5

    init(_ place: SQLEntity, schema: SQLSchema, catalog: SQLCatalog, file: SQLiteFile, reader: StoreReader) {
        self.place = place
        self.schema = schema
        self.catalog = catalog
        self.file = file
        self.reader = reader
    }

    private var name: String { place.entity.name ?? "" }
    private var table: String { place.table }

    /// The condition for the rows of the entity and its subentities, in any table: rows may have wrong numbers.
    private func isOfEntity(_ place: SQLEntity, _ alias: String) -> String {
        SQLRestriction.areOfEntities(place.hierarchyNumbers, alias)
    }

    mutating func problems() throws -> [RowProblem] {
        guard catalog.hasTable(table) else { return [] }
        var problems: [RowProblem] = []
        if place.entity.superentity == nil { problems += try tableProblems() }
        let layout = place.entity.layout
        let inherited = place.entity.superentity?.layout.slots.count ?? 0
        for index in layout.slots.indices.dropFirst(inherited) {
            guard let column = place.columns[index] else { continue }
            let slot = layout.slots[index]
            if slot.kind == .toOne {
                problems += try referenceProblems(slot, column)
            } else if let types = Self.types(of: slot.kind) {
                problems += try typeProblems(slot, column, types)
                if column.hasStorageByte { problems += try fileProblems(slot, column) }
            }
        }
        for constraint in place.entity.uniquenessConstraints {
            problems += try uniquenessProblems(NSEntityDescription.names(constraint))
        }
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
        let entity = index.flatMap { schema.model.orderedEntities[$0].name } ?? name
        return "\(entity)/\(row.key(0))"
    }

    // MARK: - Table

    private func tableProblems() throws -> [RowProblem] {
        let abstract = place.hierarchyNumbers.filter { number in
            schema.entityIndex(number: number).map { schema.model.orderedEntities[$0].isAbstract } ?? false
        }
        var problems = [
            try problem(
                .wrongEntity, nil, where: "t.Z_ENT IS NULL OR NOT \(isOfEntity(place, "t"))",
                "The entity numbers of rows do not belong to their table.")
        ]
        if !abstract.isEmpty {
            problems.append(
                try problem(
                    .wrongEntity, nil, where: SQLRestriction.areOfEntities(abstract, "t"),
                    "Rows are of an abstract entity."))
        }
        let highest = try reader.integer(KeyCommands.highest(in: table))
        let counted = try reader.integer(KeyCommands.last, [place.number.databaseValue])
        let correction = SQLQuery(KeyCommands.update, [highest.databaseValue, place.number.databaseValue])
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

    private func referenceProblems(_ slot: EntityLayout.Slot, _ column: SQLColumn) throws -> [RowProblem] {
        guard let destination = slot.destination.flatMap({ schema.entity($0) }),
            catalog.hasTable(destination.table)
        else { return [] }
        let name = slot.name ?? slot.property.name
        let own = isOfEntity(place, "t")
        let target = "SELECT 1 FROM \(destination.table) d WHERE d.Z_PK = t.\(column.name)"
        let dangling = "\(own) AND t.\(column.name) IS NOT NULL AND NOT EXISTS (\(target))"
        let astray = "\(own) AND EXISTS (\(target) AND NOT \(isOfEntity(destination, "d")))"
        var problems = [
            try problem(
                .danglingReference, name, where: dangling, "Objects refer to objects that do not exist.",
                repairs: [clearing(column, where: dangling)]),
            try problem(
                .wrongEntity, name, where: astray,
                "Objects refer to objects of an entity that the model does not allow."
            ),
        ]
        if let companion = column.companion {
            let entity = "SELECT d.Z_ENT FROM \(destination.table) d WHERE d.Z_PK = t.\(column.name)"
            let wrong = "\(own) AND EXISTS (\(target)) AND t.\(companion) IS NOT (\(entity))"
            problems.append(
                try problem(
                    .wrongEntity, name, where: wrong,
                    "References have another entity number than the objects to which they refer.",
                    repairs: [
                        SQLQuery(
                            SQLUpdate(
                                table, as: "t", set: [.expression("(\(entity))", of: companion)], where: .text(wrong)))
                    ]))
        }
        if slot.name != nil, let relationship = slot.property as? NSRelationshipDescription,
            let inverse = relationship.inverseRelationship, !inverse.isToMany,
            let back = schema.column(named: inverse.name, in: destination.entity)
        {
            problems.append(try inverseProblem(relationship, column, inverse, back, destination))
        }
        return problems.compactMap { $0 }
    }

    private func clearing(_ column: SQLColumn, where condition: String) -> SQLQuery {
        let columns = [column.name, column.companion].compactMap { $0 }
        return SQLQuery(
            SQLUpdate(
                table, as: "t", set: columns.map { .null($0) } + [.versionIncrement()], where: .text(condition)))
    }

    /// Checks one-to-one relationships whose inverse refers to another object. If the inverse is empty, the repair sets
    /// it; otherwise the repair clears the relationship.
    private func inverseProblem(
        _ relationship: NSRelationshipDescription, _ column: SQLColumn, _ inverse: NSRelationshipDescription,
        _ back: SQLColumn, _ destination: SQLEntity
    ) throws -> RowProblem? {
        let own = isOfEntity(place, "t")
        let other = "SELECT 1 FROM \(destination.table) d WHERE d.Z_PK = t.\(column.name)"
        let disagrees = "\(own) AND EXISTS (\(other) AND d.\(back.name) IS NOT t.Z_PK)"
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
                SQLQuery(
                    SQLUpdate(
                        destination.table, as: "d", set: assignments + [.versionIncrement()],
                        where: .text("d.\(back.name) IS NULL AND EXISTS (SELECT 1 \(claimant))"))),
                clearing(column, where: disagrees),
            ])
    }

    // MARK: - Values

    /// The types that SQLite may report for a value of a kind; nil if any type is valid.
    private static func types(of kind: EntityLayout.Slot.Kind) -> String? {
        switch kind {
        case .integer16, .integer32, .integer64, .boolean, .position: "'integer'"
        case .date, .double, .float: "'integer', 'real'"
        case .decimal: "'integer', 'real', 'text'"
        case .string, .uri: "'text'"
        case .uuid, .data, .transformable: "'blob'"
        case .toOne, .undefined: nil
        }
    }

    private func typeProblems(
        _ slot: EntityLayout.Slot, _ column: SQLColumn, _ types: String
    ) throws -> [RowProblem] {
        let wrong = "\(isOfEntity(place, "t")) AND typeof(t.\(column.name)) NOT IN ('null', \(types))"
        let found = try problem(
            .wrongType, slot.name ?? slot.property.name, where: wrong,
            "Values have a type that the attribute does not allow.")
        return found.map { [$0] } ?? []
    }

    private mutating func fileProblems(_ slot: EntityLayout.Slot, _ column: SQLColumn) throws -> [RowProblem] {
        let external = ExternalData(directory: file.externalDataDirectory)
        var missing: [(name: String, key: Int64)] = []
        var referenced: Set<String> = []
        try reader.forEachRow(
            """
            SELECT Z_PK, Z_ENT, \(column.name) FROM \(table) t
            WHERE \(isOfEntity(place, "t")) AND substr(t.\(column.name), 1, 1) = x'02' ORDER BY Z_PK
            """
        ) { row in
            guard let value = row.data(2), let file = value.withUnsafeBytes({ ExternalData.name(in: $0) }) else {
                return
            }
            referenced.insert(file)
            if !external.hasFile(named: file), let key = row.integer(0) {
                missing.append((rowName(row), key))
            }
        }
        referencedFiles.formUnion(referenced)
        guard !missing.isEmpty else { return [] }
        // The data cannot be restored, and a required value cannot be cleared.
        let clearing = SQLUpdate(table, set: [.null(column.name), .versionIncrement()], where: .key)
        let repairs = missing.map { SQLQuery(clearing, [$0.key.databaseValue]) }
        return [
            RowProblem(
                kind: .missingFile, entity: name, property: slot.name, count: missing.count,
                examples: missing.prefix(Self.exampleCount).map(\.name),
                message: "The files of the values do not exist, or are not regular files.",
                repairs: slot.property.isOptional ? repairs : [])
        ]
    }

    // MARK: - Uniqueness

    private func uniquenessProblems(_ names: [String]) throws -> [RowProblem] {
        let columns = names.compactMap { schema.column(named: $0, in: place.entity)?.name }
        guard columns.count == names.count, !columns.isEmpty else { return [] }
        let list = columns.joined(separator: ", ")
        let present = columns.map { "t.\($0) IS NOT NULL" }.joined(separator: " AND ")
        let groups =
            "FROM \(table) t WHERE \(isOfEntity(place, "t")) AND \(present) GROUP BY \(list) HAVING count(*) > 1"
        let count = Int(try reader.integer("SELECT count(*) FROM (SELECT 1 \(groups))"))
        guard count > 0 else { return [] }
        let rows = try reader.rows(
            "SELECT min(Z_PK), Z_ENT, count(*) \(groups) ORDER BY 1 LIMIT \(Self.exampleCount)")
        return [
            RowProblem(
                kind: .notUnique, entity: name, property: names.joined(separator: ","), count: count,
                examples: rows.map { "\(rowName($0)) and \(($0.integer(2) ?? 2) - 1) more" },
                message: "Several objects have the same values, which must be unique.")
        ]
    }
}
