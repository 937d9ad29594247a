#if !canImport(Darwin)

    import Foundation
    import GRDB
    import Testing

    /// `coral salvage`, and the repair of missing tables and columns.
    @Suite struct SalvageCommandTests {
        private let store: NotesStore

        init() throws { store = try NotesStore() }

        private func execute(_ sql: String) throws {
            let queue = try DatabaseQueue(path: store.path)
            try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
            try queue.close()
        }

        private func damage(page: (Database) throws -> Int?) throws {
            let queue = try DatabaseQueue(path: store.path)
            let (number, size) = try queue.writeWithoutTransaction { database in
                _ = try Row.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
                return (try page(database) ?? 0, try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0)
            }
            try queue.close()
            let file = try FileHandle(forUpdating: store.url)
            try file.seek(toOffset: UInt64((number - 1) * size))
            try file.write(contentsOf: Data(repeating: 0xFF, count: size))
            try file.close()
        }

        @Test func `a store without damage is salvaged completely`() throws {
            let place = store.file("Rescued.sqlite")
            let before = try store.contents()
            let run = try CommandRun("salvage", store.path, "-o", place)
            #expect(run.status == 0, "\(run.errors)\(run.output)")
            #expect(run.output == "6 objects salvaged (2 Item, 2 Note, 1 Person, 1 Tag), written to \(place).\n")
            #expect(try CommandRun("diff", store.path, place).output == "The two sides are equal.\n")
            var after = try store.contents()
            after["Rescued.sqlite"] = nil
            #expect(after == before)
            #expect(try CommandRun("salvage", store.path, "-o", place).errors.contains("--force"))
        }

        @Test func `rows on a damaged page are lost, and references to them are removed`() throws {
            try damage { try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'ZPERSON'") }
            let place = store.file("Rescued.sqlite")
            let run = try CommandRun("salvage", store.path, "-o", place)
            #expect(run.status == 2, "\(run.errors)\(run.output)")
            #expect(run.output.contains("of ZPERSON is damaged. The lost rows have keys from 1 to 1."))
            #expect(run.output.contains("5 objects salvaged (2 Item, 2 Note, 1 Tag)"))
            #expect(try CommandRun("check", place).status == 0)
            #expect(try !CommandRun("get", place, "Note/p1").output.contains("author"))
            let json = try CommandRun("salvage", store.path, "-o", store.file("B.sqlite"), "--json")
            #expect(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) is [String: Any])
        }

        @Test func `lost transactions of the log are an exit code and a sentence`() throws {
            try execute("PRAGMA wal_checkpoint(TRUNCATE)")
            try Data(repeating: 0xFF, count: 5000).write(to: URL(fileURLWithPath: store.path + "-wal"))
            let run = try CommandRun("salvage", store.path, "-o", store.file("Rescued.sqlite"))
            #expect(run.status == 2, "\(run.errors)\(run.output)")
            let sentence = "The write-ahead log is damaged. The transactions after its damaged part are lost."
            #expect(run.output.hasPrefix("\(sentence)\n6 objects salvaged"), "\(run.output)")
        }

        @Test func `the first page is not needed`() throws {
            let uuid = try CommandRun("info", store.path).output.split(separator: "\n")[1]
            try damage { _ in 1 }
            #expect(try CommandRun("info", store.path).status == 1)
            let place = store.file("Rescued.sqlite")
            // The folder of a store is removed with it.
            let model = try NotesStore()
            let run = try withExtendedLifetime(model) {
                try CommandRun("salvage", store.path, "-o", place, "--model", model.path)
            }
            #expect(run.output.contains("6 objects salvaged"), "\(run.errors)\(run.output)")
            #expect(try CommandRun("info", place).output.contains(uuid))
        }

        @Test func `the model is inferred if its page is damaged`() throws {
            try damage { try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'Z_MODELCACHE'") }
            #expect(try CommandRun("info", store.path).status == 1)
            let place = store.file("Rescued.sqlite")
            let run = try CommandRun("salvage", store.path, "-o", place)
            let counts = "6 objects salvaged (2 Item, 2 Note, 1 Person, 1 Tag)"
            #expect(run.output.contains(counts), "\(run.errors)\(run.output)")
            #expect(run.errors.contains("were inferred from its tables"), "\(run.errors)")
        }

        @Test func `only the objects of an entity are salvaged`() throws {
            let place = store.file("Rescued.sqlite")
            let run = try CommandRun("salvage", store.path, "-o", place, "--entity", "Note", "--entity", "Tag")
            #expect(run.output.contains("(2 Note, 1 Tag)"), "\(run.output)")
            #expect(try CommandRun("check", place).status == 0)
        }

        @Test func `missing columns and tables are added by a repair`() throws {
            try execute("ALTER TABLE ZNOTE DROP COLUMN ZBODY; DROP TABLE ZPERSON")
            let run = try CommandRun("check", store.path)
            #expect(run.status == 2)
            #expect(run.output.contains("The store lacks ZNOTE.ZBODY, which the model requires. (can be repaired)"))
            #expect(run.output.contains("The store lacks ZPERSON, which the model requires. (can be repaired)"))
            let copy = store.file("Copy.sqlite")
            let repaired = try CommandRun("check", store.path, "--repair", copy)
            #expect(repaired.status == 0, "\(repaired.output)\(repaired.errors)")
            #expect(try CommandRun("check", copy).status == 0)
            let changed = try CommandRun(
                "set", copy, "--entity", "Note", "--where", "rank == 0", "body=text", "--yes", "--no-backup")
            #expect(changed.status == 0, "\(changed.errors)")
            #expect(try CommandRun("get", copy, "Note/p1").output.contains("  text"))
        }
    }

#endif
