import Coral
import GRDB

/// Compares the records of a store with the rows and pairs of a plain database, as they are read from it.
struct PlainComparison {
    private let plain: PlainDatabase

    init(_ plain: PlainDatabase) { self.plain = plain }

    /// Compares each attribute and each relationship of a record, and adds the names of those that differ.
    func compare(_ record: GraphRecord, _ database: Database, _ different: inout Findings) throws {
        guard let entity = plain.entities.entity(of: record) else { return different.add("\(record.id)") }
        let key = plain.key(of: record.id, in: record.entity)
        guard let values = try storedValues(of: entity, key, database) else { return different.add("\(record.id)") }
        for (index, source) in entity.sources.enumerated() {
            guard try !equals(values[index], source, record) else { continue }
            different.add("\(record.id).\(entity.table.columns[index].name)")
        }
        for members in entity.members {
            let found = try members.selections.flatMap {
                try DatabaseValue.fetchAll(database.cachedStatement(sql: $0), arguments: [key])
            }
            let expected = record.relationships[members.place].target.ids.map { plain.key(of: $0) }
            if found != expected, members.isOrdered || Set(found) != Set(expected) {
                different.add("\(record.id).\(members.name)")
            }
        }
    }

    /// The values of the columns of a row; nil if there is none.
    private func storedValues(
        of entity: PlainEntity, _ key: DatabaseValue, _ database: Database
    ) throws -> [DatabaseValue]? {
        let rows = try Row.fetchCursor(database.cachedStatement(sql: entity.selection), arguments: [key])
        let values = rows.map { row in try entity.sources.indices.map { try Self.value(of: row, $0) } }
        return try values.next()
    }

    /// The value of a column of a row that a cursor is at.
    private static func value(of row: Row, _ column: Int) throws -> DatabaseValue {
        let value: DatabaseValue = row[column]
        // GRDB's values lose what follows a NUL in a text; its bytes are complete.
        guard case .string = value.storage else { return value }
        return try row.withUnsafeData(atIndex: column) { data in
            data.map { String(decoding: $0, as: UTF8.self).databaseValue } ?? value
        }
    }

    private func equals(
        _ value: DatabaseValue, _ source: PlainEntity.Source, _ record: GraphRecord
    ) throws -> Bool {
        switch source {
        // A position is compared with the members of the owner.
        case .key, .position: return true
        case .entity: return value == record.entity.databaseValue
        case .absent: return value.isNull
        case .reference(let place): return value == plain.reference(PlainEntity.target(place, of: record))
        case .attribute(let place, let path, let attribute):
            let expected = PlainEntity.value(place, path, of: record)
            if case .file(let file) = expected, file.isMissing { return value.isNull }
            if let folder = plain.folder, [.binaryData, .transformable].contains(attribute.type),
                case .string(let path) = value.storage
            {
                return try PlainValue.databaseValue(expected) == folder.contents(of: path).databaseValue
            }
            switch expected {
            // A date outside the calendar and NaN are null, and have been reported.
            case .date, .double, .float:
                if PlainValue.databaseValue(expected).isNull { return value.isNull }
            default: break
            }
            return PlainValue.value(value, as: attribute.type) == expected
        }
    }
}
