import ChildProcesses
import Foundation
import GRDB
import Testing
@testable import EngineTesting
@testable import SQLiteConnections

@testable import ManagedObjects

/// Databases that are written through `LogBufferFileSystem`, compared with databases that SQLite writes itself.
@Suite("Blocks of the log") struct LogBufferTests {
    /// A database in a folder of its own.
    private final class Files {
        private let folder: StoreFolder?
        let url: URL
        let database: DatabaseQueue

        /// - Parameters:
        ///   - usesBlocks: Whether the database is written in blocks, or by SQLite itself.
        ///   - cachePages: A small cache makes SQLite write pages during a transaction.
        init(usesBlocks: Bool = true, cachePages: Int, pageSize: Int = 4096, at url: URL? = nil) throws {
            #expect(LogBufferFileSystem.isRegistered)
            folder = url == nil ? try StoreFolder(name: "Log.sqlite") : nil
            self.url = url ?? folder?.url ?? URL(fileURLWithPath: "/")
            var configuration = Configuration()
            configuration.prepareDatabase { database in
                try database.execute(
                    sql: "PRAGMA page_size = \(pageSize); PRAGMA journal_mode = wal; PRAGMA cache_size = \(cachePages)")
                try database.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            }
            let uri = SQLiteFile(self.url).uri(parameters: "vfs=\(LogBufferFileSystem.name)")
            database = try DatabaseQueue(path: usesBlocks ? uri : self.url.path, configuration: configuration)
        }

        /// What another process would find if this one ended now: the content after recovery of the log.
        func recovered() throws -> [String] {
            let copy = try StoreFolder(name: "Copy.sqlite")
            for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: url.path + suffix) {
                try FileManager.default.copyItem(atPath: url.path + suffix, toPath: copy.url.path + suffix)
            }
            return try DatabaseQueue(path: copy.url.path).read(LogBufferTests.content)
        }

