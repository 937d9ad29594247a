import Coral
import GRDB

/// Compares the records of a store with the rows and pairs of a plain database, as they are read from it.
struct PlainComparison {
    private let plain: PlainDatabase
    private var schema: PlainSchema { plain.schema }

    init(_ plain: PlainDatabase) { self.plain = plain }

    /// Compares each attribute and each relationship of a record, and adds the names of those that differ.
    func compare(_ record: GraphRecord, _ database: Database, _ different: inout Findings) throws {
        guard let table = schema.table(of: record.entity) else { return different.add("\(record.id)") }
        let key = plain.key(of: record.id, in: record.entity)
        let statement = try database.cachedStatement(
            sql: "SELECT * FROM \(SQLText.name(table.name)) WHERE \(SQLText.name(table.columns[0].name)) = ?")
        guard let row = try Row.fetchOne(statement, arguments: [key]) else { return different.add("\(record.id)") }
        for (column, value) in zip(table.columns, row.databaseValues) {
            if try !equals(value, column, record) { different.add("\(record.id).\(column.name)") }
        }
        for relationship in record.relationships {
            guard let found = try members(of: relationship, record, key, database) else { continue }
            let expected = relationship.target.ids.map { plain.key(of: $0) }
            if found.isOrdered ? found.keys != expected : Set(found.keys) != Set(expected) {
                different.add("\(record.id).\(relationship.name)")
            }
        }
    }

    private func equals(
        _ value: DatabaseValue, _ column: PlainTable.Column, _ record: GraphRecord
    ) throws -> Bool {
        switch column.content {
        case .key: return true
        case .entity: return value == record.entity.databaseValue
        // A position is compared with the members of the owner.
        case .position: return true
        case .reference(let relationship):
            guard column.entities.contains(record.entity) else { return value.isNull }
            return value == plain.reference(record.target(of: relationship.name)?.ids.first)
        case .attribute(let path, let attribute):
            guard column.entities.contains(record.entity) else { return value.isNull }
            let expected = record.value(at: path)
            if case .file(let file) = expected, file.isMissing { return value.isNull }
            if let folder = plain.folder, [.binaryData, .transformable].contains(attribute.type),
                case .string(let path) = value.storage
            {
                return try PlainValue.databaseValue(expected) == folder.contents(of: path).databaseValue
            }
            // A date outside the calendar is null, and has been reported.
            if case .date = expected, PlainValue.databaseValue(expected).isNull { return value.isNull }
            return PlainValue.value(value, as: attribute.type) == expected
        }
    }

    /// The keys of the destinations of a relationship that has no column in the record's row; nil if it has a column.
    private func members(
        of relationship: GraphRelationship, _ record: GraphRecord, _ key: DatabaseValue, _ database: Database
    ) throws -> (keys: [DatabaseValue], isOrdered: Bool)? {
        let entity = schema.table(of: record.entity).flatMap { table in
            PlainSchema.hierarchy(of: table.entity).first { $0.name == record.entity }
        }
        guard let description = (entity?.relationshipsByName[relationship.name]).map(PlainSchema.declared) else {
            return nil
        }
        let inverse = PlainSchema.inverse(description)
        if let join = schema.joins.first(where: { $0.relationship === description }) {
            return (try pairs(join, key, database), join.position != nil)
        }
        if let join = schema.joins.first(where: { $0.relationship === inverse }) {
            return (
                try keys(join.ownerColumn, join.name, join.memberColumn, key, join.inversePosition, database),
                join.inversePosition != nil
            )
        }
        guard let inverse, let destination = description.destinationEntity,
            let table = schema.table(of: destination), let column = table.reference(inverse),
            schema.table(of: record.entity)?.reference(description) == nil
        else { return nil }
        let position = table.position(inverse)?.name
        return (
            try keys(table.columns[0].name, table.name, column.name, key, position, database), position != nil
        )
    }

    private func keys(
        _ column: String, _ table: String, _ condition: String, _ key: DatabaseValue, _ order: String?,
        _ database: Database
    ) throws -> [DatabaseValue] {
        let order = order.map { " ORDER BY \(SQLText.name($0))" } ?? ""
        let statement = try database.cachedStatement(
            sql: "SELECT \(SQLText.name(column)) FROM \(SQLText.name(table)) "
                + "WHERE \(SQLText.name(condition)) = ?\(order)")
        return try DatabaseValue.fetchAll(statement, arguments: [key])
    }

    private func pairs(_ join: PlainJoin, _ key: DatabaseValue, _ database: Database) throws -> [DatabaseValue] {
        let found = try keys(join.memberColumn, join.name, join.ownerColumn, key, join.position, database)
        guard join.isSymmetric else { return found }
        return try found + keys(join.ownerColumn, join.name, join.memberColumn, key, nil, database)
    }
}
