#if PostgreSQL
    import Foundation
    import PostgreSQLClient
    import Synchronization
    import Testing

    @testable import EngineTesting

    @testable import ManagedObjects
    @testable import SQLStores
    @testable import StoreTools

    /// Stores with the tables of earlier versions, which get those of a new store.
    @Suite(.serialized, .enabled(if: TestStores.server != nil, "CORAL_POSTGRESQL names no server."))
    struct PostgreSQLUpgradeTests {
        private static let urlKey = "CORAL_POSTGRESQL_UPGRADED_STORE"
        private static let stepKey = "CORAL_POSTGRESQL_UPGRADED_STEP"

        /// A store with some objects, and the tables of the first version: no free space, a key of the changes by their number with
        /// an index for their transaction, indexes of strings, views that fail for some dates, and no triggers.
        private static func oldStore(objectCount: Int = 20) throws -> URL {
            let url = try ServerStores.newURL()
            let context = try ServerStores.stack(url).context()
            let folder = context.insert("Folder", ["name": "f"])
            for number in 0..<objectCount {
                context.insert("Note", ["title": "n\(number)"]).setValue(folder, forKey: "folder")
            }
            try context.save()
            let tables = ["zfolder", "znote", "zitem", "ztag"].map { "ALTER TABLE \($0) RESET (fillfactor);" }
            let strings = ["author", "bundleid", "contextname", "processid"].map {
                "CREATE INDEX ATRANSACTION_Z\($0)TS_INDEX ON ATRANSACTION (Z\($0)TS);"
            }
            try ServerStores.execute(
                """
                \(tables.joined()) ALTER TABLE zitem SET (fillfactor = 90);
                ALTER TABLE achange DROP CONSTRAINT achange_pkey; ALTER TABLE achange ADD PRIMARY KEY (z_pk);
                ALTER TABLE achange ALTER COLUMN ztransactionid DROP NOT NULL;
                CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID);
                \(strings.joined())
                DO $$ DECLARE name text; BEGIN FOR name IN SELECT proname FROM pg_proc AS p JOIN pg_namespace AS n
                ON n.oid = pronamespace WHERE nspname = current_schema() AND starts_with(proname, 'z_da_')
                LOOP EXECUTE format('DROP FUNCTION %I CASCADE', name); END LOOP; END $$;
                DROP INDEX z_tag_unique_name; CREATE UNIQUE INDEX z_tag_unique_name ON ztag (zname);
                DROP INDEX znote_zfolder_index;
                """, at: url)
            let query = try #require(
                ServerStores.execute("SELECT pg_get_viewdef('\"Note\"'::regclass)", at: url).text(0, 0))
            let former = query.replacingOccurrences(
                of: #"CASE\s+WHEN \(*(?:znote\.)?zcreatedat[^;]*?THEN (to_timestamp\([^\n]*\))\s+ELSE[^\n]*\s+END"#,
                with: "$1",
                options: .regularExpression)
            #expect(former != query)
            try ServerStores.execute("CREATE OR REPLACE VIEW \"Note\" AS \(former)", at: url)
            return url
        }

        /// The schema as the server's own program writes it, without its name.
        private static func dump(_ url: URL) throws -> [String] {
            let location = try PostgreSQLLocation(url)
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: file) }
            let program = try #require(TestServer.programs) + "/pg_dump"
            let line = "'\(program)' -s -n '\(location.schema)' '\(location.server)' > '\(file.path)'"
            #expect(system(line) == 0)
            let text = try String(contentsOf: file, encoding: .utf8)
            return text.replacingOccurrences(of: location.schema, with: "SCHEMA").split(separator: "\n").map(
                String.init
            )
            // Words that are different in each run.
            .filter { !$0.hasPrefix("\\restrict") && !$0.hasPrefix("\\unrestrict") }
        }

        /// A new store with the same model, history and old values.
        private static func freshStore() throws -> URL {
            let url = try ServerStores.newURL()
            _ = try ServerStores.stack(url)
            return url
        }

        private static func requireNewForm(_ url: URL) throws {
            #expect(try StoreUpgrade(url: url).plan().steps.isEmpty)
            let (upgraded, fresh) = try (dump(url), dump(freshStore()))
            // Columns that were added later have another place.
            #expect(upgraded.sorted() == fresh.sorted())
        }

        // MARK: - Forms

        @Test func `a store of the first version gets the catalogue of a new store`() throws {
            let url = try Self.oldStore()
            try ServerStores.execute("DROP TABLE z_savemark", at: url)
            let plan = try StoreUpgrade(url: url).plan()
            #expect(plan.remaining == [])
            let summaries = plan.steps.map(\.summary)
            for part in [
                "z_savemark: create the table", "znote: keep free space in new pages (fillfactor=70)",
                "zitem: keep free space", "achange: exchange the key", "znote: build the index znote_zfolder_index",
                "ztag: exchange the index z_tag_unique_name", "drop the index achange_ztransactionid_index",
                "drop the index atransaction_zauthorts_index", "replace the view Note",
                "functions and triggers of z_da_0_0",
            ] {
                #expect(summaries.contains { $0.contains(part) }, "\(part): \(summaries)")
            }
            // A plan changes nothing.
            #expect(try StoreUpgrade(url: url).plan().steps.map(\.summary) == summaries)
            var fractions: [Double] = []
            var upgrade = StoreUpgrade(url: url)
            upgrade.didComplete = { fractions.append($0) }
            try upgrade.run()
            #expect(fractions == fractions.sorted() && fractions.last == 1)
            try Self.requireNewForm(url)
            let found = try RowCheck(url: url, model: ServerStores.model()).problems(
                in: ServerStores.stack(url).context()
            ) { _, _ in }
            #expect(found.isEmpty)
        }

        @Test func `a new store, a store without history and a store in a file need no step`() throws {
            #expect(try StoreUpgrade(url: Self.freshStore()).plan().steps.isEmpty)
            let url = try ServerStores.newURL()
            _ = try ServerStores.stack(url, [:])
            #expect(try StoreUpgrade(url: url).plan().steps.isEmpty)
            let file = URL(fileURLWithPath: "/nowhere/Notes.sqlite")
            #expect(try StoreUpgrade(url: file).plan().steps.isEmpty)
            #expect(throws: CocoaError.self) { try StoreUpgrade(url: ServerStores.newURL()).plan() }
        }

        @Test func `what others have added or chosen stays`() throws {
            let url = try Self.freshStore()
            try ServerStores.execute(
                """
                ALTER TABLE znote SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);
                ALTER TABLE znote ADD COLUMN remark text; CREATE INDEX mine ON znote (ztitle);
                CREATE VIEW "Titles" AS SELECT title FROM "Note"; ALTER TABLE ztag RENAME CONSTRAINT ztag_pkey TO former_pkey;
                """, at: url)
            #expect(try StoreUpgrade(url: url).plan().steps.map(\.summary) == [])
            try ServerStores.execute("ALTER TABLE ztag ALTER COLUMN z_opt TYPE integer", at: url)
            let plan = try StoreUpgrade(url: url).plan()
            #expect(plan.steps.isEmpty)
            #expect(plan.remaining.count == 1 && plan.remaining[0].contains("ztag.z_opt is integer"))
        }

        @Test func `rows with equal values are named, and the steps before stay`() throws {
            let url = try Self.oldStore()
            try ServerStores.execute(
                "DROP INDEX z_tag_unique_name; INSERT INTO ztag (z_pk, z_ent, z_opt, zname) VALUES (1, 5, 1, 'a'), (2, 5, 1, 'a')",
                at: url)
            let error = #expect(throws: CocoaError.self) { try StoreUpgrade(url: url).run() }
            #expect(error?.localizedDescription.contains("z_tag_unique_name") == true, "\(String(describing: error))")
            try ServerStores.execute("DELETE FROM ztag WHERE z_pk = 2", at: url)
            try StoreUpgrade(url: url).run()
            try Self.requireNewForm(url)
        }

        // MARK: - Others

        /// What the writers and the upgrade tell each other.
        private final class Progress: Sendable {
            let saveCount = Mutex(0)
            let isDone = Mutex(false)
            let failures = Mutex<[String]>([])

            func wait(forSaves count: Int) {
                while saveCount.withLock({ $0 }) < count, failures.withLock({ $0.isEmpty }) { usleep(5000) }
            }
        }

        private static func write(_ progress: Progress, _ url: URL, writer: Int) {
            do {
                let context = try ServerStores.stack(url, [NSPersistentHistoryTrackingKey: true]).context()
                let folder = try #require(try context.all("Folder").first)
                while !progress.isDone.withLock({ $0 }) {
                    let note = context.insert("Note", ["title": "by \(writer)", "createdAt": Date()])
                    // Only one of the writers changes the folder's row.
                    if writer == 0 { note.setValue(folder, forKey: "folder") }
                    try context.save()
                    progress.saveCount.withLock { $0 += 1 }
                }
            } catch {
                progress.failures.withLock { $0.append("\(error)") }
            }
        }

        @Test func `eight writers are not disturbed`() throws {
            let url = try Self.oldStore(objectCount: 2000)
            let progress = Progress()
            let ended = DispatchGroup()
            for writer in 0..<8 {
                ended.enter()
                Thread.detachNewThread {
                    Self.write(progress, url, writer: writer)
                    ended.leave()
                }
            }
            progress.wait(forSaves: 40)
            let before = progress.saveCount.withLock { $0 }
            try StoreUpgrade(url: url).run()
            let after = progress.saveCount.withLock { $0 }
            #expect(after > before)
            // Writers meet the new form, too.
            progress.wait(forSaves: after + 40)
            progress.isDone.withLock { $0 = true }
            ended.wait()
            #expect(progress.failures.withLock { $0 } == [])
            let stack = try ServerStores.stack(url)
            let saved = progress.saveCount.withLock { $0 }
            #expect(try stack.context().all("Note").count == 2000 + saved)
            let store = try #require(stack.coordinator.persistentStores.first as? PostgreSQLStore)
            #expect(try store.transactionCount() == saved + 1)
            try Self.requireNewForm(url)
        }

        @Test func `a table that is in use is waited for, and others go first`() async throws {
            let url = try Self.oldStore()
            let location = try PostgreSQLLocation(url)
            let reader = try PostgreSQLConnection(location.server, settings: location.settings)
            try reader.execute(script: "BEGIN; LOCK TABLE achange IN ACCESS SHARE MODE")
            let isReleased = Mutex(false)
            var upgrade = StoreUpgrade(url: url)
            // A step that waits holds nobody up for long: this transaction begins while the upgrade waits.
            upgrade.willBegin = { summary, _, _ in
                guard summary == "achange: require a value of ztransactionid" else { return }
                Thread.detachNewThread {
                    Thread.sleep(forTimeInterval: 0.5)
                    _ = try? ServerStores.execute("BEGIN; LOCK TABLE achange IN ROW EXCLUSIVE MODE; COMMIT", at: url)
                    _ = try? reader.execute(script: "COMMIT")
                    isReleased.withLock { $0 = true }
                }
            }
            try upgrade.run()
            #expect(isReleased.withLock { $0 })
            try Self.requireNewForm(url)
        }

        // MARK: - Interruptions

        @Test func `an upgrade that is cancelled or killed at any step is resumed`() async throws {
            let count = try StoreUpgrade(url: Self.oldStore()).plan().steps.count
            defer {
                unsetenv(Self.urlKey)
                unsetenv(Self.stepKey)
            }
            for number in 0..<count {
                let url = try Self.oldStore()
                setenv(Self.urlKey, url.absoluteString, 1)
                setenv(Self.stepKey, "\(number)", 1)
                await #expect(processExitsWith: .signal(SIGKILL)) { try PostgreSQLUpgradeTests.upgradeUntilKilled() }
                var upgrade = StoreUpgrade(url: url)
                let left = try upgrade.plan().steps.count
                #expect(left <= count)
                // The second attempt is cancelled before its second step.
                nonisolated(unsafe) var begun = 0
                upgrade.willBegin = { _, index, _ in begun = index }
                upgrade.isCancelled = { begun >= 1 }
                if left > 1 {
                    let error = #expect(throws: CocoaError.self) { try upgrade.run() }
                    #expect(error?.code == .userCancelled)
                }
                try StoreUpgrade(url: url).run()
                try Self.requireNewForm(url)
            }
        }

        /// The work of the process: it is killed while the server executes the step, or waits for others in it.
        private static func upgradeUntilKilled() throws {
            let environment = ProcessInfo.processInfo.environment
            let url = try #require(environment[urlKey].flatMap(URL.init(string:)))
            let last = try #require(environment[stepKey].flatMap { Int($0) })
            var upgrade = StoreUpgrade(url: url)
            let location = try PostgreSQLLocation(url)
            let older = try PostgreSQLConnection(location.server, settings: location.settings)
            nonisolated(unsafe) var begun = -1
            nonisolated(unsafe) var calls = 0
            upgrade.willBegin = { _, index, _ in
                begun = index
                if index > last { kill(getpid(), SIGKILL) }
                // An index is not complete while a transaction lasts that is older.
                if index == last {
                    _ = try? older.execute(script: "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM ztag")
                }
            }
            upgrade.isCancelled = {
                if begun == last { calls += 1 }
                if calls == 20 { kill(getpid(), SIGKILL) }
                return false
            }
            try upgrade.run()
            kill(getpid(), SIGKILL)
        }
    }
#endif
