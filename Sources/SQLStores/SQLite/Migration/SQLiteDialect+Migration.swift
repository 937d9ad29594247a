import Foundation
import GRDB
import ManagedObjects
import SQLiteConnections

// What SQLite needs for a migration in place.

extension SQLiteDialect: SQLMigrationDialect {
    /// The function that returns the data of a column with a storage byte, from the row or from a file.
    static let externalValueFunction = "CORALEXTERNALVALUE"

    func literal(ofBytes digits: String) -> String { "X'\(digits)'" }
    func literal(ofTextWithNUL digits: String) -> String? { "CAST(X'\(digits)' AS TEXT)" }
    func literal(ofInfinity isNegative: Bool) -> String { isNegative ? "-9e999" : "9e999" }

    func addingStorageByte(to expression: String) -> String { "CAST(X'01' || \(expression) AS BLOB)" }
    func removingStorageByte(from expression: String) -> String { "\(Self.externalValueFunction)(\(expression))" }

    func temporary(_ table: String) -> String { "temp.\(table)" }
    var now: String { "NSCoreDataNow()" }
    var dropsColumns: Bool { false }
}

// Between two SQLite stores, the tables of the history are copied by SQL.

extension MigratedHistory {
    func copy(from source: SQLiteStore, to destination: SQLiteStore) throws {
        guard let url = source.url else { return }
        let (before, content) = (try source.content(), try destination.content())
        try content.connection.writeWithoutTransaction { database in
            try database.execute(sql: "ATTACH ? AS coralsource", arguments: [url.path])
            defer { try? database.execute(sql: "DETACH coralsource") }
            try database.inTransaction(.immediate) {
                try copyTables(database)
                try HistoryMigration(from: before.schema, to: content.schema, entities)
                    .rewrite(in: database) { newKey(before.model.orderedEntities[$0.entity.index], $1) }
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
