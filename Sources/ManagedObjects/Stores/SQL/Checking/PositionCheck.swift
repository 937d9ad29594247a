import SQLStores

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
        let inherited = sqlEntity.entity.superentity?.layout.toMany.count ?? 0
        return try sqlEntity.entity.layout.toMany.dropFirst(inherited).compactMap { toMany in
            guard toMany.isPersistent, toMany.relationship.isOrdered,
                let (table, owner, position) = columns(of: toMany), catalog.hasTable(table)
            else { return nil }
            return try problem(toMany.relationship, table, owner: owner, position: position)
        }
    }

    private func columns(
        of toMany: EntityLayout.ToMany
    ) -> (table: String, owner: String, position: String)? {
        switch toMany.storage {
        case .memberSlot(let slot, let position):
            guard let members = toMany.relationship.destinationEntity.flatMap({ schema.entity($0) }),
                let owner = members.columns[slot]?.name, let position = position.flatMap({ members.columns[$0]?.name })
            else { return nil }
            return (members.table, owner, position)
        case .pairs:
            guard let pairs = schema.pairs(of: toMany.relationship), let position = pairs.position else { return nil }
            return (pairs.table, pairs.source, position)
        }
    }

    private func problem(
        _ relationship: NSRelationshipDescription, _ table: String, owner: String, position: String
    ) throws -> RowProblem? {
        // NULL is equal to NULL in a group.
        let owners =
            "SELECT DISTINCT \(owner) AS owner FROM \(table) WHERE \(owner) IS NOT NULL "
            + "GROUP BY \(owner), \(position) HAVING count(*) > 1"
        let found = try reader.rows(
            "SELECT owner, (SELECT count(*) FROM (\(owners)) AS o) FROM (\(owners)) AS p ORDER BY 1 LIMIT 5")
        guard let count = found.first?.integer(1) else { return nil }
        let name = sqlEntity.entity.name ?? ""
        return RowProblem(
            kind: .ambiguousPosition, entity: name, property: relationship.name, count: Int(count),
            examples: found.map { "\(name)/\($0.key(0))" },
            message: "Several members of an ordered relationship have the same position, or none.")
    }
}
