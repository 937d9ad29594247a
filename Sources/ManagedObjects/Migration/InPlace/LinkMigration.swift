/// The statements that copy the links of a relationship that is stored in another way in the new schema, by way of a temporary
/// table: of a to-one relationship that becomes to-many, and of one whose inverse is another.
///
/// If an object would get several objects for a to-one relationship, it gets the one with the highest primary key.
struct LinkMigration {
    private let schema: MigratedSchema
    private let catalog: SQLCatalog
    private let relationship: NSRelationshipDescription
    private let table: String
    private var temporary: String { schema.dialect.temporary(table) }
    private static let columns = ["OWNER", "MEMBER", "POSITION", "INVERSEPOSITION"]

    init(_ schema: MigratedSchema, _ catalog: SQLCatalog, _ relationship: NSRelationshipDescription, number: Int) {
        self.schema = schema
        self.catalog = catalog
        self.relationship = relationship
        table = "Z__L\(number)"
    }

    // MARK: - Reading

    /// Collects the links from the old tables.
    func reading() -> [String] {
        let inverse = relationship.inverseRelationship.flatMap { $0 === relationship ? nil : $0 }
        let columns = Self.columns.map { "\($0) \(schema.dialect.name(of: .integer))" }.joined(separator: ", ")
        return ["CREATE TEMP TABLE \(table) (\(columns))"]
            + links(of: relationship).map {
                "INSERT INTO \(table) (OWNER, MEMBER, POSITION, INVERSEPOSITION) \($0)"
            }
            + (inverse.map(links) ?? []).map {
                "INSERT INTO \(table) (MEMBER, OWNER, INVERSEPOSITION, POSITION) \($0)"
            }
    }

    /// Selections of the old links of a new relationship: owner, member, position, position in the inverse.
    private func links(of relationship: NSRelationshipDescription) -> [String] {
        schema.origins(of: relationship).flatMap { origin -> [String] in
            let pairs = schema.pairs(below: relationship.entity).filter {
                schema.oldRelationship(relationship, in: $0) === origin && catalog.hasTable($0.old.table)
            }
            guard let first = pairs.first else { return [] }
            let isOfEntity = SQLRestriction.areOfEntities(pairs.map(\.old.number))
            let owners = "SELECT Z_PK FROM \(first.old.table) WHERE \(isOfEntity)"
            if !origin.isToMany { return reference(origin, in: first.old, isOfEntity) }
            if let stored = schema.old.pairs(of: origin) {
                guard catalog.hasTable(stored.table) else { return [] }
                return self.pairs(stored, owners)
            }
            return members(origin, owners)
        }
    }

    private func reference(
        _ origin: NSRelationshipDescription, in entity: SQLEntity, _ isOfEntity: String
    ) -> [String] {
        guard let column = schema.old.column(named: origin.name, in: entity.entity)?.name else { return [] }
        let position = entity.entity.layout.positionSlot(of: origin).flatMap { entity.columns[$0]?.name }
        return [
            "SELECT Z_PK, \(column), NULL, \(position ?? "NULL") FROM \(entity.table) "
                + "WHERE \(column) IS NOT NULL AND \(isOfEntity)"
        ]
    }

    private func pairs(_ pairs: SQLPairs, _ owners: String) -> [String] {
        func selection(_ owner: String, _ member: String, _ position: String?, _ inversePosition: String?) -> String {
            "SELECT \(owner), \(member), \(position ?? "NULL"), \(inversePosition ?? "NULL") FROM \(pairs.table) "
                + "WHERE \(owner) IN (\(owners))"
        }
        let straight = selection(pairs.source, pairs.destination, pairs.position, pairs.inversePosition)
        return pairs.isReflexive ? [straight, selection(pairs.destination, pairs.source, nil, nil)] : [straight]
    }

    private func members(_ origin: NSRelationshipDescription, _ owners: String) -> [String] {
        guard let destination = origin.destinationEntity.flatMap({ schema.old.entity($0) }),
            catalog.hasTable(destination.table),
            let field = origin.entity.layout.toMany.first(where: { $0.relationship === origin }),
            case .memberSlot(let slot, let position) = field.storage, let owner = destination.columns[slot]?.name
        else { return [] }
        let positionColumn = position.flatMap { destination.columns[$0]?.name }
        return [
            "SELECT \(owner), Z_PK, \(positionColumn ?? "NULL"), NULL FROM \(destination.table) "
                + "WHERE \(owner) IN (\(owners))"
        ]
    }

    // MARK: - Writing

