#if PostgreSQL
    import Foundation
    import PostgreSQLClient
    import Synchronization
    import Testing

    import class ManagedObjects.NSPredicate

    @testable import EngineTesting

    @testable import ManagedObjects
    @testable import SQLStores

    /// Lost connections, and the limits of a server.
    @Suite(.serialized, .enabled(if: TestStores.server != nil, "CORAL_POSTGRESQL names no server."))
    struct PostgreSQLFailureTests {
        private let url: URL

        init() throws { url = try #require(TestStores.url(TestStores.postgreSQL)) }

        private func stack(_ options: [AnyHashable: Any]? = nil) throws -> (TestStack, PostgreSQLStore) {
            let stack = try TestStack(type: TestStores.postgreSQL, url: url, options: options)
            return (stack, try #require(stack.coordinator.persistentStores.first as? PostgreSQLStore))
        }

        /// Ends all other connections to the database, as an administrator does, or a broken network.
        private func endConnections(of store: PostgreSQLStore) throws {
            let connection = try PostgreSQLConnection(store.content().location.server)
            try connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database() AND application_name = $1",
                [.text(store.content().location.applicationName)])
        }

        @Test func `readers are not affected by a lost connection`() throws {
            let (stack, store) = try stack()
            let context = stack.context()
            _ = context.insert("Note", ["title": "a"])
            try context.save()
            try endConnections(of: store)
            #expect(try stack.context().all("Note").count == 1)
            try endConnections(of: store)
            let reading = stack.context()
            #expect(try reading.all("Note").first?.value(forKey: "title") as? String == "a")
        }

        @Test func `a save whose connection is lost before it ends is repeated`() throws {
            let (stack, store) = try stack([NSPersistentHistoryTrackingKey: true])
            let context = stack.context()
            let note = context.insert("Note", ["title": "a"])
            try context.save()
            for statement in ["BEGIN", "UPDATE", "INSERT INTO ACHANGE", "NOTIFY"] {
                let count = Mutex(0)
                try store.content().pool.trace { sql in
                    guard sql.contains(statement),
                        count.withLock({
                            $0 += 1; return $0
                        }) == 1
                    else { return }
                    try? endConnections(of: store)
                }
                note.setValue("after \(statement)", forKey: "title")
                try context.save()
                try store.content().pool.trace(nil)
                let reading = stack.context()
                #expect(try reading.all("Note").first?.value(forKey: "title") as? String == "after \(statement)")
            }
            #expect(try store.transactionCount() == 5, "each save is one transaction")
        }

        /// A pooler reports this state when its own connection to the server ends, also during a commit.
        @Test func `a save during which a pooler loses the server is repeated`() throws {
            let (stack, store) = try stack([NSPersistentHistoryTrackingKey: true])
            let location = try store.content().location
            try PostgreSQLConnection(location.server, settings: location.settings).execute(
                script: """
                    CREATE SEQUENCE losses;
                    CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    IF nextval('losses') = 1 THEN
                    RAISE EXCEPTION 'server conn crashed?' USING ERRCODE = '08P01';
                    END IF;
                    RETURN NULL; END $$;
                    CREATE CONSTRAINT TRIGGER lose AFTER INSERT ON ZNOTE DEFERRABLE INITIALLY DEFERRED
                    FOR EACH ROW EXECUTE FUNCTION lose()
                    """)
            let context = stack.context()
            _ = context.insert("Note", ["title": "a"])
            try context.save()
            let reading = stack.context()
            #expect(try reading.all("Note").count == 1)
            #expect(try store.transactionCount() == 1)
        }

        @Test func `a statement that an administrator cancels ends the save, which can be repeated`() throws {
            let (stack, store) = try stack([NSPersistentHistoryTrackingKey: true])
            let context = stack.context()
            let notes = (0..<100).map { context.insert("Note", ["count": $0]) }
            try context.save()
            let location = try store.content().location
            let other = try PostgreSQLConnection(location.server, settings: location.settings)
            defer { other.close() }
            try other.execute(script: "BEGIN; SELECT 1 FROM ZNOTE FOR UPDATE")
            let ended = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                defer { ended.signal() }
                // The update waits for the locked rows, and the history is in the pipeline behind it.
                let end = Date(timeIntervalSinceNow: 30)
                while Date() < end,
                    (try? other.execute(
                        "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'",
                        [.text(location.applicationName)]
                    ).integer(0, 0)) == 0
                { usleep(2000) }
            }
            for note in notes { note.setValue(-1, forKey: "count") }
            #expect(throws: CocoaError.self) { try context.save() }
            ended.wait()
            try other.execute(script: "ROLLBACK")
            #expect(try store.transactionCount() == 1)
            try context.save()
            #expect(try store.transactionCount() == 2)
            let reading = stack.context()
            #expect(try reading.all("Note").allSatisfy { $0.value(forKey: "count") as? Int == -1 })
        }

        @Test(arguments: [SocketProxy.Cut.beforeCommit, .afterCommit])
        func `a commit whose connection is cut is found by its mark and executed once`(cut: SocketProxy.Cut) throws {
            let parts = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false))
            let host = try #require(parts.queryItems?.first { $0.name == "host" }?.value)
            let proxy = try SocketProxy(to: host + "/.s.PGSQL.5432")
            let server = url.absoluteString.replacingOccurrences(
                of: "host=[^&]*", with: "host=" + proxy.host, options: .regularExpression)
            let stack = try TestStack(
                type: TestStores.postgreSQL, url: URL(string: server), options: [NSPersistentHistoryTrackingKey: true])
            let store = try #require(stack.coordinator.persistentStores.first as? PostgreSQLStore)
            let context = stack.context()
            let note = context.insert("Note", ["title": "a", "count": 0])
            try context.save()
            for number in 1...5 {
                note.setValue(number, forKey: "count")
                _ = context.insert("Note", ["title": "new \(number)"])
                proxy.cut(cut)
                try context.save()
            }
            #expect(proxy.cuts == 5)
            #expect(try store.transactionCount() == 6, "each save is one transaction")
            #expect(try stack.context().all("Note").count == 6)
        }

        @Test func `an answer about a commit that is lost too does not make it one`() throws {
            let parts = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false))
            let host = try #require(parts.queryItems?.first { $0.name == "host" }?.value)
            let proxy = try SocketProxy(to: host + "/.s.PGSQL.5432")
            let server = url.absoluteString.replacingOccurrences(
                of: "host=[^&]*", with: "host=" + proxy.host, options: .regularExpression)
            // Large saves are not sent at once.
            for count in [1, 300] {
                let stack = try TestStack(type: TestStores.postgreSQL, url: URL(string: server))
                let context = stack.context()
                for number in 0..<count { _ = context.insert("Note", ["title": "\(count)", "count": number]) }
                let cuts = proxy.cuts
                proxy.cut(.beforeCommit, .afterRefusal)
                try context.save()
                #expect(proxy.cuts == cuts + 2)
                let reading = stack.context()
                let titles = try reading.all("Note").map { $0.value(forKey: "title") as? String }
                #expect(titles.filter { $0 == "\(count)" }.count == count)
            }
        }

        @Test func `a commit that is cut has an unknown outcome if the store was moved before it is asked`() throws {
            let parts = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false))
            let host = try #require(parts.queryItems?.first { $0.name == "host" }?.value)
            let proxy = try SocketProxy(to: host + "/.s.PGSQL.5432")
            let server = url.absoluteString.replacingOccurrences(
                of: "host=[^&]*", with: "host=" + proxy.host, options: .regularExpression)
            let stack = try TestStack(type: TestStores.postgreSQL, url: URL(string: server))
            let context = stack.context()
            var mark = try StoreMetadata(uuid: "", propertyList: nil, url: nil)
            mark.content = [MoveMark.movedKey: "postgresql://other/app"]
            let bytes = try mark.propertyList().map { String(format: "%02x", $0) }.joined()
            // The store is moved in the transaction of the save, so that the next connection finds it so.
            try ServerStores.execute(
                """
                CREATE FUNCTION moving() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN
                UPDATE z_metadata SET z_plist = decode('\(bytes)', 'hex'); RETURN NULL; END $$;
                CREATE TRIGGER moving AFTER INSERT ON znote EXECUTE FUNCTION moving()
                """, at: url)
            _ = context.insert("Note", ["title": "a"])
            proxy.cut(.afterCommit)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(proxy.cuts == 1)
            #expect(error?.code == .persistentStoreSave)
            #expect(error?.localizedDescription.contains("not known whether") == true)
            #expect(try ServerStores.execute("SELECT count(*) FROM znote", at: url).text(0, 0) == "1")
        }

        // MARK: - Locked rows

        /// Saves changes of two notes, the one with the higher key first, while another connection has locked one of them.
        ///
        /// - Parameters:
        ///   - locked: 0 or 1, for the note with the lower or the higher key.
        ///   - whileWaiting: Called when the save waits; the other connection's transaction is then ended.
        /// - Returns: The number of times that the statement was sent that writes the notes.
        private func saveTwoNotes(
            locked: Int, _ whileWaiting: @escaping @Sendable (PostgreSQLConnection, _ keys: [Int64]) throws -> Void
        ) throws -> Int {
            // The other connection must wait for a row before the save looks for a deadlock.
            let stack = try TestStack(
                type: TestStores.postgreSQL,
                url: URL(string: url.absoluteString + "&options=-c%20deadlock_timeout%3D3s"))
            let store = try #require(stack.coordinator.persistentStores.first as? PostgreSQLStore)
            let context = stack.context()
            let notes = (0..<2).map { context.insert("Note", ["count": $0]) }.sorted { $0.key.number > $1.key.number }
            try context.save()
            let keys = notes.map(\.key.number).sorted()
            let location = try store.content().location
            let other = try PostgreSQLConnection(location.server, settings: location.settings)
            try other.execute(
                script:
                    "SET deadlock_timeout TO '1min'; BEGIN; SELECT 1 FROM ZNOTE WHERE Z_PK = \(keys[locked]) FOR UPDATE"
            )
            let updates = Mutex(0)
            try store.content().pool.trace { sql in
                if sql.contains("UPDATE ZNOTE") { updates.withLock { $0 += 1 } }
            }
            let ended = DispatchSemaphore(value: 0)
            let failure = Mutex<(any Error)?>(nil)
            Thread.detachNewThread {
                defer { ended.signal() }
                do {
                    let watching = try PostgreSQLConnection(location.server)
                    let end = Date(timeIntervalSinceNow: 30)
                    while Date() < end,
                        try watching.execute(
                            "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'",
                            [.text(location.applicationName)]
                        ).integer(0, 0) == 0
                    { usleep(2000) }
                    try whileWaiting(other, keys)
                    try other.execute(script: "ROLLBACK")
                } catch { failure.withLock { $0 = error } }
                other.close()
            }
            for (index, note) in notes.enumerated() { note.setValue(10 + index, forKey: "count") }
            try context.save()
            ended.wait()
            if let failure = failure.withLock({ $0 }) { throw failure }
            try store.content().pool.trace(nil)
            let reading = stack.context()
            #expect(try reading.all("Note").compactMap { $0.value(forKey: "count") as? Int }.sorted() == [10, 11])
            return updates.withLock { $0 }
        }

        @Test func `rows are locked in the order of their keys, whatever the order of the changes`() throws {
            let updates = try saveTwoNotes(locked: 0) { other, keys in
                // NOWAIT throws an error if the save has locked this row before it waits for the other one.
                try other.execute(script: "SELECT 1 FROM ZNOTE WHERE Z_PK = \(keys[1]) FOR UPDATE NOWAIT")
            }
            #expect(updates == 1)
        }

        @Test func `a save that the server ends because of a deadlock is repeated`() throws {
            let updates = try saveTwoNotes(locked: 1) { other, keys in
                // The save has locked this row, and its backend is the one that detects the deadlock.
                try other.execute(script: "SELECT 1 FROM ZNOTE WHERE Z_PK = \(keys[0]) FOR UPDATE")
            }
            #expect(updates >= 2)
        }

        // MARK: - Messages

        @Test func `a save reports that its outcome cannot be determined`() throws {
            var error = PostgreSQLError("server closed the connection", isConnectionLost: true)
            error.isOutcomeUnknown = true
            let translated = try #require(PostgreSQLFailure.translated(error, .saving, url: url) as? CocoaError)
            #expect(translated.code == .persistentStoreSave)
            #expect(translated.localizedDescription.contains("not known whether"))
        }

        @Test func `a state that is pinned is not that of later saves`() throws {
            let (stack, store) = try stack()
            let context = stack.context()
            let note = context.insert("Note", ["title": "a"])
            try context.save()
            let pinned = stack.context()
            try pinned.setQueryGenerationFrom(NSQueryGenerationToken.current)
            #expect(try pinned.all("Note").count == 1)
            note.setValue("b", forKey: "title")
            _ = context.insert("Note", ["title": "c"])
            try context.save()
            #expect(try pinned.all("Note").compactMap { $0.value(forKey: "title") as? String } == ["a"])
            try pinned.setQueryGenerationFrom(nil)
            pinned.refreshAllObjects()
            #expect(try pinned.all("Note").count == 2)
            // The server has ended the transaction of a generation.
            try pinned.setQueryGenerationFrom(NSQueryGenerationToken.current)
            _ = try pinned.all("Note")
            try endConnections(of: store)
            let error = #expect(throws: CocoaError.self) { try pinned.all("Note") }
            #expect(error?.code == .persistentStoreTimeout)
        }

        @Test func `a pinned state ends when nothing was read from it for ten minutes`() throws {
            let (stack, store) = try stack()
            let generation = try #require(try store.pinGeneration() as? PostgreSQLGeneration)
            let limit = try generation.read {
                try $0.execute(script: "SHOW idle_in_transaction_session_timeout").text(0, 0)
            }
            #expect(limit == "10min")
            try generation.read { _ = try $0.execute(script: "SET idle_in_transaction_session_timeout TO 200") }
            usleep(800_000)
            let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Note"])
            let error = #expect(throws: CocoaError.self) {
                try store.count(matching: RowQuery(entity: entity), generation: generation)
            }
            #expect(error?.code == .persistentStoreTimeout)
        }

        @Test func `another coordinator is notified of a commit`() throws {
            let (listening, _) = try stack([NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
            let (stack, _) = try stack([NSPersistentHistoryTrackingKey: true])
            let context = stack.context()
            let heard = DispatchSemaphore(value: 0)
            let observer = NotificationCenter.default.addObserver(
                forName: .NSPersistentStoreRemoteChange, object: listening.coordinator, queue: nil
            ) { _ in heard.signal() }
            defer { NotificationCenter.default.removeObserver(observer) }
            var times: [Double] = []
            for number in 0..<100 {
                _ = context.insert("Note", ["count": number])
                try context.save()
                let start = ContinuousClock.now
                #expect(heard.wait(timeout: .now() + 10) == .success)
                times.append(Double(start.duration(to: .now).components.attoseconds) * 1e-15)
            }
            print("heard after at most \(times.max() ?? 0) ms, in the middle \(times.sorted()[50]) ms")
        }

        @Test func `a server that cannot be reached is an error with a sentence`() throws {
            let place = try #require(
                URL(string: "postgresql://user:secret@127.0.0.1:1/none?connect_timeout=2&schema=x"))
            let error = #expect(throws: CocoaError.self) {
                _ = try TestStack(type: TestStores.postgreSQL, url: place)
            }
            #expect(error?.code == .persistentStoreOpen)
            #expect(error?.userInfo.description.contains("secret") == false)
        }
    }
#endif
