import Foundation
import GRDB
import Peers

// usage: grdb-notes FILE PORT

struct GRDBNotes: NoteSource {
    let pool: DatabasePool

    private static func note(_ row: Row) -> NoteValue { NoteValue(key: row[0], title: row[1], text: row[2]) }

    func notes(after key: String, limit: Int) async throws -> [NoteValue] {
        try await pool.read { database in
            try Row.fetchAll(
                try database.cachedStatement(
                    sql: "SELECT key, title, text FROM note WHERE key > ? ORDER BY key LIMIT ?"),
                arguments: [key, limit]
            ).map(Self.note)
        }
    }

    func note(_ key: String) async throws -> NoteValue? {
        try await pool.read { database in
            try Row.fetchOne(
                try database.cachedStatement(sql: "SELECT key, title, text FROM note WHERE key = ?"), arguments: [key]
            ).map(Self.note)
        }
    }

    func put(_ note: NoteValue) async throws {
        try await pool.write { database in
            try database.cachedStatement(
                sql: """
                    INSERT INTO note (key, title, text) VALUES (?, ?, ?)
                    ON CONFLICT (key) DO UPDATE SET title = excluded.title, text = excluded.text
                    """
            ).execute(arguments: [note.key, note.title, note.text])
        }
    }
}

var configuration = Configuration()
configuration.maximumReaderCount = 8
configuration.busyMode = .timeout(10)
configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
let pool = try DatabasePool(path: CommandLine.arguments[1], configuration: configuration)
try await pool.write {
    try $0.execute(
        sql: "CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, key TEXT UNIQUE, title TEXT, text TEXT)")
}
try await serve(GRDBNotes(pool: pool), token: "token", port: Int(CommandLine.arguments[2]) ?? 8080)
