#if PostgreSQL
    import Foundation
    import PostgreSQLClient
    import Synchronization
    import Testing

    @testable import EngineTesting

    @testable import ManagedObjects
    @testable import SQLStores

    /// Histories whose transactions are numbered without waiting for each other.
    @Suite(.serialized, .enabled(if: TestStores.server != nil, "CORAL_POSTGRESQL names no server."))
    struct PostgreSQLConcurrentHistoryTests {
        private let url: URL

        init() throws { url = try #require(TestStores.url(TestStores.postgreSQL)) }

        private func stack(at place: URL? = nil, isConcurrent: Bool = true) throws -> (TestStack, PostgreSQLStore) {
            let stack = try TestStack(
                type: TestStores.postgreSQL, url: place ?? url,
                options: [
                    NSPersistentHistoryTrackingKey: true, ConcurrentHistoryOption: isConcurrent,
                    NSPersistentStoreConnectionPoolMaxSizeKey: 20,
                ])
            return (stack, try #require(stack.coordinator.persistentStores.first as? PostgreSQLStore))
        }

        private func save(_ title: String = "note", in stack: TestStack) throws {
            let context = stack.context()
            _ = context.insert("Note", ["title": title])
            try context.save()
        }

        private func token(_ stack: TestStack) -> NSPersistentHistoryToken? {
            stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
        }

        /// The transactions after a token.
        private func history(
            after token: NSPersistentHistoryToken? = nil, in stack: TestStack
        ) throws -> [NSPersistentHistoryTransaction] {
            let result = try stack.coordinator.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token))
            return try #require(result.result as? [NSPersistentHistoryTransaction])
        }

        /// A transaction that has an ID of the server: one that writes to the store, as each save begins, or another.
        private func openTransaction(_ store: PostgreSQLStore, isWriter: Bool = true) throws -> PostgreSQLConnection {
            let location = try store.content().location
            let connection = try PostgreSQLConnection(location.server, settings: location.settings)
            try connection.execute(
                script: "BEGIN; "
                    + (isWriter
                        ? "INSERT INTO Z_SAVEMARK (Z_MARK) VALUES (gen_random_uuid())" : "SELECT pg_current_xact_id()"))
            return connection
        }

        @Test func `transactions of other stores do not hold the history back`() throws {
            let (stack, store) = try stack()
            let other = try openTransaction(store, isWriter: false)
            for number in 1...5 {
                try save("\(number)", in: stack)
                let start = ContinuousClock.now
                let found = try history(in: stack)
                #expect(found.count == number)
                #expect(token(stack) == found.last?.token)
                #expect(start.duration(to: .now) < .milliseconds(900))
            }
            try stack.coordinator.purgeHistory(.keepingChanges(2))
            #expect(try history(in: stack).count == 2)
            try other.execute(script: "COMMIT")
            #expect(try history(in: stack).count == 2)
        }

        /// In a database of its own, in which no other test has a transaction.
        @Test func `older transactions of other stores are ignored`() throws {
            let server = try #require(TestStores.server)
            let name = "settled_" + UUID().uuidString.prefix(8).lowercased()
            let creator = try PostgreSQLConnection(server)
            defer { creator.close() }
            try creator.execute(script: "CREATE DATABASE \(name) TEMPLATE template0")
            defer { _ = try? creator.execute(script: "DROP DATABASE \(name) WITH (FORCE)") }
            var parts = try #require(URLComponents(string: server))
            parts.path = "/" + name
            let (stack, store) = try stack(at: parts.url)
            try save(in: stack)
            let location = try store.content().location
            let reader = try PostgreSQLConnection(location.server, settings: location.settings)
            func id(_ connection: PostgreSQLConnection) throws -> Int64 {
                try connection.execute("SELECT pg_current_xact_id()::text::bigint").integer(0, 0)
            }
            let other = try openTransaction(store, isWriter: false)
            let writer = try openTransaction(store)
            let ids = (other: try id(other), writer: try id(writer))
            try save(in: stack)
            // The lowest transaction of the database is high enough.
            #expect(try HistoryNumbering.settled(for: ids.other - 1, offset: 0, in: reader) == ids.other)
            #expect(try HistoryNumbering.settled(for: ids.other, offset: 0, in: reader) == ids.writer)
            #expect(try HistoryNumbering.settled(for: ids.writer + 1, offset: 0, in: reader) == ids.writer)
            try writer.execute(script: "COMMIT")
            #expect(try HistoryNumbering.settled(for: ids.writer + 1, offset: 0, in: reader) > ids.writer + 1)
            #expect(try HistoryNumbering.settled(for: ids.other - 1, offset: 0, in: reader) == ids.other)
            try other.execute(script: "COMMIT")
        }

        // MARK: - Followers

        @Test(arguments: [false, true])
        func `two followers of 16 writers see every transaction once, in one order`(hasSlowTransactions: Bool)
            async throws
        {
            let (writing, store) = try stack()
            let (following, _) = try stack()
            let writers = 16
            let saves = 25
            let isWriting = Mutex(true)
            let group = DispatchGroup()
            for writer in 0..<writers {
                group.enter()
                Thread.detachNewThread {
                    defer { group.leave() }
                    let context = writing.context()
                    let note = context.insert("Note", ["title": "\(writer)", "count": 0])
                    for number in 0..<saves {
                        note.setValue(number, forKey: "count")
                        if number % 5 == 4 { _ = context.insert("Item", ["index": writer * saves + number]) }
                        do { try context.save() } catch { Issue.record(error) }
                    }
                }
            }
            let slow = DispatchGroup()
            if hasSlowTransactions {
                slow.enter()
                Thread.detachNewThread {
                    defer { slow.leave() }
                    while isWriting.withLock({ $0 }) {
                        guard let connection = try? openTransaction(store) else { return }
                        usleep(1_500_000)
                        _ = try? connection.execute(script: "COMMIT")
                        connection.close()
                    }
                }
            }
            let polled = Mutex<[Int64]>([])
            let polling = DispatchGroup()
            polling.enter()
            Thread.detachNewThread {
                defer { polling.leave() }
                var last: NSPersistentHistoryToken?
                do {
                    while polled.withLock({ $0.count }) < writers * saves {
                        let found = try history(after: last, in: writing)
                        last = found.last?.token ?? last
                        polled.withLock { $0 += found.map(\.transactionNumber) }
                        usleep(2000)
                    }
                } catch { Issue.record(error) }
            }
            var followed: [Int64] = []
            for try await transaction in HistoryChanges(following.coordinator, after: nil, excluding: nil) {
                followed.append(transaction.transactionNumber)
                if followed.count == writers * saves { break }
            }
            group.wait()
            isWriting.withLock { $0 = false }
            slow.wait()
            polling.wait()
            #expect(followed == followed.sorted())
            #expect(Set(followed).count == writers * saves)
            #expect(polled.withLock { $0 } == followed)
            #expect(try history(in: following).map(\.transactionNumber) == followed)
            let changes = try history(in: following).flatMap { $0.changes ?? [] }
            #expect(Set(changes.map(\.changeID)).count == changes.count)
        }

        @Test func `an overwriting transaction has the higher number, even if it began earlier`() throws {
            let (stack, store) = try stack()
            try save(in: stack)
            let content = try store.content()
            let entity = try content.schema.requireEntity(
                #require(stack.coordinator.managedObjectModel.entitiesByName["Note"]))
            let tables = try #require(content.history)
            try content.writing { connection, _ in
                // The second writer gets its transaction ID first.
                try connection.execute(script: "SELECT pg_current_xact_id()")
                let other = stack.context()
                let note = try #require(try other.all("Note").first)
                note.setValue("first", forKey: "title")
                other.transactionAuthor = "first"
                try other.save()
                try connection.execute(script: "UPDATE ZNOTE SET ZTITLE = 'second'")
                var writer = PostgreSQLHistoryWriter(
                    tables, content: content, connection: connection, author: "second", contextName: nil)
                writer.record { $0.update(entity, key: 1, slots: [entity.storedSlots[0]]) }
                try writer.finish()
            }
            #expect(try history(in: stack).map(\.author) == [nil, "first", "second"])
        }

        // MARK: - Open transactions

        @Test func `a fetch after a save contains it, and waits for other transactions for a second`() async throws {
            let (stack, store) = try stack()
            try save("first", in: stack)
            #expect(try history(in: stack).count == 1)
            let early = token(stack)
            let other = try openTransaction(store)
            try save("second", in: stack)
            let start = ContinuousClock.now
            #expect(try history(in: stack).count == 1)
            #expect(start.duration(to: .now) > .milliseconds(900))
            #expect(token(stack) == early)
            #expect(try history(after: early, in: stack).isEmpty)
            #expect(start.duration(to: .now) < .seconds(2), "only the first read waits")
            let notices = Mutex(0)
            let observation = try store.observeCommits { notices.withLock { $0 += 1 } }
            #expect(try history(after: early, in: stack).isEmpty)
            try await Task.sleep(for: .milliseconds(300))
            #expect(notices.withLock { $0 } == 0)
            try other.execute(script: "COMMIT")
            for _ in 0..<400 where notices.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(10)) }
            #expect(notices.withLock { $0 } > 0, "the end of the other transaction was noticed")
            #expect(try history(after: early, in: stack).count == 1)
            #expect(token(stack) != early)
            withExtendedLifetime(observation) {}
        }

        @Test func `a purge keeps what open transactions may precede, and tokens remain valid`()
            throws
        {
            let (stack, store) = try stack()
            for number in 0..<3 { try save("\(number)", in: stack) }
            let content = try store.content()
            let entity = try content.schema.requireEntity(
                #require(stack.coordinator.managedObjectModel.entitiesByName["Note"]))
            let tables = try #require(content.history)
            let before = try history(in: stack).map(\.token)
            try content.writing { connection, _ in
                try connection.execute(script: "SELECT pg_current_xact_id()")
                try save("later", in: stack)
                try stack.coordinator.purgeHistory(.keepingChanges(0))
                var writer = PostgreSQLHistoryWriter(
                    tables, content: content, connection: connection, author: "slow", contextName: nil)
                writer.record { $0.insert(entity, key: 1000) }
                try writer.finish()
            }
            let left = try history(after: before[2], in: stack)
            #expect(left.count == 2)
            #expect(left.contains { $0.author == "slow" })
            #expect(throws: CocoaError.self) { try history(after: before[1], in: stack) }
            try stack.coordinator.purgeHistory(.beforeToken(left[1].token))
            #expect(
                try history(after: left[0].token, in: stack).map(\.transactionNumber) == [left[1].transactionNumber])
            #expect(throws: CocoaError.self) { try history(after: before[2], in: stack) }
            try stack.coordinator.purgeHistory(.keepingChanges(0))
            #expect(try history(in: stack).isEmpty)
            #expect(try history(after: token(stack), in: stack).isEmpty)
            try save("last", in: stack)
            #expect(try history(after: left[1].token, in: stack).count == 1)
            for _ in 0..<3 { try save(in: stack) }
            try stack.coordinator.deleteHistory(of: [history(in: stack)[2]])
            #expect(try history(after: left[1].token, in: stack).count == 3, "a gap that is not at the beginning")
        }

        // MARK: - Numbering

        @Test func `a store that numbers in turn changes while others save`() throws {
            let (plain, _) = try stack(isConcurrent: false)
            let writers = SavingWriters(plain, count: 4)
            #expect(writers.waitForSaves(40))
            let early = try #require(token(plain))
            let (stack, store) = try stack()
            #expect(try store.content().numbering.isConcurrent)
            #expect(writers.waitForSaves(40))
            let (second, _) = try self.stack(isConcurrent: false)
            try save("by a program without the option", in: second)
            #expect(writers.waitForSaves(5))
            let stored = writers.stop().acknowledged.count + 1
            #expect(try history(in: stack).count == stored)
            #expect(try history(in: plain).map(\.transactionNumber) == history(in: stack).map(\.transactionNumber))
            #expect(try history(after: early, in: second).count <= stored - 40)
            #expect(try history(after: NSPersistentHistoryToken([store.identifier: 0]), in: stack).count == stored)
        }

        @Test func `programs that know only numbers in turn cannot add to the history`() throws {
            let (stack, store) = try stack()
            try save(in: stack)
            let location = try store.content().location
            let older = try PostgreSQLConnection(location.server, settings: location.settings)
            #expect(throws: PostgreSQLError.self) {
                try older.execute(
                    script: """
                        WITH number AS (UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_ENT = 16002 RETURNING Z_MAX AS n)
                        INSERT INTO ATRANSACTION (Z_PK, Z_ENT) SELECT n, 16002 FROM number
                        """)
            }
        }

        @Test func `in another cluster numbers go on after those that were copied`() throws {
            let (stack, store) = try stack()
            for number in 0..<3 { try save("\(number)", in: stack) }
            let location = try store.content().location
            // As in a cluster whose IDs were far higher.
            try PostgreSQLConnection(location.server, settings: location.settings).execute(
                script: """
                    UPDATE ATRANSACTION SET Z_PK = Z_PK + 1000000000; UPDATE ACHANGE SET ZTRANSACTIONID = ZTRANSACTIONID + 1000000000;
                    UPDATE Z_PRIMARYKEY SET Z_SUPER = 7 WHERE Z_ENT = 16004
                    """)
            let copied = try history(in: stack).map(\.transactionNumber)
            #expect(copied.count == 3)
            let last = try #require(token(stack))
            let group = DispatchGroup()
            for _ in 0..<6 {
                group.enter()
                Thread.detachNewThread {
                    defer { group.leave() }
                    do { try save(in: stack) } catch { Issue.record(error) }
                }
            }
            group.wait()
            let added = try history(after: last, in: stack).map(\.transactionNumber)
            #expect(added.count == 6)
            #expect(added.allSatisfy { $0 > copied[2] })
            #expect(try history(in: stack).map(\.transactionNumber) == copied + added)
        }
    }
#endif
