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
