import Foundation
import GRDB
import Testing
@testable import EngineTesting
@testable import SQLiteConnections

@testable import ManagedObjects
@testable import SQLStores

/// The pragmas of a store's connections: the defaults, and those of ``NSSQLitePragmasOption``.
struct ConnectionPragmaTests {
    /// The page cache and the synchronisation of a connection.
    private struct Settings: Equatable {
        var cacheSize: Int?
        var synchronous: Int?

        init(_ cacheSize: Int, _ synchronous: Int) { (self.cacheSize, self.synchronous) = (cacheSize, synchronous) }

        init(_ database: Database) throws {
            cacheSize = try Int.fetchOne(database, sql: "PRAGMA cache_size")
            synchronous = try Int.fetchOne(database, sql: "PRAGMA synchronous")
        }
    }

    private let folder: StoreFolder

    init() throws { folder = try StoreFolder() }

    private func open(_ pragmas: [String: Any]) throws -> StoreConnection {
        try StoreConnection(
            url: folder.url, options: SQLiteOptions([NSSQLitePragmasOption: pragmas], isReadOnly: false))
    }

    private static let (full, normal) = (2, 1)

    @Test func `without options the page cache has 16 MB, 8 for readers, and a commit does not wait for the disk`()
        throws
    {
        let connection = try open([:])
        let reader = try connection.read(.lastingStatements) { try Settings($0) }
        #expect(reader.cacheSize == -8_000)
        #expect(try connection.write { try Settings($0) } == Settings(-16_000, Self.normal))
        #expect(try connection.read { try Int.fetchOne($0, sql: "PRAGMA cache_size") } == -16_000)
        try connection.close()
    }

    @Test func `options have precedence in the connections that write and that read`() throws {
        let connection = try open(["cache_size": -4_000, "synchronous": "FULL"])
        #expect(try connection.write { try Settings($0) } == Settings(-4_000, Self.full))
        #expect(try connection.read { try Settings($0) } == Settings(-4_000, Self.full))
        let reader = try connection.read(.lastingStatements) { try Settings($0) }
        #expect(reader == Settings(-4_000, Self.full))
        try connection.close()
    }

    @Test func `with a rollback journal a commit waits for the disk`() throws {
        let connection = try open(["journal_mode": "delete"])
        #expect(try connection.write { try Settings($0) } == Settings(-16_000, Self.full))
        try connection.close()
    }

    @Test func `a store has a log, which keeps what is committed`() throws {
        for number in 1...3 {
            let connection = try open(["synchronous": "FULL"])
            try connection.write { database in
                try database.execute(sql: "CREATE TABLE IF NOT EXISTS t (v); INSERT INTO t VALUES (\(number))")
            }
            // Another program reads the log, as after a power failure.
            let copy = folder.url.appendingPathExtension("copy\(number)")
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: folder.url.path + suffix, toPath: copy.path + suffix)
            }
            let count = try DatabaseQueue(path: copy.path).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
            #expect(count == number)
            try connection.close()
        }
    }
}