    /// Stores the links in the new tables, and drops the temporary table.
    func writing() -> [String] {
        guard let owners = schema.new.entity(relationship.entity),
            let members = relationship.destinationEntity.flatMap({ schema.new.entity($0) })
        else { return [] }
        let inverse = relationship.inverseRelationship
        var statements = [
            "DELETE FROM \(temporary) WHERE OWNER NOT IN (\(schema.keys(owners))) "
                + "OR MEMBER NOT IN (\(schema.keys(members)))"
        ]
        if inverse === relationship {
            statements.append(
                "INSERT INTO \(temporary) (OWNER, MEMBER, POSITION) SELECT MEMBER, OWNER, INVERSEPOSITION FROM \(temporary)"
            )
        }
        if let pairs = schema.new.pairs(of: relationship) {
            statements.append(insertion(pairs))
        } else if relationship.isToMany {
            statements += membership(members)
        } else {
            statements += references(owners, members, inverse)
        }
        return statements + ["DROP TABLE \(temporary)"]
    }

    /// Selects each link once, with its positions counted anew.
    private func counted(_ links: String) -> String {
        "SELECT OWNER, MEMBER, \(ReferenceMigration.position(in: "OWNER", by: "POSITION IS NULL, POSITION, MEMBER")) "
            + "AS POSITION, "
            + "\(ReferenceMigration.position(in: "MEMBER", by: "INVERSEPOSITION IS NULL, INVERSEPOSITION, OWNER")) "
            + "AS INVERSEPOSITION FROM (\(links)) AS l"
    }

    private func insertion(_ pairs: SQLPairs) -> String {
        let columns =
            [pairs.source, pairs.destination] + [pairs.position, pairs.inversePosition].compactMap { $0 }
        let values =
            ["OWNER", "MEMBER"] + (pairs.position.map { _ in ["POSITION"] } ?? [])
            + (pairs.inversePosition.map { _ in ["INVERSEPOSITION"] } ?? [])
        let links =
            "SELECT OWNER, MEMBER, max(POSITION) AS POSITION, max(INVERSEPOSITION) AS INVERSEPOSITION "
            + "FROM \(temporary) GROUP BY OWNER, MEMBER"
        // A pair of a relationship that is its own inverse is stored once.
        let rows =
            "SELECT \(values.joined(separator: ", ")) FROM (\(counted(links))) AS l "
            + "WHERE \(pairs.isReflexive ? "OWNER <= MEMBER" : "TRUE")"
        return schema.dialect.text(
            of: SQLInsert(into: pairs.table, columns, selection: rows, duplicates: .areIgnored))
    }

    /// The owner of each member, in a column of the member's table.
    private func membership(_ members: SQLEntity) -> [String] {
        guard let field = relationship.entity.layout.toMany.first(where: { $0.relationship === relationship }),
            case .memberSlot(let slot, let position) = field.storage, let owner = members.columns[slot]?.name
        else { return [] }
        let positionColumn = position.flatMap { members.columns[$0]?.name }
        let numbered =
            "SELECT OWNER, MEMBER, POSITION, INVERSEPOSITION, "
            + "row_number() OVER (PARTITION BY MEMBER ORDER BY OWNER DESC) AS PLACE FROM \(temporary)"
        let links = "SELECT OWNER, MEMBER, POSITION, INVERSEPOSITION FROM (\(numbered)) AS n WHERE PLACE = 1"
        let assignments = ["\(owner) = l.OWNER"] + (positionColumn.map { ["\($0) = l.POSITION"] } ?? [])
        return [
            "UPDATE \(members.table) SET \(assignments.joined(separator: ", ")) FROM (\(counted(links))) AS l "
                + "WHERE l.MEMBER = \(members.table).Z_PK"
        ]
    }

    /// Both columns of a one-to-one relationship.
    private func references(
        _ owners: SQLEntity, _ members: SQLEntity, _ inverse: NSRelationshipDescription?
    ) -> [String] {
        let links =
            "SELECT OWNER, max(MEMBER) AS MEMBER FROM "
            + "(SELECT max(OWNER) AS OWNER, MEMBER FROM \(temporary) GROUP BY MEMBER) AS m GROUP BY OWNER"
        func update(_ entity: SQLEntity, _ relationship: NSRelationshipDescription, _ key: String, _ value: String)
            -> String?
        {
            schema.new.column(named: relationship.name, in: relationship.entity).map {
                "UPDATE \(entity.table) SET \($0.name) = l.\(value) FROM (\(links)) AS l WHERE l.\(key) = \(entity.table).Z_PK"
            }
        }
        let own = update(owners, relationship, "OWNER", "MEMBER")
        let other = inverse.flatMap { $0 === relationship ? nil : update(members, $0, "MEMBER", "OWNER") }
        return [own, other].compactMap { $0 }
    }
}
