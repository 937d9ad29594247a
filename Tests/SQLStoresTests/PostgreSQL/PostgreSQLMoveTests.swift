#if PostgreSQL
    import CoreDataErrors
    import Foundation
    import PostgreSQLClient
    import Synchronization
    import Testing

    @testable import EngineTesting

    @testable import ContextPools
    @testable import ManagedObjects
    @testable import SQLStores

    /// Stores that are moved while they are used. Without a server the tests are skipped.
    @Suite(.serialized, .enabled(if: TestStores.server != nil, "CORAL_POSTGRESQL names no server."))
    struct PostgreSQLMoveTests {
        fileprivate static func schema(_ url: URL) throws -> String { try PostgreSQLLocation(url).schema }

        /// A store with folders, notes, tags of items, old values and a history.
        fileprivate static func fill(_ stack: TestStack, count: Int = 50) throws {
            let context = stack.context()
            let folders = (0..<5).map { context.insert("Folder", ["name": "folder \($0)"]) }
            let tags = (0..<5).map { context.insert("Tag", ["name": "tag \($0)"]) }
            for number in 0..<count {
                let values: [String: Any] = [
                    "title": "note \(number)", "count": number, "rank": Double(number) / 7, "identifier": UUID(),
                    "blob": Data([0, 1, 255]), "createdAt": Date(timeIntervalSinceReferenceDate: 0.1 * Double(number)),
                ]
                let note = context.insert("Note", values)
                note.setValue(folders[number % 5], forKey: "folder")
                let item = context.insert("Item", ["name": "item \(number)"])
                item.setValue(Set([tags[number % 5], tags[(number + 1) % 5]]), forKey: "tags")
            }
            try context.save()
            for note in try context.all("Note").prefix(10) { note.setValue("changed", forKey: "title") }
            try context.save()
        }

        /// All rows of all tables of a store, as texts.
        fileprivate static func contents(_ url: URL) throws -> [String: [String]] {
            let names = try ServerStores.execute(
                "SELECT string_agg(relname, ' ') FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'",
                at: url)
            var contents: [String: [String]] = [:]
            for name in (names.text(0, 0) ?? "").split(separator: " ").map(String.init) where name != "z_savemark" {
                let rows = try ServerStores.execute("SELECT t::text FROM \"\(name)\" AS t", at: url)
                contents[name] = (0..<rows.rowCount).map { rows.text($0, 0) ?? "" }.sorted()
            }
            return contents
        }

        fileprivate static func objects(_ url: URL) throws -> Int64 {
            try ServerStores.execute(
                "SELECT (SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace) "
                    + "+ (SELECT count(*) FROM pg_proc WHERE pronamespace = current_schema()::regnamespace) "
                    + "+ (SELECT count(*) FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = tgrelid "
                    + "WHERE relnamespace = current_schema()::regnamespace)", at: url
            ).integerOfText
        }

        // MARK: -

        @Test func `a store is moved with its history, old values, views and triggers`() throws {
            let (source, destination) = (try ServerStores.newURL(), try ServerStores.newURL())
            let stack = try ServerStores.stack(source)
            try Self.fill(stack)
            let identifier = try #require(stack.coordinator.persistentStores.first?.identifier)
            let reading = stack.context()
            let uri = try #require(try reading.all("Note").first).objectID.uriRepresentation()
            let token = stack.coordinator.currentPersistentHistoryToken(fromStores: nil)
            let (contents, objects) = (try Self.contents(source), try Self.objects(source))

            let outcome = try StoreMove(from: source, to: destination).run()
            guard case .moved(let rowCount) = outcome else { throw CocoaError(.featureUnsupported) }
            #expect(rowCount > 100)
            #expect(try Self.contents(destination) == contents)
            #expect(try Self.objects(destination) == objects)
            // The marks of saves are asked for at the former place only.
            #expect(try ServerStores.execute("SELECT count(*) FROM Z_SAVEMARK", at: destination).integerOfText == 0)
            let form = try PostgreSQLStore.withConnection(to: destination, .opening) {
                try PostgreSQLForm(ofSchema: $1.location.schema, in: $0)
            }
            let kept = PostgreSQLLocation.url(source, withSchema: "moved_" + (try Self.schema(source)))
            #expect(try Self.contents(try #require(kept)) == contents)
            #expect(form.functions.count > 3)

            // The former place says where the store is, to those who have it open and to those who open it.
            for use in [{ _ = try stack.context().all("Note") }, { _ = try ServerStores.stack(source) }] {
                let error = #expect(throws: CocoaError.self) { try use() }
                #expect(error?.code == .persistentStoreOpen)
                #expect(error?.userInfo[MovedStoreURLErrorKey] as? URL == destination.withoutPassword)
            }

            // At the new place everything continues: identifiers, tokens, triggers.
            let moved = try ServerStores.stack(destination)
            #expect(moved.coordinator.persistentStores.first?.identifier == identifier)
            let context = moved.context()
            let id = try #require(moved.coordinator.managedObjectID(forURIRepresentation: uri))
            #expect(try context.existingObject(with: id).value(forKey: "title") != nil)
            let folder = try #require(try context.all("Folder").first)
            let noteCount = try #require(folder.value(forKey: "noteCount") as? Int)
            context.insert("Note", ["title": "new"]).setValue(folder, forKey: "folder")
            try context.save()
            #expect(folder.value(forKey: "noteCount") as? Int == noteCount + 1)
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            #expect((result?.result as? [NSPersistentHistoryTransaction])?.count == 1)

            // The same move has nothing left to do.
            #expect(try StoreMove(from: source, to: destination).run() == .unchanged)
        }

        @Test func `tables that are emptied and rows whose keys change are followed`() throws {
            let (source, destination) = (try ServerStores.newURL(), try ServerStores.newURL())
            try Self.fill(try ServerStores.stack(source, [:]))
            var move = StoreMove(from: source, to: destination)
            nonisolated(unsafe) var isFirst = true
            // Called first when a part of the rows is copied, in the state from before.
            move.didComplete = { _ in
                guard isFirst else { return }
                isFirst = false
                _ = try? ServerStores.execute(
                    "TRUNCATE ztag; INSERT INTO ztag (z_pk, z_ent, z_opt, zname) SELECT 99, z_ent, 1, 'only' FROM z_primarykey "
                        + "WHERE z_name = 'Tag'; UPDATE znote SET z_pk = z_pk + 1000 WHERE z_pk <= 5; DELETE FROM znote WHERE z_pk > 1003;",
                    at: source)
            }
            move.willSwitch = { _ = try? ServerStores.execute("UPDATE znote SET ztitle = 'last'", at: source) }
            _ = try move.run()
            #expect(!isFirst)
            let contents = try Self.contents(destination)
            #expect(contents["ztag"]?.count == 1 && contents["znote"]?.allSatisfy { $0.contains(",last,") } == true)
            let kept = try #require(PostgreSQLLocation.url(source, withSchema: "moved_" + (try Self.schema(source))))
            #expect(try Self.contents(kept) == contents)
        }

        @Test func `nothing is lost or twice when eight writers write during the move`() throws {
            let (source, destination) = (try ServerStores.newURL(), try ServerStores.newURL())
            let stack = try ServerStores.stack(source)
            try Self.fill(stack, count: 2000)
            let writers = SavingWriters(stack, count: 8)
            #expect(writers.waitForSaves(50))
            // Another program changes, deletes and links rows by SQL, and the history does not say so.
            let others = try PostgreSQLLocation(source)
            let isStopped = Mutex(false)
            let ended = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                defer { ended.signal() }
                guard let connection = try? PostgreSQLConnection(others.server, settings: others.settings) else {
                    return
                }
                defer { connection.close() }
                var number = 0
                while !isStopped.withLock({ $0 }) {
                    number += 1
                    _ = try? connection.execute(
                        script: "UPDATE znote SET ztitle = 'sql \(number)' WHERE z_pk % 97 = \(number % 97); "
                            + "DELETE FROM znote WHERE z_pk = \(number + 20);")
                    guard connection.isOpen else { return }
                }
            }
            let begun = writers.count
            _ = try StoreMove(from: source, to: destination).run()
            #expect(writers.count > begun)
            usleep(200_000)
            let (acknowledged, refused) = writers.stop()
            isStopped.withLock { $0 = true }
            ended.wait()
            #expect(!refused.isEmpty)
            #expect(Set(refused.values) == [.persistentStoreOpen])
            let rows = try ServerStores.execute("SELECT zcount FROM znote WHERE ztitle = 'note'", at: destination)
            let counts = (0..<rows.rowCount).compactMap { rows.text($0, 0).flatMap(Int.init) }
            #expect(Set(counts).count == counts.count)
            #expect(Set(counts).isSubset(of: acknowledged))
            let kept = try #require(PostgreSQLLocation.url(source, withSchema: "moved_" + (try Self.schema(source))))
            #expect(try Self.contents(destination) == Self.contents(kept))
        }
    }

    // MARK: - Interruptions

    extension PostgreSQLMoveTests {
        private static let urlKeys = ["CORAL_POSTGRESQL_MOVED_FROM", "CORAL_POSTGRESQL_MOVED_TO"]
        private static let stepKey = "CORAL_POSTGRESQL_MOVE_STEP"

        /// Whether nothing of a move is left at the source, and nothing at the destination.
        private static func requireUntouched(_ source: URL, _ destination: URL, _ objects: Int64) throws {
            #expect(try Self.objects(source) == objects)
            let schema = try Self.schema(destination)
            let found = try ServerStores.execute(
                "SELECT count(*) FROM pg_namespace WHERE nspname = '\(schema)' OR nspname LIKE 'coral_move_%' AND has_schema_privilege(oid, 'CREATE') "
                    + "AND EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = pg_namespace.oid)", at: source)
            #expect(found.integerOfText == 0)
        }

        @Test func `a move that is cancelled at any time leaves the store where it was`() throws {
            let source = try ServerStores.newURL()
            let stack = try ServerStores.stack(source)
            try Self.fill(stack)
            let (contents, objects) = (try Self.contents(source), try Self.objects(source))
            for count in [1, 2, 3, 5, 8, 13, 20] {
                let destination = try ServerStores.newURL()
                var move = StoreMove(from: source, to: destination)
                nonisolated(unsafe) var calls = 0
                nonisolated(unsafe) var isSwitching = false
                move.willSwitch = { isSwitching = true }
                move.isCancelled = {
                    calls += 1
                    return calls >= count || isSwitching
                }
                let error = #expect(throws: CocoaError.self) { try move.run() }
                #expect(error?.code == .userCancelled)
                try Self.requireUntouched(source, destination, objects)
                #expect(try Self.contents(source) == contents)
            }
            #expect(try stack.context().all("Note").count == 50)
        }

        /// Where a process is killed.
        private enum KilledStep: String, CaseIterable {
            case reserving, copying, indexing, comparing, switching, finishing
        }

        @Test func `a move that was killed begins anew, is given up, or is completed`() async throws {
            defer { for key in Self.urlKeys + [Self.stepKey] { unsetenv(key) } }
            for step in KilledStep.allCases {
                let (source, destination) = (try ServerStores.newURL(), try ServerStores.newURL())
                let former = step == .switching ? try Self.movedAway(from: destination) : nil
                var stack: TestStack? = try ServerStores.stack(source)
                try Self.fill(try #require(stack))
                let (contents, objects) = (try Self.contents(source), try Self.objects(source))
                for (key, url) in zip(Self.urlKeys, [source, destination]) { setenv(key, url.absoluteString, 1) }
                setenv(Self.stepKey, step.rawValue, 1)
                await #expect(processExitsWith: .signal(SIGKILL)) { try PostgreSQLMoveTests.moveUntilKilled() }
                let isNoted = try !ServerStores.execute("SELECT to_regclass('z_movedrow')", at: source).isNull(0, 0)
                #expect(isNoted == ![.reserving, .finishing].contains(step))
                if step == .finishing {
                    // The store is at neither place, and both say so.
                    for url in [source, destination] {
                        #expect(throws: CocoaError.self) { try ServerStores.stack(url) }
                    }
                    #expect(throws: CocoaError.self) { try StoreMove(from: source, to: destination).abandon() }
                    // Another store cannot take the place, and its attempts leave the draft as it is.
                    let other = try ServerStores.newURL()
                    _ = try ServerStores.stack(other)
                    #expect(throws: CocoaError.self) { try StoreMove(from: other, to: destination).run() }
                    try StoreMove(from: other, to: destination).abandon()
                    #expect(try StoreMove(from: source, to: destination).run() == .finished)
                } else {
                    // Nobody creates a store at the place to which it will be moved.
                    #expect(throws: CocoaError.self) { try ServerStores.stack(destination) }
                    // A move of another store, which had ended here before, does not take this one's draft for its own.
                    if let former {
                        #expect(throws: CocoaError.self) { try StoreMove(from: former, to: destination).run() }
                    }
                    // The store is used where it is, and written, although nobody follows.
                    let context = try #require(stack).context()
                    let note = context.insert("Note", ["title": "unfollowed"])
                    try context.save()
                    context.delete(note)
                    try context.save()
                    if step == .comparing {
                        try StoreMove(from: source, to: destination).abandon()
                        try Self.requireUntouched(source, destination, objects)
                    }
                    guard case .moved = try StoreMove(from: source, to: destination).run() else {
                        Issue.record("The store was not moved.")
                        continue
                    }
                }
                stack = nil
                for table in ["zfolder", "znote", "ztag", "zitem"] {
                    #expect(try Self.contents(destination)[table] == contents[table])
                }
                #expect(try Self.objects(destination) == objects)
                #expect(try ServerStores.stack(destination).context().all("Note").count == 50)
                if let former {
                    let error = #expect(throws: CocoaError.self) { try StoreMove(from: former, to: destination).run() }
                    #expect(error?.code == .fileReadNoSuchFile)
                }
            }
        }

        /// The first place of a store that was moved to another, and from there to a third.
        private static func movedAway(from second: URL) throws -> URL {
            let first = try ServerStores.newURL()
            _ = try ServerStores.stack(first)
            _ = try StoreMove(from: first, to: second).run()
            _ = try StoreMove(from: second, to: try ServerStores.newURL()).run()
            return first
        }

        private static func moveUntilKilled() throws {
            let environment = ProcessInfo.processInfo.environment
            let urls = urlKeys.compactMap { environment[$0].flatMap(URL.init(string:)) }
            let step = try #require(environment[stepKey].flatMap(KilledStep.init))
            var move = StoreMove(from: urls[0], to: urls[1])
            func reach(_ reached: KilledStep) { if reached == step { kill(getpid(), SIGKILL) } }
            move.isCancelled = {
                let isReserved =
                    (try? ServerStores.execute("SELECT to_regclass('z_metadata')", at: urls[1]).isNull(0, 0)) == false
                if isReserved { reach(.reserving) }
                return false
            }
            if step != .reserving { move.isCancelled = nil }
            move.willSwitch = { reach(.switching) }
            move.didComplete = { fraction in
                reach(.copying)
                if fraction > 0.7 { reach(.indexing) }
                if fraction > 0.9 { reach(.comparing) }
                if fraction > 0.95 { reach(.finishing) }
            }
            _ = try move.run()
        }

        @Test func `a store is not moved over another, nor twice, and comes back`() throws {
            let (source, destination) = (try ServerStores.newURL(), try ServerStores.newURL())
            try Self.fill(try ServerStores.stack(source))
            let contents = try Self.contents(source)
            _ = try ServerStores.stack(destination)
            #expect(throws: CocoaError.self) { try StoreMove(from: source, to: destination).run() }
            #expect(try Self.contents(source) == contents)
            let free = try ServerStores.newURL()
            _ = try StoreMove(from: source, to: free).run()
            let error = #expect(throws: CocoaError.self) {
                try StoreMove(from: source, to: try ServerStores.newURL()).run()
            }
            #expect(error?.userInfo[MovedStoreURLErrorKey] as? URL == free.withoutPassword)
            #expect(try StoreMove(from: source, to: free).run() == .unchanged)
            // Back to the place that has the mark of the first move.
            _ = try StoreMove(from: free, to: source).run()
            #expect(try Self.contents(source) == contents)
            #expect(throws: CocoaError.self) { try ServerStores.stack(free) }
            // The tables of the first move are in the way of a second one from there.
            let taken = #expect(throws: CocoaError.self) {
                try StoreMove(from: source, to: try ServerStores.newURL()).run()
            }
            #expect(taken?.code == .fileWriteFileExists)
            try ServerStores.execute("DROP SCHEMA \"moved_\(Self.schema(source))\" CASCADE", at: source)
            guard case .moved = try StoreMove(from: source, to: try ServerStores.newURL()).run() else {
                Issue.record("The store was not moved.")
                return
            }
        }

        @Test func `a pool of tenants asks for the new place`() async throws {
            let (source, destination) = (try ServerStores.newURL(), try ServerStores.newURL())
            let place = Mutex(source)
            let pool = TenantPool(managedObjectModel: ServerStores.model(), limit: 2) { _ in
                let description = NSPersistentStoreDescription(url: place.withLock { $0 })
                description.type = TestStores.postgreSQL
                return description
            }
            @Sendable func insert(_ context: NSManagedObjectContext) throws {
                _ = context.insert("Note", ["title": "note"])
                try context.save()
            }
            try await pool.withContext(for: "acme", insert)
            _ = try StoreMove(from: source, to: destination).run()
            await #expect(throws: CocoaError.self) { try await pool.withContext(for: "acme", insert) }
            place.withLock { $0 = destination }
            try await pool.withContext(for: "acme", insert)
            #expect(try await pool.withContext(for: "acme") { try $0.all("Note").count } == 2)
            await pool.shutDown()
        }
    }

    extension PostgreSQLResult {
        /// The number that the first value of a script's result is.
        fileprivate var integerOfText: Int64 { text(0, 0).flatMap { Int64($0) } ?? 0 }
    }
#endif
