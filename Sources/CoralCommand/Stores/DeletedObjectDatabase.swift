#if STORE_ENGINE

    import AtomicFiles
    import CoralTools
    import Foundation
    import GRDB

    import struct SQLiteConnections.SQLStatement
    import struct StoreTools.RowSalvage
    import enum SQLStatements.ColumnValue

    /// Writes deleted objects to a database with a table for each entity: the columns of the store, after those that mark a row.
    struct DeletedObjectDatabase {
        private let partial: PartialFolder
        private let isReplaced: Bool
        /// The columns that state how sure a row is, where it was found, and which of its values are lost.
        private static let marks = ["deleted_certainty", "deleted_place", "deleted_lost"]

        /// - Parameter isReplaced: Whether an existing file may be replaced, as it was confirmed.
        /// - Throws: `CommandError` for a database that is open, or was not closed.
        init(at path: String, isReplaced: Bool) throws {
            self.isReplaced = isReplaced
            partial = try PartialFolder(for: URL(fileURLWithPath: path))
            for suffix in ["-wal", "-journal"] where FileStatus(partial.destination.path + suffix) != nil {
                throw CommandError(
                    "The database at \(path) has the file \(partial.destination.lastPathComponent + suffix): it is open, or "
                        + "was not closed. Nothing was changed.")
            }
        }

        /// Writes all tables, or nothing.
        func write(_ objects: [RowSalvage.DeletedObject]) throws {
            defer { partial.remove() }
            let queue = try DatabaseQueue(path: partial.item.path)
            try queue.write { database in
                for (entity, objects) in Dictionary(grouping: objects, by: \.entity).sorted(by: { $0.key < $1.key }) {
                    try write(objects, to: SQLText.name(entity), database)
                }
            }
            try queue.close()
            try partial.commit(replacing: isReplaced)
        }

        private func write(_ objects: [RowSalvage.DeletedObject], to table: String, _ database: Database) throws {
            guard let columns = objects.first?.columns else { return }
            let names = (Self.marks + columns).map(SQLText.name).joined(separator: ", ")
            try database.execute(sql: "CREATE TABLE \(table) (\(names))")
            let marks = Array(repeating: "?", count: Self.marks.count + columns.count).joined(separator: ", ")
            let insertion = try SQLStatement("INSERT INTO \(table) VALUES (\(marks))", in: database)
            defer { insertion.finish() }
            for object in objects {
                let lost = object.row.row.lost.filter(columns.indices.contains).map { columns[$0] }
                var values: [ColumnValue] = [
                    .text(object.row.certainty.rawValue), .text(object.row.place.text(page: object.row.page)),
                    lost.isEmpty ? .null : .text(lost.joined(separator: ", ")),
                ]
                values += object.row.row.values
                // The key is not among the values of a row.
                values[Self.marks.count] = object.row.key.map { .integer($0) } ?? .null
                // A row that is older than a column does not have it.
                values += Array(repeating: .null, count: Self.marks.count + columns.count - values.count)
                for (index, value) in values.enumerated() { insertion.bind(value, at: index + 1) }
                try insertion.run()
            }
        }
    }

#endif
