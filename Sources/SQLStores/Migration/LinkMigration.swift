import ManagedObjects
import SQLStatements

/// The statements that copy the links of a relationship that is stored in another way in the new schema, by way of a temporary
/// table: of a to-one relationship that becomes to-many, and of one whose inverse is another.
///
/// If an object would get several objects for a to-one relationship, it gets the one with the highest primary key.
struct LinkMigration {
    private let schema: MigratedSchema
    private let catalog: SQLCatalog
    private let relationship: SchemaRelationship
    private let table: String
    private var temporary: String { schema.dialect.temporary(table) }
    private static let columns = ["OWNER", "MEMBER", "POSITION", "INVERSEPOSITION"]

    init(_ schema: MigratedSchema, _ catalog: SQLCatalog, _ relationship: SchemaRelationship, number: Int) {
        self.schema = schema
        self.catalog = catalog
        self.relationship = relationship
        table = "Z__L\(number)"
    }

    // MARK: - Reading

    /// Collects the links from the old tables.
    func reading() -> [any SQLCommand] {
        let inverse = relationship.isReflexive ? nil : schema.new.model.inverse(of: relationship)
        let definition = SQLTableDefinition(
            name: table, columns: Self.columns.map { ($0, .integer) }, key: [], isTemporary: true)
        let inverseColumns = ["MEMBER", "OWNER", "INVERSEPOSITION", "POSITION"]
        let insertions =
            links(of: relationship).map { SQLInsert(into: table, Self.columns, selection: $0) }
            + (inverse.map(links) ?? []).map { SQLInsert(into: table, inverseColumns, selection: $0) }
        return [definition] + insertions
    }

    /// Selections of the old links of a new relationship: owner, member, position, position in the inverse.
    private func links(of relationship: SchemaRelationship) -> [SQLSelect] {
        schema.origins(of: relationship).flatMap { origin -> [SQLSelect] in
            let pairs = schema.pairs(below: schema.new.model.entities[relationship.entity]).filter {
                schema.oldRelationship(relationship, in: $0)?.number == origin.number && catalog.hasTable($0.old.table)
            }
            guard let first = pairs.first else { return [] }
            let isOfEntity = SQLRestriction.entities(pairs.map(\.old.number))
            let owners = SQLSelect(["Z_PK"], from: first.old.table, where: isOfEntity)
            if !origin.isToMany { return reference(origin, in: first.old, isOfEntity) }
            if let stored = schema.old.pairs(of: origin) {
                guard catalog.hasTable(stored.table) else { return [] }
                return self.pairs(stored, owners)
            }
            return members(origin, owners)
        }
    }

    private static func selection(
        _ owner: String, _ member: String, _ position: String? = nil, _ inversePosition: String? = nil,
        from table: String, where condition: SQLRestriction
    ) -> SQLSelect {
        SQLSelect(
            [owner, member, position ?? "NULL", inversePosition ?? "NULL"], from: table, where: condition)
    }

    private func reference(
        _ origin: SchemaRelationship, in entity: SQLEntity, _ isOfEntity: SQLRestriction
    ) -> [SQLSelect] {
        guard let column = entity.column(named: origin.name)?.name else { return [] }
        let position = entity.entity.positionSlot(of: origin.number).flatMap { entity.columns[$0]?.name }
        return [
            Self.selection(
                "Z_PK", column, nil, position, from: entity.table, where: .all([.isNotNull(column), isOfEntity]))
        ]
    }

    private func pairs(_ pairs: SQLPairs, _ owners: SQLSelect) -> [SQLSelect] {
        let straight = Self.selection(
            pairs.source, pairs.destination, pairs.position, pairs.inversePosition, from: pairs.table,
            where: .selected(pairs.source, owners))
        guard pairs.isReflexive else { return [straight] }
        let reversed = Self.selection(
            pairs.destination, pairs.source, from: pairs.table, where: .selected(pairs.destination, owners))
        return [straight, reversed]
    }

    private func members(_ origin: SchemaRelationship, _ owners: SQLSelect) -> [SQLSelect] {
        guard let members = schema.old.membership(of: origin), catalog.hasTable(members.table) else { return [] }
        return [
            Self.selection(
                members.owner, "Z_PK", members.position, from: members.table, where: .selected(members.owner, owners))
        ]
    }

    // MARK: - Writing

