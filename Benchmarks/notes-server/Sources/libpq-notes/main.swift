import CLibPQ
import Foundation
import NIOPosix
import Peers
import Synchronization

// usage: libpq-notes URL PORT

/// Eight connections, each with its thread: what a request needs, and nothing more.
final class LibPQNotes: NoteSource {
    private struct Failure: Error { let message: String }

    private let threads = NIOThreadPool(numberOfThreads: 8)
    private let idle: Mutex<[UInt]>

    init(_ url: String) throws {
        var connections: [UInt] = []
        for _ in 0..<8 {
            let connection = PQconnectdb(url)
            guard PQstatus(connection) == CONNECTION_OK else {
                throw Failure(message: String(cString: PQerrorMessage(connection)))
            }
            if connections.isEmpty {
                PQclear(
                    PQexec(
                        connection,
                        """
                        CREATE SCHEMA IF NOT EXISTS raw; CREATE TABLE IF NOT EXISTS raw.note
                        (id bigserial PRIMARY KEY, key text COLLATE "C" UNIQUE, title text, text text)
                        """))
            }
            for (name, sql) in [
                "page": "SELECT key, title, text FROM raw.note WHERE key > $1 ORDER BY key LIMIT $2::bigint",
                "note": "SELECT key, title, text FROM raw.note WHERE key = $1",
                "put": """
                INSERT INTO raw.note (key, title, text) VALUES ($1, $2, $3)
                ON CONFLICT (key) DO UPDATE SET title = excluded.title, text = excluded.text
                """,
            ] {
                let result = PQprepare(connection, name, sql, 0, nil)
                defer { PQclear(result) }
                guard PQresultStatus(result) == PGRES_COMMAND_OK else {
                    throw Failure(message: String(cString: PQerrorMessage(connection)))
                }
            }
            connections.append(UInt(bitPattern: connection))
        }
        idle = Mutex(connections)
        threads.start()
    }

    private func execute(_ name: String, _ values: [String]) async throws -> [NoteValue] {
        try await threads.runIfActive { [self] in
            let address = idle.withLock { $0.removeLast() }
            defer { idle.withLock { $0.append(address) } }
            let connection = OpaquePointer(bitPattern: address)
            let texts = values.map { strdup($0) }
            defer { for text in texts { free(text) } }
            let result = PQexecPrepared(
                connection, name, Int32(values.count), texts.map { UnsafePointer($0) }, nil, nil, 0)
            defer { PQclear(result) }
            guard [PGRES_TUPLES_OK, PGRES_COMMAND_OK].contains(PQresultStatus(result)) else {
                throw Failure(message: String(cString: PQerrorMessage(connection)))
            }
            func text(_ row: Int32, _ column: Int32) -> String { String(cString: PQgetvalue(result, row, column)) }
            return (0..<PQntuples(result)).map { NoteValue(key: text($0, 0), title: text($0, 1), text: text($0, 2)) }
        }
    }

    func notes(after key: String, limit: Int) async throws -> [NoteValue] {
        try await execute("page", [key, "\(limit)"])
    }
    func note(_ key: String) async throws -> NoteValue? { try await execute("note", [key]).first }
    func put(_ note: NoteValue) async throws { _ = try await execute("put", [note.key, note.title, note.text]) }
}

try await serve(try LibPQNotes(CommandLine.arguments[1]), token: "token", port: Int(CommandLine.arguments[2]) ?? 8080)
