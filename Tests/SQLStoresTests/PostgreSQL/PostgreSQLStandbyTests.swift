#if PostgreSQL
    import CoreDataErrors
    import Foundation
    import PostgreSQLClient
    import Testing

    @testable import EngineTesting

    @testable import ManagedObjects
    @testable import SQLStores

    /// Contexts that read from a standby. The servers are the tests' own.
    @Suite(
        .serialized,
        .enabled(
            if: TestStores.server != nil && TestServer.programs != nil, "CORAL_POSTGRESQL_PROGRAMS names no programs."))
    struct PostgreSQLStandbyTests {
        private let primary: TestServer
        private let standby: TestServer
        private let stack: TestStack

        init() throws {
            primary = try TestServer()
            try primary.start()
            standby = try TestServer(copying: primary)
            try standby.start(["max_standby_streaming_delay=0"])
            stack = try Self.stack(primary, [standby])
        }

        private static func stack(
            _ primary: TestServer, _ standbys: [TestServer], schema: String = "read",
            options: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
        ) throws -> TestStack {
            let list = standbys.map { $0.host + ":5432" }.joined(separator: ",")
            let url =
                "postgresql://\(TestServer.user)@/postgres?host=\(primary.host)&schema=\(schema)&standby=\(list)"
                // As URLs with several hosts have it.
                + "&target_session_attrs=read-write"
            return try TestStack(type: TestStores.postgreSQL, url: URL(string: url), options: options)
        }

        private func execute(_ script: String, on server: TestServer) throws {
            try PostgreSQLConnection("postgresql://\(TestServer.user)@/postgres?host=\(server.host)")
                .execute(script: script)
        }

        private func titles(_ context: NSManagedObjectContext) throws -> Set<String> {
            Set(try context.all("Note").compactMap { $0.value(forKey: "title") as? String })
        }

        private func save(_ title: String, in context: NSManagedObjectContext) throws {
            _ = context.insert("Note", ["title": title])
            try context.save()
        }

        /// Whether a context is pinned to a state of the standby.
        private func isOnStandby(_ context: NSManagedObjectContext, _ stack: TestStack? = nil) throws -> Bool {
            let store = try #require((stack ?? self.stack).coordinator.persistentStores.first as? PostgreSQLStore)
            let pinned = try #require(context.pinnedGenerations?.generation(of: store) as? PostgreSQLGeneration)
            return try pinned.read { $0.isStandby }
        }

        @Test func `a context reads what was saved before it was pinned`() throws {
            let writing = stack.context()
            let reading = stack.context()
            for number in 0..<30 {
                try save("\(number)", in: writing)
                try reading.setQueryGenerationFrom(.standby(timeout: 30))
                #expect(try isOnStandby(reading))
                #expect(try titles(reading).count == number + 1)
            }
            // The state does not change before the context is pinned again.
            try save("later", in: writing)
            #expect(try titles(reading).count == 30)
            // The context saves to the primary, and reads its save from the standby.
            try save("own", in: reading)
            #expect(try isOnStandby(reading))
            #expect(try titles(reading).isSuperset(of: ["later", "own"]))
        }

        @Test func `states that follow each other have one connection, of the standby and of the primary`() throws {
            try save("first", in: stack.context())
            let store = try #require(stack.coordinator.persistentStores.first as? PostgreSQLStore)
            let context = stack.context()
            func process() throws -> Int32 {
                let pinned = try #require(context.pinnedGenerations?.generation(of: store) as? PostgreSQLGeneration)
                return try pinned.read { $0.process }
            }
            for (generation, server) in [
                (NSQueryGenerationToken.standby(timeout: 30), standby), (NSQueryGenerationToken.current, primary),
            ] {
                var processes: Set<Int32> = []
                for number in 0..<5 {
                    try context.setQueryGenerationFrom(generation)
                    processes.insert(try process())
                    try save("\(number)", in: stack.context())
                    try context.setQueryGenerationFrom(nil)
                }
                #expect(processes.count == 1)
                // A connection that the server has closed is replaced by a new one.
                try execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid IN "
                        + "(\(processes.map(String.init).joined(separator: ", ")))", on: server)
                try context.setQueryGenerationFrom(generation)
                #expect(try !processes.contains(process()))
                #expect(try titles(context).contains("4"))
                #expect(try isOnStandby(context) == (server === standby))
                try context.setQueryGenerationFrom(nil)
            }
            // Of many states at the same time only some leave their connections.
            let contexts = (0..<7).map { _ in stack.context() }
            for context in contexts { try context.setQueryGenerationFrom(.current) }
            for context in contexts { try context.setQueryGenerationFrom(nil) }
            let location = try store.content().location
            let count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND state = 'idle'"
            let observer = try PostgreSQLConnection("postgresql://\(TestServer.user)@/postgres?host=\(primary.host)")
            func idleCount() throws -> Int64 {
                try observer.execute(count, [.text(location.applicationName)]).integer(0, 0)
            }
            let pooled = try store.content().pool.server.idleCount
            for _ in 0..<100 where try idleCount() > Int64(pooled + 4) { usleep(20_000) }
            #expect(try idleCount() <= Int64(pooled + 4))
            try stack.coordinator.remove(store)
            for _ in 0..<100 where try idleCount() > 0 { usleep(20_000) }
            #expect(try idleCount() == 0)
        }

        @Test func `a standby that lags is waited for, or the primary is read`() throws {
            let writing = stack.context()
            try save("first", in: writing)
            let token = stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
            let reading = stack.context()
            try reading.setQueryGenerationFrom(.standby(timeout: 30))
            try reading.setQueryGenerationFrom(nil)
            try execute("SELECT pg_wal_replay_pause()", on: standby)
            try save("second", in: writing)

            try reading.setQueryGenerationFrom(.standby(timeout: 0.05))
            #expect(try !isOnStandby(reading))
            #expect(try titles(reading) == ["first", "second"])

            // The token asks for less.
            try reading.setQueryGenerationFrom(.standby(atLeast: token, timeout: 0))
            #expect(try isOnStandby(reading))
            #expect(try titles(reading) == ["first"])

            let resumed = DispatchSemaphore(value: 0)
            let host = standby.host
            Thread.detachNewThread {
                usleep(300_000)
                _ = try? PostgreSQLConnection("postgresql://\(TestServer.user)@/postgres?host=\(host)")
                    .execute(script: "SELECT pg_wal_replay_resume()")
                resumed.signal()
            }
            try reading.setQueryGenerationFrom(.standby(timeout: 60))
            resumed.wait()
            #expect(try isOnStandby(reading))
            #expect(try titles(reading) == ["first", "second"])
        }

        @Test func `without the primary a token is enough`() throws {
            let writing = stack.context()
            try save("first", in: writing)
            let token = stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
            let reading = stack.context()
            try reading.setQueryGenerationFrom(.standby(atLeast: token, timeout: 30))
            try reading.setQueryGenerationFrom(nil)
            try primary.stop()
            try reading.setQueryGenerationFrom(.standby(atLeast: token))
            #expect(try titles(reading) == ["first"])
            #expect(throws: CocoaError.self) { try save("lost", in: reading) }
        }

        @Test func `standbys that cannot be reached are left out`() throws {
            try standby.stop()
            let context = stack.context()
            try save("first", in: context)
            try context.setQueryGenerationFrom(.standby())
            #expect(try !isOnStandby(context))
            #expect(try titles(context) == ["first"])
            let other = try TestServer(copying: primary)
            try other.start()
            let both = try Self.stack(primary, [standby, other])
            for _ in 0..<5 {
                let reading = both.context()
                try reading.setQueryGenerationFrom(.standby(timeout: 30))
                #expect(try isOnStandby(reading, both))
                #expect(try titles(reading) == ["first"])
            }
        }

        @Test func `of two standbys the one that does not lag is read, without waiting`() throws {
            let other = try TestServer(copying: primary)
            try other.start()
            let both = try Self.stack(primary, [standby, other])
            let writing = both.context()
            try save("first", in: writing)
            let reading = both.context()
            try reading.setQueryGenerationFrom(.standby(timeout: 30))
            try reading.setQueryGenerationFrom(nil)
            try execute("SELECT pg_wal_replay_pause()", on: standby)
            try save("second", in: writing)
            for _ in 0..<5 {
                try reading.setQueryGenerationFrom(.standby(timeout: 60))
                #expect(try isOnStandby(reading, both))
                #expect(try titles(reading) == ["first", "second"])
            }
        }

        @Test func `a server that is no standby any more, and a store without a history, are read from the primary`()
            throws
        {
            let plain = try Self.stack(primary, [standby], schema: "plain", options: [:])
            let context = plain.context()
            try save("first", in: context)
            try context.setQueryGenerationFrom(.standby(timeout: 30))
            #expect(try !isOnStandby(context, plain))
            #expect(try titles(context) == ["first"])
            try standby.promote()
            let reading = stack.context()
            try reading.setQueryGenerationFrom(.standby())
            #expect(try !isOnStandby(reading))
        }

        @Test func `a state that the standby ends is an error, not a mixture`() throws {
            let writing = stack.context()
            for number in 0..<100 { _ = writing.insert("Note", ["title": "\(number)"]) }
            try writing.save()
            let reading = stack.context()
            try reading.setQueryGenerationFrom(.standby(timeout: 30))
            #expect(try titles(reading).count == 100)
            for note in try writing.all("Note") { writing.delete(note) }
            try writing.save()
            // The rows that the pinned state needs are removed.
            try execute("VACUUM", on: primary)
            var failure: (any Error)?
            for _ in 0..<600 where failure == nil {
                usleep(50_000)
                reading.refreshAllObjects()
                do { #expect(try titles(reading).count == 100) } catch { failure = error }
            }
            #expect((failure as? CocoaError)?.code == .persistentStoreTimeout)
            try reading.setQueryGenerationFrom(.standby(timeout: 30))
            #expect(try titles(reading).isEmpty)
        }

        @Test func `the place of a standby is checked`() {
            for place in ["second", "second:port", ":5432"] {
                #expect(throws: CocoaError.self) {
                    try PostgreSQLLocation(try #require(URL(string: "postgresql://host/db?standby=\(place)")))
                }
            }
            let location = try? PostgreSQLLocation(
                URL(string: "postgresql://host/db?standby=a:1,%5B::1%5D:2&schema=s") ?? URL(fileURLWithPath: "/"))
            #expect(location?.standbys.map(\.host) == ["a", "::1"])
            #expect(location?.standbys.map(\.port) == ["1", "2"])
            #expect(location?.server == "postgresql://host/db")
        }
    }
#endif