    /// Stores the links in the new tables, and drops the temporary table.
    func writing() -> [any SQLCommand] {
        guard let owners = schema.new.entity(at: relationship.entity),
            let members = schema.new.destination(of: relationship)
        else { return [] }
        let isRemoved = SQLRestriction.any([
            .notSelected("OWNER", schema.keys(owners)), .notSelected("MEMBER", schema.keys(members)),
        ])
        var statements: [any SQLCommand] = [SQLDelete(from: temporary, where: isRemoved)]
        if relationship.isReflexive {
            statements.append(
                SQLInsert(
                    into: temporary, ["OWNER", "MEMBER", "POSITION"],
                    selection: SQLSelect(["MEMBER", "OWNER", "INVERSEPOSITION"], from: temporary)))
        }
        if let pairs = schema.new.pairs(of: relationship) {
            statements.append(insertion(pairs))
        } else if relationship.isToMany {
            if let membership { statements.append(membership) }
        } else {
            statements += references(owners, members) as [any SQLCommand]
        }
        return statements + [SQLAlteration.dropTable(temporary)]
    }

    /// Selects each link once, with its positions counted anew.
    private func counted(_ links: SQLSelect) -> SQLSelect {
        let position = SQLExpression.position(in: "OWNER", by: "POSITION IS NULL, POSITION, MEMBER")
        let inverse = SQLExpression.position(in: "MEMBER", by: "INVERSEPOSITION IS NULL, INVERSEPOSITION, OWNER")
        return SQLSelect(
            ["OWNER", "MEMBER", "\(position) AS POSITION", "\(inverse) AS INVERSEPOSITION"], from: links, as: "l")
    }

    private func insertion(_ pairs: SQLPairs) -> SQLInsert {
        let columns =
            [pairs.source, pairs.destination] + [pairs.position, pairs.inversePosition].compactMap { $0 }
        let values =
            ["OWNER", "MEMBER"] + (pairs.position.map { _ in ["POSITION"] } ?? [])
            + (pairs.inversePosition.map { _ in ["INVERSEPOSITION"] } ?? [])
        let links = SQLSelect(
            ["OWNER", "MEMBER", "max(POSITION) AS POSITION", "max(INVERSEPOSITION) AS INVERSEPOSITION"],
            from: temporary, groupBy: ["OWNER", "MEMBER"])
        // A pair of a relationship that is its own inverse is stored once.
        let rows = SQLSelect(
            values, from: counted(links), as: "l", where: .text(pairs.isReflexive ? "OWNER <= MEMBER" : "TRUE"))
        return SQLInsert(into: pairs.table, columns, selection: rows, duplicates: .areIgnored)
    }

    /// The owner of each member, in a column of the member's table.
    private var membership: SQLUpdate? {
        guard let members = schema.new.membership(of: relationship) else { return nil }
        let ranked = SQLSelect(
            Self.columns + ["\(SQLExpression.number(among: "MEMBER", by: "OWNER DESC")) AS RANKING"], from: temporary)
        let links = SQLSelect(Self.columns, from: ranked, as: "n", where: .text("RANKING = 1"))
        let assignments =
            [SQLAssignment.expression("l.OWNER", of: members.owner)]
            + (members.position.map { [.expression("l.POSITION", of: $0)] } ?? [])
        return SQLUpdate(members.table, set: assignments, from: counted(links), as: "l", key: "MEMBER")
    }

    /// Both columns of a one-to-one relationship.
    private func references(_ owners: SQLEntity, _ members: SQLEntity) -> [SQLUpdate] {
        let owned = SQLSelect(["max(OWNER) AS OWNER", "MEMBER"], from: temporary, groupBy: ["MEMBER"])
        let links = SQLSelect(["OWNER", "max(MEMBER) AS MEMBER"], from: owned, as: "m", groupBy: ["OWNER"])
        func update(_ entity: SQLEntity, _ relationship: SchemaRelationship, _ key: String, _ value: String)
            -> SQLUpdate?
        {
            schema.new.entity(at: relationship.entity)?.column(named: relationship.name).map {
                SQLUpdate(
                    entity.table, set: [.expression("l.\(value)", of: $0.name)], from: links, as: "l", key: key)
            }
        }
        let own = update(owners, relationship, "OWNER", "MEMBER")
        let inverse = relationship.isReflexive ? nil : schema.new.model.inverse(of: relationship)
        let other = inverse.flatMap { update(members, $0, "MEMBER", "OWNER") }
        return [own, other].compactMap { $0 }
    }
}
