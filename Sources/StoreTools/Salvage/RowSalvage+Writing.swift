import Foundation
import GRDB
import ManagedObjects
import ModelFiles
import SQLStatements
import SQLStores
import SQLiteConnections
import StoreRescue

// The rows that were read, written into a new store.

extension RowSalvage {
    /// Writes the rows into a new, empty store of the model, with the UUID and the metadata of the old one, and copies
    /// the files of large values. References to lost objects are not changed.
    ///
    /// - Parameter isWanted: Whether an entity's objects are written.
    /// - Throws: Errors of Core Data's; the new store is not usable then.
    package mutating func write(to destination: URL, isWanted: (NSEntityDescription) -> Bool) throws {
        var written = report
        do {
            let connection = try StoreConnection(url: destination, options: .keepingJournalMode)
            try connection.write { database in
                let target = SQLSchemaBuilder.schema(of: model, catalog: try SQLCatalog(in: database))
                let wanted = Set(model.orderedEntities.filter(isWanted).map(\.index))
                for entity in schema.schema.entities where wanted.contains(entity.entity.index) {
                    try write(entity, target, database, &written)
                }
                for join in schema.schema.joinTables { try write(join, target, wanted, database, &written) }
                try writeNumbers(target, database)
                var own = try StoreMetadata(in: database, url: destination)
                own.uuid = uuid ?? own.uuid
                own.content.merge(metadata.filter { StoreMetadataKeys.isOfProgram($0.key) }) { $1 }
                try own.write(to: database)
            }
            try connection.close()
        } catch {
            throw SQLiteError.translated(error, .saving, url: destination)
        }
        let (from, to) = (SQLiteFile(url).externalDataDirectory, SQLiteFile(destination).externalDataDirectory)
        let hasFiles = FileManager.default.fileExists(atPath: from.path)
        let names = try hasFiles ? FileManager.default.contentsOfDirectory(atPath: from.path) : []
        for name in names.sorted() where UUID(uuidString: name) != nil {
            try FileManager.default.createDirectory(at: to, withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: from.appendingPathComponent(name), to: to.appendingPathComponent(name))
        }
        report = written
    }

    private func write(
        _ entity: SQLEntity, _ target: SQLSchema, _ database: Database, _ report: inout SalvageReport
    ) throws {
        guard let sqlEntity = target.entity(at: entity.entity.index), let rows = tables[entity.table]?.rows,
            let names = schema.columns[entity.table], let number = names.firstIndex(of: "Z_ENT")
        else { return }
        let version = names.firstIndex(of: "Z_OPT")
        // The positions in old rows of the columns of the new table.
        var columns: [(position: Int, name: String, isNumber: Bool)] = []
        for (old, new) in zip(entity.columns, sqlEntity.columns) {
            guard let old, let new, let position = names.firstIndex(of: old.name) else { continue }
            columns.append((position, new.name, false))
            if let former = old.companion, let companion = new.companion, let position = names.firstIndex(of: former) {
                columns.append((position, companion, true))
            }
        }
        let insertion = try SQLStatement(
            SQLInsert(into: sqlEntity.table, SQLEntity.rowColumns + columns.map(\.name), duplicates: .areIgnored),
            in: database)
        defer { insertion.finish() }
        let name = entity.entity.name
        for (key, row) in rows.sorted(by: { $0.key < $1.key }) {
            guard case .integer(entity.number) = row.values[number] else { continue }
            func value(_ position: Int) -> ColumnValue {
                row.values.indices.contains(position) ? row.values[position] : .null
            }
            var arguments: [ColumnValue] = [
                .integer(key), .integer(sqlEntity.number), version.map(value) ?? .integer(1),
            ]
            for column in columns {
                let old = value(column.position)
                arguments.append(column.isNumber ? renumbered(old, target) : old)
                if row.lost.contains(column.position) {
                    report.lostValues.append("\(name)/p\(key).\(propertyName(column.name, of: entity, sqlEntity))")
                }
                if row.doubtful.contains(column.position) {
                    report.doubtfulValues.append("\(name)/p\(key).\(propertyName(column.name, of: entity, sqlEntity))")
                }
            }
            for (index, argument) in arguments.enumerated() { insertion.bind(argument, at: index + 1) }
            try insertion.run()
            if insertion.changesCount == 0 {
                report.refusedObjects.append("\(name)/p\(key)")
            } else {
                report.objectCounts[name, default: 0] += 1
            }
        }
    }

