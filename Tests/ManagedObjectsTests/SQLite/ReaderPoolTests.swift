import Foundation
import GRDB
import Synchronization
import Testing

@testable import ManagedObjects

/// The connections that read a store concurrently with the connection that writes.
@Suite struct ReaderPoolTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("readers-\(UUID())")

    private func withConnection(limit: Int = 2, _ body: (ManagedObjects.SQLiteConnection) throws -> Void) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var options = SQLiteOptions()
        options.maximumReaderCount = limit
        let connection = try ManagedObjects.SQLiteConnection(
            url: folder.appendingPathComponent("a.sqlite"), options: options)
        defer { try? connection.close() }
        try connection.write { try $0.execute(sql: "CREATE TABLE t (n); INSERT INTO t VALUES (1)") }
        try body(connection)
    }

    private func count(_ database: Database) throws -> Int? {
        try Int.fetchOne(database, sql: "SELECT count(*) FROM t")
    }

    @Test func `a read within a read uses its connection and state`() throws {
        try withConnection(limit: 1) { connection in
            try connection.readConsistently { outer in
                let outerRows = try count(outer)
                #expect(outerRows == 1)
                try connection.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
                // The pool has one connection, so a second one would never be free.
                try connection.read { inner in
                    #expect(inner === outer)
                    let innerRows = try count(inner)
                    #expect(innerRows == 1)
                }
            }
            let rows = try connection.read { try count($0) }
            #expect(rows == 2)
        }
    }

    @Test func `a read within a write returns what was written`() throws {
        try withConnection { connection in
            try connection.write { database in
                try database.execute(sql: "INSERT INTO t VALUES (2)")
                try connection.read { inner in
                    #expect(inner === database)
                    let innerRows = try count(inner)
                    #expect(innerRows == 2)
                }
            }
        }
    }

    @Test func `connections that were used before read a new table`() throws {
        try withConnection(limit: 1) { connection in
            let isThere = try connection.read { try $0.hasTable("u") }
            #expect(!isThere)
            try connection.write { try $0.execute(sql: "CREATE TABLE u (n)") }
            let isThereNow = try connection.read { try $0.hasTable("u") }
            #expect(isThereNow)
        }
    }

    @Test func `as many tasks read at once as there are connections`() throws {
        try withConnection(limit: 2) { connection in
            let running = Mutex((now: 0, most: 0))
            DispatchQueue.concurrentPerform(iterations: 16) { _ in
                try? connection.read { _ in
                    running.withLock { running in
                        running.now += 1
                        running.most = max(running.most, running.now)
                    }
                    usleep(2000)
                    running.withLock { $0.now -= 1 }
                }
            }
            #expect(running.withLock { $0.now } == 0)
            #expect(running.withLock { (1...2).contains($0.most) })
        }
    }

    @Test func `a failed read leaves a connection that can be used`() throws {
        try withConnection(limit: 1) { connection in
            for _ in 0..<3 {
                #expect(throws: DatabaseError.self) {
                    try connection.readConsistently { try $0.execute(sql: "SELECT nothing FROM t") }
                }
                // The transaction cannot be ended by its owner, and must not be inherited by the next read.
                _ = try connection.read { try $0.execute(sql: "BEGIN") }
                try connection.write { try $0.execute(sql: "INSERT INTO t VALUES (0)") }
            }
            let rows = try connection.read { try count($0) }
            #expect(rows == 4)
        }
    }

    @Test func `a closed connection is an error, and leaves no log`() throws {
        try withConnection { connection in
            _ = try connection.read { try count($0) }
            try connection.close()
            #expect(throws: DatabaseError.self) { try connection.read { try count($0) } }
            #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("a.sqlite-wal").path))
        }
    }
}