        /// The log without the random numbers of its header, and the checksums that depend on them.
        func log() -> [UInt8] {
            var bytes = Array(FileManager.default.contents(atPath: url.path + "-wal") ?? Data())
            guard bytes.count >= 32 else { return bytes }
            let frameSize = bytes[8..<12].reduce(0) { $0 << 8 | Int($1) } + 24
            bytes.replaceSubrange(16..<32, with: repeatElement(0, count: 16))
            for start in stride(from: 32, through: bytes.count - 24, by: frameSize) {
                bytes.replaceSubrange(start + 8..<start + 24, with: repeatElement(0, count: 16))
            }
            return bytes
        }
    }

    private static func content(_ database: Database) throws -> [String] {
        try String.fetchAll(database, sql: "PRAGMA integrity_check")
            + String.fetchAll(database, sql: "SELECT id || ':' || hex(value) FROM part ORDER BY id")
    }

    private static let schema =
        "CREATE TABLE part (id INTEGER PRIMARY KEY, value BLOB); CREATE INDEX byValue ON part (value)"

    /// A random statement of a transaction.
    private static func statement(_ generator: inout SeededGenerator) -> String {
        let id = Int.random(in: 1...400, using: &generator)
        let size = Int.random(in: 0..<3_000, using: &generator)
        switch Int.random(in: 0..<10, using: &generator) {
        case 0..<5: return "INSERT OR REPLACE INTO part VALUES (\(id), zeroblob(\(size)))"
        case 5..<7: return "UPDATE part SET value = CAST(id || '-\(size)' AS BLOB) WHERE id % 7 = \(id % 7)"
        case 7: return "DELETE FROM part WHERE id BETWEEN \(id) AND \(id + 20)"
        case 8: return "UPDATE part SET value = value || zeroblob(200) WHERE id < \(id)"
        default: return "SELECT sum(length(value)) FROM part"
        }
    }

    @Test(
        "The files are those that SQLite itself writes, whatever happens within transactions and beside them",
        arguments: 0..<12)
    func sameFiles(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let pageSize = [512, 1024, 4096, 65_536][Int(seed % 4)]
        let files = try [true, false].map {
            try Files(usesBlocks: $0, cachePages: [5, 20, 1_000][Int(seed % 3)], pageSize: pageSize)
        }
        // Another connection, as another process has it.
        let others = try files.map { try DatabaseQueue(path: $0.url.path) }
        for database in files.map(\.database) {
            if seed % 5 == 4 {
                try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = full") }
            }
            try database.write { try $0.execute(sql: Self.schema) }
        }
        for step in 0..<40 {
            let statements = (0..<Int.random(in: 1...12, using: &generator)).map { _ in Self.statement(&generator) }
            let rollsBack = Int.random(in: 0..<4, using: &generator) == 0
            let savepoint =
                Bool.random(using: &generator) ? Int.random(in: 0..<statements.count, using: &generator) : nil
            for database in files.map(\.database) {
                try database.writeWithoutTransaction { database in
                    try database.execute(sql: "BEGIN IMMEDIATE")
                    for (index, sql) in statements.enumerated() {
                        if index == savepoint { try database.execute(sql: "SAVEPOINT part") }
                        try database.execute(sql: sql)
                    }
                    if savepoint != nil, step % 2 == 0 { try database.execute(sql: "ROLLBACK TO part; RELEASE part") }
                    try database.execute(sql: rollsBack ? "ROLLBACK" : "COMMIT")
                }
            }
            let expected = try others[1].read(Self.content)
            #expect(try files[0].database.read(Self.content) == expected)
            #expect(try others[0].read(Self.content) == expected)
            if !rollsBack { #expect(files[0].log() == files[1].log()) }
            // SQLite 3.40 does not always recover a commit after a rollback to a savepoint whose pages were in the log.
            #expect(try files[0].recovered() == files[1].recovered())
            // The other connection continues the log, or empties it.
            let sql = Self.statement(&generator)
            let event = Int.random(in: 0..<5, using: &generator)
            for (files, other) in zip(files, others) {
                switch event {
                case 0: try other.write { try $0.execute(sql: sql) }
                case 1: _ = try other.writeWithoutTransaction { try $0.checkpoint(.truncate) }
                case 2: _ = try files.database.writeWithoutTransaction { try $0.checkpoint(.restart) }
                case 3: _ = try other.writeWithoutTransaction { try $0.checkpoint(.passive) }
                default: break
                }
            }
        }
    }

    @Test("The frames of a transaction that is rolled back are never written over those of another connection")
    func rollback() throws {
        let files = try Files(cachePages: 5)
        try files.database.write { try $0.execute(sql: Self.schema) }
        let other = try DatabaseQueue(path: files.url.path)
        try files.database.writeWithoutTransaction { database in
            try database.execute(sql: "BEGIN IMMEDIATE")
            for id in 1...200 { try database.execute(sql: "INSERT INTO part VALUES (\(id), zeroblob(1000))") }
            try database.execute(sql: "ROLLBACK")
        }
        try other.write { database in
            for id in 1...200 { try database.execute(sql: "INSERT INTO part VALUES (\(id), zeroblob(900))") }
        }
        let expected = try other.read(Self.content)
        #expect(expected.count == 201)
        #expect(try files.database.read(Self.content) == expected)
        #expect(try files.recovered() == expected)
    }

    @Test("A transaction writes its pages with a call for each block")
    func calls() throws {
        let files = try Files(cachePages: 10_000)
        try files.database.write { try $0.execute(sql: Self.schema) }
        func writes() throws -> Int {
            let counts = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
            let line = counts.split(separator: "\n").first { $0.hasPrefix("syscw:") }
            return line.flatMap { Int($0.dropFirst("syscw: ".count)) } ?? 0
        }
        let (calls, pages) = try files.database.writeWithoutTransaction { database in
            let before = try writes()
            try database.execute(
                sql: """
                    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 1000)
                    INSERT INTO part SELECT n, zeroblob(3000) FROM number
                    """)
            let after = try writes()
            let size = try FileManager.default.attributesOfItem(atPath: files.url.path + "-wal")[.size] as? Int
            return (after - before, (size ?? 0) / 4120)
        }
        #expect(pages > 1_000)
        #expect(calls < pages / 8, "\(calls) calls for \(pages) pages")
    }

    @Test("A full disk ends the transaction with an error, and loses nothing else", arguments: [5, 40, 1_000])
    func fullDisk(cachePages: Int) throws {
        for kilobytes in stride(from: 500, to: 900, by: 23) {
            guard let mounted = try MountedFolder(kilobytes: kilobytes) else { return }
            let files = try Files(cachePages: cachePages, at: URL(fileURLWithPath: mounted.file("Log.sqlite")))
            try files.database.write { database in
                try database.execute(sql: Self.schema)
                for id in 1...20 { try database.execute(sql: "INSERT INTO part VALUES (\(id), zeroblob(1000))") }
            }
            let before = try files.database.read(Self.content)
            #expect {
                try files.database.writeWithoutTransaction { database in
                    try database.execute(sql: "BEGIN IMMEDIATE")
                    for id in 21...600 { try database.execute(sql: "INSERT INTO part VALUES (\(id), zeroblob(1000))") }
                    // A commit after an error of a statement must not succeed either.
                    try database.execute(sql: "COMMIT")
                }
            } throws: { ($0 as? DatabaseError)?.resultCode.primaryResultCode == .SQLITE_FULL }
            for sql in ["COMMIT", "ROLLBACK"] {
                try? files.database.writeWithoutTransaction { if $0.isInsideTransaction { try $0.execute(sql: sql) } }
            }
            #expect(try files.database.read(Self.content) == before)
            #expect(try files.recovered() == before)
            try files.database.write { try $0.execute(sql: "UPDATE part SET value = zeroblob(1000) WHERE id = 3") }
            #expect(try files.recovered().first == "ok")
        }
    }
}
