import Foundation
import GRDB
import SQLiteConnections

// Between two SQLite stores, the tables of the history are copied by SQL.

extension MigratedHistory {
    func copy(from source: SQLiteStore, to destination: SQLiteStore) throws {
        guard let url = source.url else { return }
        let (before, content) = (try source.content().schema, try destination.content())
        try content.connection.writeWithoutTransaction { database in
            try database.execute(sql: "ATTACH ? AS coralsource", arguments: [url.path])
            defer { try? database.execute(sql: "DETACH coralsource") }
            try database.inTransaction(.immediate) {
                try copyTables(database)
                try HistoryMigration(from: before, to: content.schema, mappings.map(\.names))
                    .rewrite(in: database, newKey: newKey)
                return .commit
            }
        }
    }

    private func copyTables(_ database: Database) throws {
        // Tables before indexes. Each text is one statement: the source's schema is not trusted.
        let objects = try database.definitions(
            ofTables: ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"], in: "coralsource")
        for object in objects {
            try database.makeStatement(sql: object.sql).execute()
            guard object.isTable else { continue }
            try database.execute(sql: "INSERT INTO main.\(object.name) SELECT * FROM coralsource.\(object.name)")
        }
        if !objects.isEmpty {
            try database.execute(
                sql: "INSERT INTO main.Z_PRIMARYKEY SELECT * FROM coralsource.Z_PRIMARYKEY "
                    + "WHERE Z_ENT BETWEEN \(HistoryTables.Number.change) AND \(HistoryTables.Number.string)")
        }
    }
}