    private func propertyName(_ column: String, of entity: SQLEntity, _ sqlEntity: SQLEntity) -> String {
        let slot = sqlEntity.columns.firstIndex { $0?.name == column }
        return slot.flatMap { entity.entity.slots[$0].name } ?? column
    }

    /// The number of an entity in the new store, for its number in the old one.
    private func renumbered(_ value: ColumnValue, _ target: SQLSchema) -> ColumnValue {
        guard case .integer(let number) = value, let index = schema.schema.entityIndex(number: number) else {
            return value
        }
        return target.number(entityIndex: index).map(ColumnValue.integer) ?? value
    }

    private func write(
        _ join: SQLJoinTable, _ target: SQLSchema, _ wanted: Set<Int>, _ database: Database,
        _ report: inout SalvageReport
    ) throws {
        guard let rows = tables[join.name]?.rows, let names = schema.columns[join.name],
            let table = target.joinTables.first(where: {
                $0.owner.number == join.owner.number || $0.owner.number == join.owner.inverse
            }), let destination = join.owner.destination,
            wanted.contains(join.owner.entity) || wanted.contains(destination)
        else { return }
        // The new table may have been named after the other side.
        let isSwapped = table.owner.number != join.owner.number
        let pairs = [
            (join.sourceColumn, isSwapped ? table.destinationColumn : table.sourceColumn),
            (join.destinationColumn, isSwapped ? table.sourceColumn : table.destinationColumn),
            (join.sourcePositionColumn, isSwapped ? table.destinationPositionColumn : table.sourcePositionColumn),
            (join.destinationPositionColumn, isSwapped ? table.sourcePositionColumn : table.destinationPositionColumn),
        ].compactMap { old, new -> (Int, String)? in
            guard let old, let new, let position = names.firstIndex(of: old) else { return nil }
            return (position, new)
        }
        let insertion = try SQLStatement(
            SQLInsert(into: table.name, pairs.map(\.1), duplicates: .areIgnored), in: database)
        defer { insertion.finish() }
        for (_, row) in rows.sorted(by: { $0.key < $1.key }) {
            for (index, pair) in pairs.enumerated() {
                insertion.bind(row.values.indices.contains(pair.0) ? row.values[pair.0] : .null, at: index + 1)
            }
            try insertion.run()
            report.pairCount += insertion.changesCount
        }
    }

    /// Sets the last assigned keys: those of the old store, or the greatest key.
    private func writeNumbers(_ target: SQLSchema, _ database: Database) throws {
        for entity in target.entities {
            let name = entity.entity.name
            let greatest =
                entity.entity.superentity == nil
                ? tables[schema.schema.entity(at: entity.entity.index)?.table ?? ""]?.rows.keys.max() : nil
            let last = max(schema.lastKeys[name] ?? 0, greatest ?? 0)
            try database.execute(
                SQLQuery(KeyCommands.raise, [.integer(last), .integer(entity.number)]))
        }
    }
}

extension RowSalvage {
    /// A deleted row, with the names that the model has for it.
    package struct DeletedObject {
        package let entity: String
        /// The names of the columns of its values.
        package let columns: [String]
        package let row: DeletedRow
    }

    /// The deleted objects whose rows are still in the files, by table and key.
    ///
    /// - Parameter willRead: Called with the number of pages read and their total; throws to cancel.
    /// - Throws: `CocoaError` if a program has written the store since it was opened.
    package func deletedObjects(willRead: (Int, Int) throws -> Void) throws -> [DeletedObject] {
        let names = Dictionary(
            schema.schema.entities.map { ($0.number, $0.entity.name) }, uniquingKeysWith: { first, _ in first })
        let rows = try rescue.deletedRows(of: schema.tables, willRead: willRead)
        try rescue.requireUnchanged()
        return rows.map { row in
            DeletedObject(
                entity: row.entityNumber.flatMap { names[$0] } ?? "", columns: schema.columns[row.table] ?? [], row: row
            )
        }
    }
}
