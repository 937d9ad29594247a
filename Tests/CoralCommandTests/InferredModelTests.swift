#if !canImport(Darwin)
    import Coral
    import Foundation
    import GRDB
    import Testing

    /// Stores without a model, whose model is inferred from their tables.
    @Suite struct InferredModelTests {
        private func withoutModel(_ path: String) throws {
            let queue = try DatabaseQueue(path: path)
            try queue.write { try $0.execute(sql: "DROP TABLE Z_MODELCACHE") }
            try queue.close()
        }

        @Test func `objects and relationships of a store without a model are read`() throws {
            let store = try NotesStore()
            try withoutModel(store.path)
            let before = try store.contents()
            let info = try CommandRun("info", store.path)
            #expect(info.status == 0 && info.errors.contains("were inferred from its tables"), "\(info.errors)")
            #expect(info.output.contains("Note") && info.output.contains("Person"))
            let query = try CommandRun(
                "query", store.path, "--entity", "Note", "--columns", "title,author,tags.name", "--csv")
            #expect(query.output.contains("Groceries,1,"), "\(query.output)\(query.errors)")
            // The key of the author also fits other entities, and no entity has a name like it, so it remains a number.
            #expect(try CommandRun("get", store.path, "Note/p1").output.contains("author"))
            #expect(try CommandRun("find", store.path, "groceries").output.hasPrefix("Note/p1  Groceries"))
            let export = try CommandRun("export", store.path)
            #expect(export.status == 0 && export.output.contains("Groceries"), "\(export.errors)")
            let change = try CommandRun(
                "set", store.path, "--entity", "Note", "--where", "TRUEPREDICATE", "title=x", "--yes")
            #expect(change.status == 1 && change.errors.contains("--model"), "\(change.errors)")
            #expect(try store.contents() == before)
        }

        /// The store's metadata, and the names of its tables.
        private func identity(_ path: String) throws -> [String] {
            try DatabaseQueue(path: path).read { database in
                try String.fetchAll(database, sql: "SELECT hex(Z_PLIST) FROM Z_METADATA")
                    + String.fetchAll(database, sql: "SELECT name FROM sqlite_master ORDER BY name")
            }
        }

        @Test func `a store without a model is changed with the inferred one, once that is given`() throws {
            let store = try NotesStore()
            try withoutModel(store.path)
            let (before, source) = (try identity(store.path), store.file("Notes.xcdatamodeld"))
            #expect(try CommandRun("model", "convert", store.path, "-o", source).status == 0)
            let groceries = ["--entity", "Note", "--where", "title == 'Groceries'", "--yes"]
            let given = ["--model", source] + groceries
            // Without it, the command stops before it makes a plan.
            let refused = try CommandRun(["set", store.path, "body=x"] + groceries)
            #expect(refused.status == 1 && refused.errors.contains("coral model convert"), "\(refused.errors)")
            #expect(refused.output.isEmpty)
            #expect(try CommandRun(["set", store.path, "body=x", "--dry-run"] + groceries.dropLast()).status == 0)
            let change = try CommandRun(["set", store.path, "body=x"] + given)
            #expect(change.status == 0 && !change.errors.contains("were inferred"), "\(change.errors)")
            let query = try CommandRun("query", store.path, "--entity", "Note", "--columns", "title,body", "--csv")
            #expect(query.output.contains("Groceries,x"))
            // Without inverses, deletions would leave references to the note.
            for arguments in [
                ["delete", store.path] + given, ["doctor", store.path, "--fix", "files", "--model", source],
            ] {
                let run = try CommandRun(arguments)
                #expect(run.status == 1 && run.errors.contains("states no inverse for"), "\(run.errors)")
            }
            let document = store.file("Notes.json")
            #expect(try CommandRun("export", store.path, "-o", document).status == 0)
            let imported = try CommandRun("import", document, "--into", store.path, "--model", source)
            #expect(imported.status == 1 && imported.errors.contains("states no inverse for"), "\(imported.errors)")
            #expect(try identity(store.path) == before)
        }

        @Test(arguments: ["ZITEM", "ZPERSON", "ZNOTE"])
        func `one damaged table does not keep the others from being read`(table: String) throws {
            let store = try NotesStore()
            try withoutModel(store.path)
            let queue = try DatabaseQueue(path: store.path)
            let (page, size) = try queue.writeWithoutTransaction { database in
                _ = try Row.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
                return (
                    try Int.fetchOne(database, sql: "SELECT rootpage FROM sqlite_master WHERE name = '\(table)'") ?? 0,
                    try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0
                )
            }
            try queue.close()
            let file = try FileHandle(forUpdating: store.url)
            try file.seek(toOffset: UInt64((page - 1) * size))
            try file.write(contentsOf: Data(repeating: 0xFF, count: size))
            try file.close()
            let tags = try CommandRun("query", store.path, "--entity", "Tag", "--columns", "name", "--csv")
            #expect(tags.status == 0 && tags.output.contains("home"), "\(tags.output)\(tags.errors)")
            #expect(tags.errors.contains("follow from the columns alone"))
            let place = store.file("Rescued.sqlite")
            let salvage = try CommandRun("salvage", store.path, "-o", place)
            #expect(salvage.status == 2 && salvage.output.contains("1 Tag"), "\(salvage.output)\(salvage.errors)")
            #expect(salvage.output.contains("of \(table) is damaged."))
        }

        @Test func `versions are not compared with an inferred model`() throws {
            let store = try NotesStore()
            let source = store.file("Notes.xcdatamodeld")
            try withoutModel(store.path)
            #expect(try CommandRun("model", "convert", store.path, "-o", source).status == 0)
            for arguments in [["explain", store.path, "--model", source], ["migrate", store.path, "--to", source]] {
                let run = try CommandRun(arguments)
                #expect(run.status == 1 && run.errors.contains("was inferred from the tables"), "\(run.errors)")
            }
            // A store that contains its model is a store as any other.
            let other = store.file("New.sqlite")
            let document = store.file("Notes.json")
            #expect(try CommandRun("export", store.path, "-o", document).status == 0)
            #expect(try CommandRun("import", document, "--into", other, "--model", source).status == 0)
            #expect(try CommandRun("explain", other, "--model", source).status == 0)
            #expect(try CommandRun("delete", other, "--entity", "Tag", "--where", "TRUEPREDICATE", "--yes").status == 0)
        }

        @Test func `the pages of a store without a model are served`() throws {
            let store = try NotesStore()
            try withoutModel(store.path)
            let server = try RunningServer(store.path)
            for (page, content) in [
                ("", "No problems were found."), ("damage", "No problems were found."), ("model", "Note"),
            ] {
                let answer = try server.get(page)
                #expect(answer.status == 200 && answer.body.contains(content), "\(page) \(answer.body)")
            }
            #expect(try server.end().status == 0)
        }

        @Test func `types follow from columns and values, and hierarchies from the table of entities`() throws {
            let accounts = try AccountsStore()
            try withoutModel(accounts.path)
            let row = try CommandRun(
                "query", accounts.path, "--entity", "Account", "--columns", "objectID,name,createdat,token", "--csv"
            ).output
            #expect(row.contains("Account/p1,") && row.contains("PremiumAccount/p2,"), "\(row)")
            #expect(row.contains(AccountsStore.token.uuidString), "\(row)")
            let source = accounts.file("Accounts.xcdatamodeld")
            let conversion = try CommandRun("model", "convert", accounts.path, "-o", source)
            #expect(conversion.status == 0 && conversion.errors.contains("were inferred"), "\(conversion.errors)")
            let read = try CommandRun("query", accounts.path, "--model", source, "--entity", "Account", "--csv")
            #expect(read.output.contains("PremiumAccount/p2,"), "\(read.errors)")
            let model = try CommandRun("model", "show", accounts.path, "--entity", "TrialAccount")
            #expect(model.status == 0 && model.output.contains("Account"), "\(model.errors)")
        }

        @Test func `names that are not identifiers are not entities`() throws {
            let store = try NotesStore()
            try withoutModel(store.path)
            let queue = try DatabaseQueue(path: store.path)
            try queue.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO Z_PRIMARYKEY VALUES (90, 'Note; DROP TABLE ZNOTE', 0, 0), (91, '', 0, 0), (92, 'A', 93, 0),
                        (93, 'B', 92, 0);
                        ALTER TABLE ZNOTE ADD COLUMN "Z'); --" VARCHAR
                        """)
            }
            try queue.close()
            let run = try CommandRun("query", store.path, "--entity", "Note", "--columns", "title", "--csv")
            #expect(run.status == 0 && run.output.contains("Groceries"), "\(run.errors)")
        }
    }
#endif
