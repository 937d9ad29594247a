import Coral

/// How the records of one entity are written to a plain database and compared with it: where the values of the columns are in a
/// record, and the statements. Made once for an entity.
///
/// All records of an entity have the same properties in the same order, so that properties are found by their places.
final class PlainEntity {
    /// Where the value of a column comes from.
    enum Source {
        case key, entity
        /// The place of a to-one relationship; nil if the record has none.
        case reference(Int?)
        /// The place of an attribute, and the path in a composite value.
        case attribute(Int?, [String], GraphSchema.Attribute)
        /// A position, which is written after all rows.
        case position
        /// The property is one of other entities in the same table.
        case absent
    }

    /// The pairs of a to-many relationship that has a table of its own.
    struct Pairs {
        let place: Int
        let join: PlainJoin
        let insertion: String
    }

    /// An ordered relationship whose positions are in rows of members, or of pairs.
    struct Positions {
        let place: Int
        /// The update of a pair takes the keys of its member and its owner, that of a member only its key.
        let isOfPairs: Bool
        let update: String
    }

    /// A relationship whose members are in other rows.
    struct Members {
        let name: String
        let place: Int
        let selections: [String]
        let isOrdered: Bool
    }

    let name: String
    let table: PlainTable
    let sources: [Source]
    let insertion: String
    let selection: String
    let pairs: [Pairs]
    let positions: [Positions]
    let members: [Members]

    /// The entity of a record; nil if the schema has no table for it.
    init?(of record: GraphRecord, in schema: PlainSchema) {
        guard let table = schema.table(of: record.entity),
            let entity = PlainSchema.hierarchy(of: table.entity).first(where: { $0.name == record.entity })
        else { return nil }
        name = record.entity
        self.table = table
        let place = { (name: String) in record.relationships.firstIndex { $0.name == name } }
        sources = table.columns.map { column in
            switch column.content {
            case .key: return .key
            case .entity: return .entity
            case .position: return .position
            case .reference(let relationship):
                return column.entities.contains(record.entity) ? .reference(place(relationship.name)) : .absent
            case .attribute(let path, let attribute):
                guard column.entities.contains(record.entity) else { return .absent }
                return .attribute(
                    record.attributes.firstIndex { $0.name == path.first }, Array(path.dropFirst()), attribute)
            }
        }
        insertion = Self.insertion(into: table.name, table.columns.map(\.name))
        selection =
            "SELECT * FROM \(SQLText.name(table.name)) WHERE \(SQLText.name(table.columns[0].name)) = ?"
        pairs = schema.joins.compactMap { join in
            guard Self.isOf(join.relationship, entity), let place = place(join.relationship.name) else { return nil }
            let columns = [join.ownerColumn, join.memberColumn] + (join.position.map { [$0] } ?? [])
            return Pairs(place: place, join: join, insertion: Self.insertion(into: join.name, columns))
        }
        positions =
            Self.memberPositions(of: entity, schema, place) + Self.pairPositions(of: entity, schema, place)
        members = record.relationships.enumerated().compactMap { place, relationship in
            entity.relationshipsByName[relationship.name].map(PlainSchema.declared).flatMap {
                Self.members(of: $0, at: place, table, schema)
            }
        }
    }

    private static func isOf(_ relationship: NSRelationshipDescription, _ entity: NSEntityDescription) -> Bool {
        entity.relationshipsByName[relationship.name].map(PlainSchema.declared) === relationship
    }

    // MARK: - Statements

    private static func insertion(into table: String, _ columns: [String]) -> String {
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        return
            "INSERT INTO \(SQLText.name(table)) (\(columns.map(SQLText.name).joined(separator: ", "))) VALUES (\(marks))"
    }

    private static func memberPositions(
        of entity: NSEntityDescription, _ schema: PlainSchema, _ place: (String) -> Int?
    ) -> [Positions] {
        schema.tables.flatMap { table in
            table.columns.compactMap { column in
                guard case .position(let toOne) = column.content, let toMany = PlainSchema.inverse(toOne),
                    isOf(toMany, entity), let place = place(toMany.name)
                else { return nil }
                return Positions(
                    place: place, isOfPairs: false,
                    update: "UPDATE \(SQLText.name(table.name)) SET \(SQLText.name(column.name)) = ? "
                        + "WHERE \(SQLText.name(table.columns[0].name)) = ?")
            }
        }
    }

