import ManagedObjects
import SQLStatements

// Computes the schema of a store: numbers, tables, columns and join tables. The rules are Core Data's; if the store
// exists, its actual schema takes precedence.
package struct SQLSchemaBuilder {
    let model: SchemaModel
    /// The entities to be stored, superentities before subentities, in the order of their numbers.
    let stored: [SchemaEntity]
    private let storedIndices: Set<Int>
    let catalog: SQLCatalog?
    /// The schema whose numbers and join tables are used: that of the store, or of another one that a new store follows.
    let followed: SQLCatalog?
    let naming: SQLNaming
    var numbers: [Int: Int64] = [:]
    private var columnsByIndex: [Int: [SQLColumn?]] = [:]
    private var tableByIndex: [Int: String] = [:]
    var tables: [SQLTable] = []
    var joinTables: [SQLJoinTable] = []
    var missing: [String] = []

    /// The schema of a new store, or of an existing one that the catalog describes.
    ///
    /// - Parameters:
    ///   - entities: The indexes of the entities to be stored; nil for all.
    ///   - template: The schema of another store of the model, whose numbers of entities and names of join tables
    ///     a new store gets; nil for those of the rules.
    package static func schema(
        of model: SchemaModel, entities: [Int]? = nil, catalog: SQLCatalog? = nil, template: SQLCatalog? = nil,
        naming: SQLNaming = .sqlite
    ) -> SQLSchema {
        var builder = SQLSchemaBuilder(
            model: model, entities: entities, catalog: catalog, followed: catalog ?? template, naming: naming)
        builder.assignNumbers()
        for root in builder.stored where root.superentity == nil { builder.addTable(of: root) }
        builder.addJoinTables()
        return builder.schema()
    }

    private init(
        model: SchemaModel, entities: [Int]?, catalog: SQLCatalog?, followed: SQLCatalog?, naming: SQLNaming
    ) {
        self.model = model
        self.naming = naming
        self.catalog = catalog
        self.followed = followed
        let chosen = entities.map { $0.map { model.entities[$0] } } ?? model.entities
        // A hierarchy shares one table, so the superentities of an entity are included.
        let indices = Set(chosen.flatMap { model.lineage(of: $0).map(\.index) })
        stored = model.entities.filter { indices.contains($0.index) }
        storedIndices = indices
    }

    /// The entity and its stored subentities, in the order of their numbers.
    private func hierarchy(of entity: SchemaEntity) -> [SchemaEntity] {
        entity.subtree.filter(storedIndices.contains).map { model.entities[$0] }
    }

    private func schema() -> SQLSchema {
        let entities = stored.map { entity in
            let hierarchy = hierarchy(of: entity)
            return SQLEntity(
                entity: entity, number: numbers[entity.index] ?? 0,
                hierarchyNumbers: hierarchy.compactMap { numbers[$0.index] }.sorted(),
                table: tableByIndex[entity.root] ?? tableName(of: model.entities[entity.root].name),
                columns: columnsByIndex[entity.index] ?? [],
                sharesTable: entity.superentity != nil || hierarchy.count > 1,
                constraints: model.lineage(of: entity).flatMap(\.constraints))
        }
        return SQLSchema(
            model: model, entities: entities, tables: tables, joinTables: joinTables, missing: missing, catalog: catalog
        )
    }

    // MARK: - Numbers

    /// Matches entities by name, then by renaming identifier, then by order: a store that was migrated in place may
    /// still have an entity's old name.
    private mutating func assignNumbers() {
        guard let known = followed?.numbers, !known.isEmpty else {
            for (position, entity) in stored.enumerated() { numbers[entity.index] = Int64(position + 1) }
            return
        }
        var taken: Set<Int64> = []
        func assign(_ name: (SchemaEntity) -> String, _ numbers: inout [Int: Int64]) {
            for entity in stored where numbers[entity.index] == nil {
                guard let number = known[name(entity)], taken.insert(number).inserted else { continue }
                numbers[entity.index] = number
            }
        }
        assign(\.name, &numbers)
        assign(\.formerName, &numbers)
        var next = (known.values.filter { $0 < 16000 }.max() ?? 0) + 1
        for (position, entity) in stored.enumerated() where numbers[entity.index] == nil {
            if taken.insert(Int64(position + 1)).inserted {
                numbers[entity.index] = Int64(position + 1)
            } else {
                numbers[entity.index] = next
                next += 1
            }
        }
    }

    // MARK: - Entity tables

    static func tableName(of entityName: String) -> String { "Z" + entityName.uppercased() }

    private func tableName(of entityName: String) -> String { naming.fitting(Self.tableName(of: entityName)) }

    private mutating func addTable(of root: SchemaEntity) {
        let table = existingTable(of: root)
        tableByIndex[root.index] = table
        let existing = catalog.map { Set($0.columns[table] ?? []) }
        if existing?.isEmpty == true { missing.append(table) }
        var claimed: Set<String> = ["Z_PK", "Z_ENT", "Z_OPT"]
        var created: [(group: Int, name: String, declaration: SQLColumn.Declaration)] = []
        var references: [String] = []

        for entity in hierarchy(of: root) {
            let slots = entity.slots
            let inherited = entity.superentity.flatMap { columnsByIndex[$0] } ?? []
            var columns = inherited + [SQLColumn?](repeating: nil, count: slots.count - inherited.count)
            for (group, slot) in Self.columnOrder(of: slots, from: inherited.count) {
                guard var column = column(for: slot, in: slots, columns: columns, claimed: &claimed) else { continue }
                created.append((group, column.name, column.declaration))
                if let companion = column.companion { created.append((group, companion, .integer)) }
                if slots[slot].kind == .toOne { references.append(column.name) }
                if let existing, !existing.isEmpty {
                    guard existing.contains(column.name) else {
                        missing.append("\(table).\(column.name)")
                        continue
                    }
                    if let companion = column.companion, !existing.contains(companion) {
                        missing.append("\(table).\(companion)")
                        column.companion = nil
                    }
                }
                columns[slot] = column
            }
            columnsByIndex[entity.index] = existing?.isEmpty == true ? columns.map { _ in nil } : columns
        }
        // Groups extend over the whole hierarchy; within a group the order of entities is kept.
        let ordered = created.enumerated().sorted { ($0.element.group, $0.offset) < ($1.element.group, $1.offset) }
        tables.append(
            SQLTable(
                root: root, name: table, columns: ordered.map { ($0.element.name, $0.element.declaration) },
                referenceColumns: references))
    }

    private func existingTable(of root: SchemaEntity) -> String {
        let name = tableName(of: root.name)
        guard let catalog, !catalog.hasTable(name) else { return name }
        let formerName = tableName(of: root.formerName)
        return catalog.hasTable(formerName) ? formerName : name
    }

    /// The entity's own slots in the order of their columns, each with its group. Slots are already sorted by name, and
    /// elements of composites are in the position of their composite.
    private static func columnOrder(of slots: [SchemaSlot], from first: Int) -> [(group: Int, slot: Int)] {
        var order: [(group: Int, slot: Int)] = []
        for slot in first..<slots.count where slots[slot].isPersistent {
            let group =
                switch slots[slot].kind {
                case .integer16, .integer32, .integer64, .boolean: 0
                // To-one relationships are in the group of the integers, after those of their entity.
                case .toOne: slots[slot].isHidden ? 2 : 1
                case .position: 3
                case .date, .double, .float: 4
                case .decimal: 5
                case .string: 6
                case .uri: 7
                case .uuid: 8
                case .transformable: 9
                case .data: 10
                case .undefined: 11
                }
            order.append((group, slot))
        }
        let sorted = order.sorted { ($0.group, $0.slot) < ($1.group, $1.slot) }
        return sorted.map { ($0.group == 1 ? 0 : $0.group, $0.slot) }
    }

    func column(
        for slot: Int, in slots: [SchemaSlot], columns: [SQLColumn?], claimed: inout Set<String>
    ) -> SQLColumn? {
        let described = slots[slot]
        guard let declaration = SQLColumn.Declaration(described.kind) else { return nil }
        if described.kind == .position {
            // Named after the column of its to-one relationship, which precedes it.
            let owner = slots.firstIndex { $0.kind == .toOne && $0.relationship == described.relationship }
            guard let owner, let reference = columns[owner] else { return nil }
            return SQLColumn(name: naming.fitting("Z_FOK_" + reference.name.dropFirst()), declaration: declaration)
        }
        var base = described.property.uppercased()
        if described.kind == .toOne, described.isHidden {
            let owner = described.relationship.map { model.relationships[$0].entity }
            base = "\(owner.flatMap { numbers[$0] } ?? 0)" + base
        }
        let suffix = Self.freeSuffix(for: "Z" + base, in: &claimed)
        var column = SQLColumn(name: naming.fitting("Z" + base + suffix), declaration: declaration)
        if described.kind == .toOne, !described.isHidden, let destination = described.destination,
            let number = numbers[destination], hasStoredSubentities(model.entities[destination])
        {
            column.companion = naming.fitting("Z\(number)_\(base)\(suffix)")
        }
        column.hasStorageByte = naming.hasExternalFiles && described.attribute?.allowsExternalStorage == true
        return column
    }

    private func hasStoredSubentities(_ entity: SchemaEntity) -> Bool { hierarchy(of: entity).count > 1 }

    /// An empty suffix, or the first number that makes the name unique.
    static func freeSuffix(for name: String, in claimed: inout Set<String>) -> String {
        if claimed.insert(name).inserted { return "" }
        var number = 1
        while !claimed.insert(name + String(number)).inserted { number += 1 }
        return String(number)
    }
}
