#if PostgreSQL
    import Foundation
    import PostgreSQLClient
    import Synchronization
    import Testing

    @testable import EngineTesting

    @testable import ManagedObjects
    @testable import SQLStores

    /// The keys of new objects, which a store reserves in blocks.
    @Suite(.serialized, .enabled(if: TestStores.server != nil, "CORAL_POSTGRESQL names no server."))
    struct PostgreSQLKeyTests {
        private let url: URL

        init() throws { url = try #require(TestStores.url(TestStores.postgreSQL)) }

        private func stack() throws -> (TestStack, PostgreSQLStore) {
            let stack = try TestStack(
                type: TestStores.postgreSQL, url: url,
                options: [NSPersistentHistoryTrackingKey: true, ConcurrentHistoryOption: false])
            return (stack, try #require(stack.coordinator.persistentStores.first as? PostgreSQLStore))
        }

        /// Saves one object with a context of its own.
        @discardableResult
        private func save(_ entity: String = "Note", in stack: TestStack) throws -> Int64 {
            let context = stack.context()
            let object = context.insert(entity)
            try context.save()
            return object.key.number
        }

        private func lastKey(_ store: PostgreSQLStore, of entity: String = "Note") throws -> Int64 {
            try store.content().pool.withConnection {
                try $0.execute("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = $1", [.text(entity)]).integer(0, 0)
            }
        }

        /// The number of reservations of a piece of work.
        private func reservations(_ store: PostgreSQLStore, _ work: () throws -> Void) throws -> Int {
            let count = Mutex(0)
            let pool = try store.content().pool
            pool.trace { sql in if sql.contains("INTO Z_PRIMARYKEY") { count.withLock { $0 += 1 } } }
            defer { pool.trace(nil) }
            try work()
            return count.withLock { $0 }
        }

        private func trips(_ store: PostgreSQLStore, _ work: () throws -> Void) throws -> Int {
            let pool = try store.content().pool
            let before = pool.roundTripCount
            try work()
            return pool.roundTripCount - before
        }

        @Test func `127 saves of one object reserve keys seven times, and the first reserves one`() throws {
            let (stack, store) = try stack()
            #expect(try save(in: stack) == 1)
            #expect(try lastKey(store) == 1)
            var keys: [Int64] = [1]
            let count = try reservations(store) {
                for _ in 0..<126 { keys.append(try save(in: stack)) }
            }
            #expect(count == 6)
            #expect(keys == Array(1...127))
            #expect(try lastKey(store) == 127)
            let entries = try reservations(store) { for _ in 0..<10 { try save("Folder", in: stack) } }
            #expect(entries == 4, "each root entity has its own keys")
        }

        @Test func `a save with keys that are left takes a round trip less than one that reserves some`() throws {
            let (stack, store) = try stack()
            for _ in 0..<4 { try save(in: stack) }
            let trips = try (0..<12).map { _ in try self.trips(store) { try save(in: stack) } }
            #expect(trips.min().map { least in trips.count { $0 > least } } == 2, "\(trips)")
        }

        @Test func `a reservation is at most 255 keys larger than asked for, and saves of many objects reserve too`()
            throws
        {
            let (stack, store) = try stack()
            for _ in 0..<2 {
                for _ in 0..<300 { try save(in: stack) }
            }
            let blocks = KeyBlocks()
            var last: Int64 = 0
            for _ in 0..<20 {
                let amount = blocks.amount(for: 1000, ofRoot: 1)
                #expect(amount <= 1255)
                let keys =
                    blocks.take(1000, ofRoot: 1)
                    ?? blocks.take(1000, from: (last + 1)...(last + amount), ofRoot: 1, dropCount: 0)
                #expect(keys.count == 1000)
                last += amount
            }
            let before = try lastKey(store)
            #expect(before <= 600 + 256)
            let context = stack.context()
            let notes = (0..<1000).map { _ in context.insert("Note") }
            try context.save()
            #expect(Set(notes.map(\.key.number)).count == 1000)
            #expect(try stack.context().all("Note").count == 1600)
        }

        @Test func `writers of two coordinators never get the same key`() throws {
            let stacks = try [stack(), stack()]
            let keys = Mutex<[Int64]>([])
            let group = DispatchGroup()
            for writer in 0..<8 {
                group.enter()
                Thread.detachNewThread {
                    defer { group.leave() }
                    for number in 0..<40 {
                        let context = stacks[writer % 2].0.context()
                        let objects = (0...(number % 3)).map { _ in context.insert("Note") }
                        guard (try? context.save()) != nil else { continue }
                        keys.withLock { $0 += objects.map(\.key.number) }
                    }
                }
            }
            group.wait()
            let given = keys.withLock { $0 }
            #expect(given.count == 8 * (40 + 39))
            #expect(Set(given).count == given.count)
            #expect(try stacks[0].0.context().all("Note").count == given.count)
        }

        @Test func `keys of a save that fails are not given out again`() throws {
            let (stack, _) = try stack()
            var keys: Set<Int64> = []
            for _ in 0..<20 {
                keys.insert(try save(in: stack))
                let failing = stack.context()
                let note = failing.insert("Note", ["title": "a\u{0}b"])
                #expect(throws: CocoaError.self) { try failing.save() }
                if !note.key.isTemporary { keys.insert(note.key.number) }
                // In a transaction that is rolled back.
                let both = stack.context()
                let kept = both.insert("Note", ["title": "kept"])
                try both.save()
                #expect(keys.insert(kept.key.number).inserted)
            }
        }

        @Test func `keys are dropped with a lost connection, and when the store is opened again`() throws {
            let (stack, store) = try stack()
            for _ in 0..<9 { try save(in: stack) }
            #expect(try lastKey(store) == 15)
            // As after the promotion of a standby without the last commits, where another has inserted rows.
            let location = try store.content().location
            let other = try PostgreSQLConnection(location.server, settings: location.settings)
            try other.execute(script: "UPDATE Z_PRIMARYKEY SET Z_MAX = 12 WHERE Z_NAME = 'Note'")
            try other.execute(
                script:
                    "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT) SELECT n, Z_ENT, 1 FROM ZNOTE, generate_series(10, 12) AS n WHERE Z_PK = 1"
            )
            try other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = $1",
                [.text(location.applicationName)])
            #expect(try stack.context().all("Note").count == 12, "the connection was found lost by a reader")
            #expect(try save(in: stack) == 13)
            try save(in: stack)
            #expect(try lastKey(store) == 15)
            let (again, _) = try self.stack()
            #expect(try save(in: again) == 16)
        }

        @Test func `keys that another process has used are dropped after the save that fails`() throws {
            let (stack, store) = try stack()
            for _ in 0..<9 { try save(in: stack) }
            let location = try store.content().location
            // The keys 10 to 15 are left.
            try PostgreSQLConnection(location.server, settings: location.settings).execute(
                script: "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT) SELECT 10, Z_ENT, 1 FROM ZNOTE WHERE Z_PK = 1")
            #expect(throws: CocoaError.self) { try save(in: stack) }
            let next = try save(in: stack)
            #expect(next == 16)
        }

        @Test func `an object that is inserted with a key that was reserved does not meet another`() throws {
            let (stack, store) = try stack()
            for _ in 0..<9 { try save(in: stack) }
            let note = try #require(stack.coordinator.managedObjectModel.entitiesByName["Note"])
            let context = stack.context()
            _ = try context.insertObject(of: note, withPrimaryKey: 12, in: store)
            try context.save()
            #expect(try save(in: stack) == 16)
            #expect(try stack.context().all("Note").count == 11)
        }
    }
#endif