    private static func pairPositions(
        of entity: NSEntityDescription, _ schema: PlainSchema, _ place: (String) -> Int?
    ) -> [Positions] {
        schema.joins.compactMap { join in
            guard let position = join.inversePosition, let inverse = PlainSchema.inverse(join.relationship),
                isOf(inverse, entity), let place = place(inverse.name)
            else { return nil }
            return Positions(
                place: place, isOfPairs: true,
                update: "UPDATE \(SQLText.name(join.name)) SET \(SQLText.name(position)) = ? WHERE "
                    + "\(SQLText.name(join.ownerColumn)) = ? AND \(SQLText.name(join.memberColumn)) = ?")
        }
    }

    /// The members of a relationship that has no column in the table; nil if it has one.
    private static func members(
        of relationship: NSRelationshipDescription, at place: Int, _ table: PlainTable, _ schema: PlainSchema
    ) -> Members? {
        let inverse = PlainSchema.inverse(relationship)
        let members = { (selections: [String], isOrdered: Bool) in
            Members(name: relationship.name, place: place, selections: selections, isOrdered: isOrdered)
        }
        if let join = schema.joins.first(where: { $0.relationship === relationship }) {
            let found = selection(join.memberColumn, join.name, join.ownerColumn, join.position)
            let opposite = selection(join.ownerColumn, join.name, join.memberColumn, nil)
            return members(join.isSymmetric ? [found, opposite] : [found], join.position != nil)
        }
        if let join = schema.joins.first(where: { $0.relationship === inverse }) {
            return members(
                [selection(join.ownerColumn, join.name, join.memberColumn, join.inversePosition)],
                join.inversePosition != nil)
        }
        guard let inverse, let destination = relationship.destinationEntity,
            let other = schema.table(of: destination), let column = other.reference(inverse),
            table.reference(relationship) == nil
        else { return nil }
        let position = other.position(inverse)?.name
        return members(
            [selection(other.columns[0].name, other.name, column.name, position)], position != nil)
    }

    private static func selection(_ column: String, _ table: String, _ condition: String, _ order: String?) -> String {
        let order = order.map { " ORDER BY \(SQLText.name($0))" } ?? ""
        return
            "SELECT \(SQLText.name(column)) FROM \(SQLText.name(table)) WHERE \(SQLText.name(condition)) = ?\(order)"
    }

    // MARK: - Values

    /// The value of an attribute, or of an element of a composite one; null if there is none.
    static func value(_ place: Int?, _ path: [String], of record: GraphRecord) -> GraphValue {
        guard let place else { return .null }
        var value = record.attributes[place].value
        for name in path {
            guard case .composite(let elements) = value else { return .null }
            value = elements.first { $0.name == name }?.value ?? .null
        }
        return value
    }

    /// The destination of a to-one relationship.
    static func target(_ place: Int?, of record: GraphRecord) -> RecordID? {
        guard let place, case .toOne(let id) = record.relationships[place].target else { return nil }
        return id
    }

    /// Whether a record has no value for a column.
    static func isNull(_ source: Source, of record: GraphRecord) -> Bool {
        switch source {
        case .attribute(let place, let path, _): PlainValue.databaseValue(value(place, path, of: record)).isNull
        case .reference(let place): target(place, of: record) == nil
        case .key, .entity, .position, .absent: false
        }
    }
}

/// The ``PlainEntity`` of each entity, made when its first record is written.
final class PlainEntities {
    private let schema: PlainSchema
    private var entities: [String: PlainEntity] = [:]
    private var last: PlainEntity?

    init(_ schema: PlainSchema) { self.schema = schema }

    /// The entity of a record; nil if the schema has no table for it.
    func entity(of record: GraphRecord) -> PlainEntity? {
        // Consecutive records usually have the same entity.
        if let last, last.name == record.entity { return last }
        last = entities[record.entity] ?? PlainEntity(of: record, in: schema)
        entities[record.entity] = last
        return last
    }
}
