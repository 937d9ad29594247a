#if PostgreSQL
    import Foundation
    import PostgreSQLClient
    import Synchronization
    import Testing

    @testable import EngineTesting

    @testable import ManagedObjects

    /// Servers that crash, and connections that are cut, while several contexts save.
    ///
    /// Servers are started by the tests, because those that other tests use must not be stopped.
    @Suite(
        .serialized,
        .enabled(
            if: TestStores.server != nil && TestServer.programs != nil, "CORAL_POSTGRESQL_PROGRAMS names no programs."))
    struct PostgreSQLFailoverTests {
        private static var options: [AnyHashable: Any] { [NSPersistentHistoryTrackingKey: true] }

        private func stack(_ server: String) throws -> TestStack {
            try TestStack(
                type: TestStores.postgreSQL, url: URL(string: "postgresql://\(TestServer.user)@/postgres?\(server)"),
                options: Self.options)
        }

        @Test func `a server is killed and started again`() throws {
            let server = try TestServer()
            try server.start()
            let stack = try stack("host=\(server.host)&schema=killed")
            let writers = SavingWriters(stack)
            for _ in 0..<4 {
                #expect(writers.waitForSaves(50))
                try server.stop()
                usleep(300_000)
                try server.start()
            }
            #expect(writers.waitForSaves(50))
            #expect(try writers.check(in: stack) >= 250)
        }

        @Test func `keys are reserved when the server runs again`() throws {
            let server = try TestServer()
            try server.start()
            let stack = try stack("host=\(server.host)")
            let context = stack.context()
            _ = context.insert("Note", ["count": 1])
            try context.save()
            try server.stop()
            let ended = DispatchSemaphore(value: 0)
            // Only this test uses the server.
            nonisolated(unsafe) let stopped = server
            Thread.detachNewThread {
                usleep(1_500_000)
                try? stopped.start()
                ended.signal()
            }
            let note = context.insert("Note", ["count": 2])
            try context.obtainPermanentIDs(for: [note])
            try context.save()
            ended.wait()
            #expect(try stack.context().all("Note").count == 2)
            #expect(note.key.number > 1)
        }

        @Test func `a standby is promoted`() throws {
            let primary = try TestServer()
            try primary.start()
            let standby = try TestServer(copying: primary)
            try standby.start()
            try primary.stop()
            // From now on a commit waits until the standby has received it.
            try primary.start(["synchronous_standby_names=*"])
            let stack = try stack(
                "host=\(primary.host),\(standby.host)&target_session_attrs=read-write&schema=moved")
            let writers = SavingWriters(stack)
            #expect(writers.waitForSaves(100))
            try primary.stop()
            try standby.promote()
            #expect(writers.waitForSaves(100))
            #expect(try writers.check(in: stack) >= 200)
        }

        /// A backend that waits for the standby has committed locally, and its client has no answer. The save must not be
        /// acknowledged before the standby has received the commit.
        @Test func `a save whose connection ends while it waits for a standby is acknowledged by the standby`() throws {
            let primary = try TestServer()
            try primary.start()
            let standby = try TestServer(copying: primary)
            let stack = try stack(
                "host=\(primary.host),\(standby.host)&target_session_attrs=read-write&schema=waiting")
            let context = stack.context()
            _ = context.insert("Note", ["count": 0])
            try context.save()
            try primary.stop()
            try primary.start(["synchronous_standby_names=*"])
            let writers = SavingWriters(stack)
            let administrator = try PostgreSQLConnection(
                "postgresql://\(TestServer.user)@/postgres?host=\(primary.host)")
            // No standby runs, so every commit waits once the server has read the setting, which it does after it begins to
            // accept connections. This loop waits for the first waiting commit.
            let waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid <> pg_backend_pid()"
            for _ in 0..<500 {
                usleep(20_000)
                if try administrator.execute("SELECT count(*) \(waiting)").integer(0, 0) > 0 { break }
            }
            usleep(500_000)
            let early = writers.count
            var ended: Int64 = 0
            for _ in 0..<5 {
                usleep(200_000)
                ended += try administrator.execute("SELECT count(pg_terminate_backend(pid)) \(waiting)").integer(0, 0)
            }
            #expect(ended > 0)
            #expect(writers.count == early, "a save was acknowledged that no standby has")
            try standby.start()
            #expect(writers.waitForSaves(20))
            try primary.stop()
            try standby.promote()
            #expect(writers.waitForSaves(20))
            let (acknowledged, _) = writers.stop()
            let reading = stack.context()
            let stored = try reading.all("Note").compactMap { $0.value(forKey: "count") as? Int }
            #expect(Set(acknowledged).subtracting(stored).isEmpty, "an acknowledged save was lost")
            #expect(Set(stored).count == stored.count, "a save was made twice")
        }

        @Test func `connections are cut at any byte`() throws {
            let server = try #require(TestStores.server.flatMap { URLComponents(string: $0) })
            let host = try #require(server.queryItems?.first { $0.name == "host" }?.value)
            let proxy = try SocketProxy(to: host + "/.s.PGSQL.5432")
            let stack = try stack("host=\(proxy.host)&schema=cut_\(UInt32.random(in: 0...99_999_999))")
            let writers = SavingWriters(stack)
            var random = PredicateGenerator.Randomness(state: 1)
            for _ in 0..<60 {
                proxy.cut(after: Int.random(in: 1...4000, using: &random))
                usleep(UInt32.random(in: 1000...40_000, using: &random))
            }
            proxy.cut(after: nil)
            #expect(writers.waitForSaves(20))
            try writers.check(in: stack)
            #expect(proxy.cuts > 20)
        }
    }
#endif
