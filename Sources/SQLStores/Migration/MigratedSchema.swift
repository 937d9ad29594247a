import ManagedObjects
import ModelFiles
import SQLStatements

/// The two schemas of a migration in place, and which parts correspond.
struct MigratedSchema {
    let old: SQLSchema
    let new: SQLSchema
    /// The dialect of the statements.
    let dialect: any SQLMigrationDialect

    /// An entity of the new schema with the one that its rows had.
    struct Pair {
        let old: SQLEntity
        let new: SQLEntity
        /// Old names of the attributes and relationships, by new names.
        let attributes: [String: String]
        let relationships: [String: String]
        /// The source of each slot's column, and of its companion; nil for slots without a column.
        fileprivate(set) var sources: [ColumnSource?] = []
        fileprivate(set) var companions: [ColumnSource?] = []
    }

    /// In the order of the new entities' numbers.
    private(set) var pairs: [Pair]
    /// The numbers of the old entities whose rows are deleted.
    let removedNumbers: [Int64]
    /// The new relationships whose links are copied, because they are stored in another way. Only one side of each
    /// relationship is included: if one side is to-many and the other to-one, the to-many side; for a join table, its
    /// owner.
    private(set) var movedRelationships: [SchemaRelationship] = []
    /// The numbers of these.
    private var moved: Set<Int> = []

    /// - Throws: An error of a value transformer that encodes a default value.
    init(
        from old: SQLSchema, _ catalog: SQLCatalog, to new: SQLSchema, _ mappings: [InferredMapping.Entity],
        dialect: any SQLMigrationDialect
    ) throws {
        self.old = old
        self.new = new
        self.dialect = dialect
        let byName = Dictionary(
            mappings.map { ($0.destinationName ?? "", $0) }, uniquingKeysWith: { first, _ in first })
        func names(_ properties: [InferredMapping.Property]) -> [String: String] {
            Dictionary(
                properties.compactMap { property in property.sourceName.map { (property.name, $0) } },
                uniquingKeysWith: { first, _ in first })
        }
        pairs = new.entities.compactMap { entity in
            guard let mapping = byName[entity.entity.name],
                let former = mapping.sourceName.flatMap({ old.model.entity(named: $0) }),
                let before = old.entity(at: former.index)
            else { return nil }
            return Pair(
                old: before, new: entity, attributes: names(mapping.attributes),
                relationships: names(mapping.relationships))
        }
        let kept = Set(pairs.map(\.old.number))
        let stored = Set(catalog.numbers.values)
        removedNumbers = old.entities.map(\.number).filter { !kept.contains($0) && stored.contains($0) }.sorted()
        findMovedRelationships()
        for index in pairs.indices {
            let sources = try sources(of: pairs[index])
            pairs[index].companions = companions(of: pairs[index], sources)
            pairs[index].sources = sources
        }
    }

    /// The pairs of an entity and those that inherit from it.
    func pairs(below entity: SchemaEntity) -> [Pair] {
        pairs.filter { $0.new.entity.isKind(of: entity) }
    }

    /// Selects the primary keys of the objects of a new entity.
    func keys(_ entity: SQLEntity) -> SQLSelect {
        SQLSelect(["Z_PK"], from: entity.table, where: entity.isOfHierarchy())
    }

    /// `column` with the new number instead of each old one; nil if no number changes.
    func renumbering(_ column: String, _ pairs: [Pair]) -> String? {
        guard pairs.contains(where: { $0.old.number != $0.new.number }) else { return nil }
        return SQLExpression.choice(by: column, pairs.map { ($0.old.number, "\($0.new.number)") }, else: column)
    }

    /// Whether objects of an old entity, or of those that inherit from it, are no longer objects of a new entity.
    func loses(_ old: SQLEntity, _ new: SQLEntity) -> Bool {
        let kept = Set(pairs(below: new.entity).map(\.old.number))
        return old.hierarchyNumbers.contains { !kept.contains($0) }
    }

    // MARK: - Relationships

    /// The old relationship of a new one, as an entity of the pair has it; nil if it is new.
    func oldRelationship(_ relationship: SchemaRelationship, in pair: Pair) -> SchemaRelationship? {
        pair.relationships[relationship.name].flatMap { old.relationship(named: $0, of: pair.old) }
    }

    /// The old relationships whose links a new one takes over: several if entities that inherit it have had their own.
    func origins(of relationship: SchemaRelationship) -> [SchemaRelationship] {
        var origins: [SchemaRelationship] = []
        for pair in pairs(below: new.model.entities[relationship.entity]) {
            guard let origin = oldRelationship(relationship, in: pair),
                !origins.contains(where: { $0.number == origin.number })
            else { continue }
            origins.append(origin)
        }
        return origins
    }

    func isMoved(_ relationship: SchemaRelationship) -> Bool {
        moved.contains(relationship.number) || relationship.inverse.map(moved.contains) ?? false
    }

    private mutating func findMovedRelationships() {
        for entity in new.entities {
            for relationship in entity.entity.ownRelationships.map({ new.model.relationships[$0] })
            where !relationship.isTransient && !isMoved(relationship) && !isStoredAlike(relationship) {
                let canonical = canonical(relationship)
                moved.insert(canonical.number)
                movedRelationships.append(canonical)
            }
        }
    }

    private func canonical(_ relationship: SchemaRelationship) -> SchemaRelationship {
        guard let inverse = new.model.inverse(of: relationship) else { return relationship }
        if relationship.isToMany != inverse.isToMany { return relationship.isToMany ? relationship : inverse }
        let owner = new.joinTables.first { [relationship.number, inverse.number].contains($0.owner.number) }?.owner
        return owner ?? relationship
    }

    /// Whether the links of a relationship stay where they are: in a column that keeps its rows, or in one join table.
    private func isStoredAlike(_ relationship: SchemaRelationship) -> Bool {
        let origins = origins(of: relationship)
        func covers(_ some: [SchemaRelationship], _ others: [SchemaRelationship]) -> Bool {
            others.allSatisfy { other in some.contains { $0.number == other.inverse } }
        }
        guard let inverse = new.model.inverse(of: relationship) else {
            guard relationship.isToMany, let origin = origins.first else { return true }
            return origins.count == 1 && origin.isToMany && origin.inverse == nil
        }
        let others = self.origins(of: inverse)
        if origins.isEmpty, others.isEmpty { return true }
        switch (relationship.isToMany, inverse.isToMany) {
        case (true, false): return isStoredAlike(inverse)
        case (false, true): return covers(origins, others)
        case (false, false): return covers(origins, others) && covers(others, origins)
        case (true, true):
            return origins.count == 1 && others.count == 1 && covers(origins, others)
                && origins[0].isToMany && others[0].isToMany
                && (origins[0].number == others[0].number) == relationship.isReflexive
        }
    }
}
