import Foundation
import GRDB
import Synchronization
import Testing
@testable import EngineTesting
@testable import SQLiteConnections

@testable import ManagedObjects
@testable import SQLStores
import StoreSupport

/// The connection that writes a store, which also reads as long as no two accesses meet, and those that read concurrently with it.
@Suite struct ReaderPoolTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("readers-\(UUID())")

    private func withConnection(limit: Int = 2, _ body: (StoreConnection) throws -> Void) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var options = SQLiteOptions()
        options.maximumReaderCount = limit
        let connection = try StoreConnection(
            url: folder.appendingPathComponent("a.sqlite"), options: options)
        defer { try? connection.close() }
        try connection.write { try $0.execute(sql: "CREATE TABLE t (n); INSERT INTO t VALUES (1)") }
        try body(connection)
    }

    private func count(_ database: Database) throws -> Int? {
        try Int.fetchOne(database, sql: "SELECT count(*) FROM t")
    }

    private final class Count: Sendable {
        let number = Mutex<Int?>(nil)
    }

    /// Runs a task on threads of its own: those of other tests may all be occupied.
    private final class OwnThreads: TaskExecutor {
        private let queue = DispatchQueue(label: "reader", attributes: .concurrent)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    /// The task outlives the read, whose connection then belongs to another one.
    @Test func `a task that is started in a read has a read of its own`() throws {
        try withConnection { connection in
            let (start, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let found = Count()
            _ = try connection.read(.lastingStatements) { _ in
                Task(executorPreference: OwnThreads()) {
                    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                        DispatchQueue.global().async {
                            start.wait()
                            continuation.resume()
                        }
                    }
                    let rows = try? connection.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
                    found.number.withLock { $0 = rows ?? nil }
                    end.signal()
                }
            }
            try connection.read(.lastingState) { database in
                let before = try count(database)
                #expect(before == 1)
                try connection.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
                start.signal()
                #expect(end.wait(timeout: .now() + 60) == .success)
            }
            #expect(found.number.withLock { $0 } == 2)
        }
    }

    @Test func `a read within a read uses its connection and state`() throws {
        try withConnection(limit: 1) { connection in
            try connection.read(.lastingState) { outer in
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
                    try connection.read(.state) { try $0.execute(sql: "SELECT nothing FROM t") }
                }
                // The transaction cannot be ended by its owner, and must not be inherited by the next read.
                _ = try connection.read { try $0.execute(sql: "BEGIN") }
                try connection.write { try $0.execute(sql: "INSERT INTO t VALUES (0)") }
            }
            let rows = try connection.read { try count($0) }
            #expect(rows == 4)
        }
    }

    /// The connection of reads that are made one after the other.
    private func reader(of connection: StoreConnection) throws -> ObjectIdentifier {
        try connection.read { ObjectIdentifier($0) }
    }

    private func writer(of connection: StoreConnection) throws -> ObjectIdentifier {
        try connection.write { ObjectIdentifier($0) }
    }

    @Test func `one connection reads and writes as long as no two accesses meet`() throws {
        try withConnection { connection in
            for _ in 0..<3 { #expect(try reader(of: connection) == writer(of: connection)) }
            let consistent = try connection.read(.state) { ObjectIdentifier($0) }
            #expect(try consistent == writer(of: connection))
            let beside = try connection.read(.lastingState) { ObjectIdentifier($0) }
            #expect(try beside != writer(of: connection))
            // Accesses within each other do not meet.
            try connection.write { _ in _ = try connection.read { try count($0) } }
            try connection.read { _ in try connection.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") } }
            #expect(try reader(of: connection) == writer(of: connection))
        }
    }

    @Test func `after a read has met another one, reads have connections of their own`() throws {
        try withConnection { connection in
            let first = DispatchSemaphore(value: 0)
            let second = DispatchSemaphore(value: 0)
            let done = DispatchGroup()
            DispatchQueue.global().async(group: done) {
                try? connection.read { _ in
                    first.signal()
                    second.wait()
                }
            }
            first.wait()
            let reader = try reader(of: connection)
            second.signal()
            done.wait()
            #expect(try reader != writer(of: connection))
            #expect(try self.reader(of: connection) != writer(of: connection))
        }
    }

    @Test func `a write waits for the read of its connection once`() throws {
        try withConnection { connection in
            let isReading = DispatchSemaphore(value: 0)
            let done = DispatchGroup()
            let order = Mutex<[String]>([])
            DispatchQueue.global().async(group: done) {
                try? connection.read { database in
                    isReading.signal()
                    usleep(100_000)
                    let rows = try count(database) ?? 0
                    order.withLock { $0.append("read \(rows)") }
                }
            }
            isReading.wait()
            try connection.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
            order.withLock { $0.append("written") }
            done.wait()
            #expect(order.withLock { $0 } == ["read 1", "written"])
            // From now on a write waits for no read.
            let end = DispatchSemaphore(value: 0)
            DispatchQueue.global().async(group: done) {
                try? connection.read(.state) { database in
                    let rows = try count(database)
                    isReading.signal()
                    end.wait()
                    let rowsAfterwards = try count(database)
                    #expect(rows == 2 && rowsAfterwards == 2)
                }
            }
            isReading.wait()
            try connection.write { try $0.execute(sql: "INSERT INTO t VALUES (3)") }
            end.signal()
            done.wait()
        }
    }

    /// The first run reads for seconds unless it is interrupted.
    @Test func `a write interrupts a long read of its connection, which is repeated beside it`() throws {
        try withConnection { connection in
            let isReading = DispatchSemaphore(value: 0)
            let done = DispatchGroup()
            let runs = Mutex(0)
            let last = Count()
            DispatchQueue.global().async(group: done) {
                let number = try? connection.read { database -> Int? in
                    let run = runs.withLock { runs in
                        runs += 1
                        return runs
                    }
                    let rows = try Int.fetchCursor(
                        database,
                        sql: """
                            WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ?) SELECT n FROM c
                            """,
                        arguments: [run == 1 ? 5_000_000 : 10])
                    var last = try rows.next()
                    isReading.signal()
                    while let next = try rows.next() { last = next }
                    return last
                }
                last.number.withLock { $0 = number ?? nil }
            }
            isReading.wait()
            try connection.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
            done.wait()
            #expect(runs.withLock { $0 } == 2)
            #expect(last.number.withLock { $0 } == 10)
            // Writes within a read are not interrupted by others.
            #expect(try connection.read { try count($0) } == 2)
        }
    }

    @Test func `a write within a read is not interrupted`() throws {
        try withConnection { connection in
            let (isWriting, done) = (DispatchSemaphore(value: 0), DispatchGroup())
            DispatchQueue.global().async(group: done) {
                isWriting.wait()
                try? connection.write { try $0.execute(sql: "INSERT INTO t VALUES (0)") }
            }
            try connection.read { _ in
                try connection.write { database in
                    isWriting.signal()
                    try database.execute(
                        sql: """
                            WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 500000)
                            INSERT INTO t SELECT n FROM c
                            """)
                }
            }
            done.wait()
            #expect(try connection.read { try count($0) } == 500_002)
        }
    }

    @Test func `no write waits for a read beside writes`() throws {
        try withConnection { connection in
            try connection.read(.lastingState) { database in
                let rows = try count(database)
                let done = DispatchGroup()
                DispatchQueue.global().async(group: done) {
                    try? connection.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
                }
                done.wait()
                let rowsAfterwards = try count(database)
                #expect(rows == 1 && rowsAfterwards == 1)
            }
            let rows = try connection.read { try count($0) }
            #expect(rows == 2)
        }
    }

    @Test func `no save waits for a fetch that can be cancelled`() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let stack = try TestStack(url: folder.appendingPathComponent("Notes.sqlite"))
        let store = try #require(stack.coordinator.persistentStores.first as? SQLiteStore)
        let writer = try writer(of: store.content().connection)
        for scope in [ReadScope.statements, .state] {
            let reader = try store.reading(nil, scope) { ObjectIdentifier($0) }
            #expect(reader == writer)
            let cancellable = try FetchInterruption.interrupting(when: { false }) {
                try store.reading(nil, scope) { ObjectIdentifier($0) }
            }
            #expect(cancellable != writer)
        }
    }

    @Test func `connections that only read write nothing`() throws {
        try withConnection { connection in
            #expect(throws: DatabaseError.self) {
                try connection.read(.lastingState) { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
            }
            let rows = try connection.read { try count($0) }
            #expect(rows == 1)
        }
    }

    @Test func `reads and writes of many threads agree`() throws {
        try withConnection(limit: 3) { connection in
            let failures = Mutex(0)
            DispatchQueue.concurrentPerform(iterations: 8) { thread in
                for turn in 0..<50 {
                    do {
                        if (thread + turn) % 3 == 0 {
                            try connection.write { database in
                                try database.execute(sql: "INSERT INTO t VALUES (1); INSERT INTO t VALUES (-1)")
                            }
                        } else {
                            // Each write adds two rows whose sum is 0.
                            let isWhole = try connection.read(.state) { database in
                                let sum = try Int.fetchOne(database, sql: "SELECT sum(n) FROM t")
                                return try sum == 1 && (count(database) ?? 0) % 2 == 1
                            }
                            if !isWhole { failures.withLock { $0 += 1 } }
                        }
                    } catch { failures.withLock { $0 += 1 } }
                }
            }
            #expect(failures.withLock { $0 } == 0)
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
