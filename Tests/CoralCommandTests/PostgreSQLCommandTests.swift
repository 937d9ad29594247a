#if PostgreSQL
    import Coral
    import NotesModel
    import Testing

    /// The server of the tests.
    private enum PostgreSQLServer {
        /// The URL of its database; nil if there is none.
        static let url: String? = ProcessInfo.processInfo.environment["CORAL_POSTGRESQL"]
    }

    /// Commands with the URL of a store in PostgreSQL in place of a path. Without a server the tests are skipped.
    @Suite(.serialized, .enabled(if: PostgreSQLServer.url != nil, "CORAL_POSTGRESQL names no server."))
    struct PostgreSQLCommandTests {
        private let file: NotesStore
        /// The URL of a copy of the store, in a schema of its own.
        private let url: String

        init() throws {
            file = try NotesStore()
            url = try Self.newURL()
        }

        private static func newURL() throws -> String {
            let server = try #require(PostgreSQLServer.url)
            let schema = "command_" + UUID().uuidString.prefix(13).lowercased()
            return server + (server.contains("?") ? "&" : "?") + "schema=" + schema
        }

        private func succeed(_ arguments: String..., input: String? = nil) throws -> String {
            let run = try CommandRun(arguments, input: input.map { Data($0.utf8) })
            #expect(run.status == 0, "\(arguments): \(run.errors)")
            return run.output
        }

        private func failure(_ arguments: String...) throws -> String {
            let run = try CommandRun(arguments)
            #expect(run.status == 1, "\(arguments): \(run.output)")
            return run.errors
        }

        private func copy() throws {
            #expect(try succeed("import", file.path, "--restore", "--into", url) == "6 objects copied\n")
        }

        @Test func `a store is copied to a server and back, and all three are equal`() throws {
            try copy()
            #expect(try succeed("diff", file.path, url) == "The two sides are equal.\n")
            let back = file.file("Back.sqlite")
            #expect(try succeed("import", url, "--restore", "--into", back) == "6 objects copied\n")
            #expect(try succeed("diff", url, back) == "The two sides are equal.\n")
            #expect(try succeed("diff", file.path, back) == "The two sides are equal.\n")
            // The keys and the UUID are the same, so that the documents are, too.
            #expect(try succeed("export", url) == succeed("export", file.path))
            let again = try failure("import", file.path, "--restore", "--into", url)
            #expect(again.contains("there is a store at postgresql://") && again.contains("already."))
        }

        @Test func `a store is shown, queried and exported as one in a file`() throws {
            try copy()
            for arguments in [
                ["query", "--entity", "Note", "--where", "rank > 0", "--columns", "title,tags.name", "--json"],
                ["query"], ["export", "--format", "jsonl"],
                [
                    "export", "--layout", "plain", "--key", "Note=title", "--key", "Item=name", "--key", "Tag=name",
                    "--key", "Person=name",
                ],
                ["export", "--entity", "Note", "--where", #"title == "Groceries""#, "--layout", "nested"],
                ["model", "show"], ["copy", "--entity", "Note", "--dry-run"],
            ] {
                let words = arguments[0] == "model" ? 2 : 1
                let onServer = try CommandRun(arguments.prefix(words) + [url] + arguments.dropFirst(words))
                let inFile = try CommandRun(arguments.prefix(words) + [file.path] + arguments.dropFirst(words))
                #expect(onServer.status == 0, "\(arguments): \(onServer.errors)")
                #expect(onServer.output == inFile.output, "\(arguments)")
            }
            #expect(try succeed("get", url, "Note/p1").contains("Groceries"))
            let info = try succeed("info", url)
            #expect(info.hasPrefix("Store      postgresql://") && info.contains("Objects    6\n"))
            #expect(!info.contains("Journal"))
            #expect(try succeed("find-stores", url).contains("postgresql://"))
            #if !canImport(Darwin)
                #expect(try succeed("verify", url).contains("byte for byte"))
            #endif
            let plain = file.file("Plain.sqlite")
            #expect(try succeed("convert", url, "-o", plain).contains("Each object equals its row."))
            #expect(try succeed("export", url, "--format", "html").contains("Groceries"))
        }

        @Test func `a document is imported into a new and into an existing store`() throws {
            let document = #"{"Note":[{"title":"New"}],"Tag":[{"name":"garden"}]}"#
            #expect(try CommandRun(["import", "-", "--into", url], input: Data(document.utf8)).status == 1)
            _ = try succeed("import", "-", "--into", url, "--model", file.path, input: document)
            #expect(try succeed("query", url) == "Entity  Objects\nNote          1\nTag           1\n")
            // Without a backup nothing is written, unless --no-backup is given.
            let refused = try CommandRun(
                ["import", "-", "--into", url, "--key", "Tag=name"], input: Data(document.utf8))
            #expect(refused.status == 1 && refused.errors.contains("--no-backup"))
            let change = #"{"Tag":[{"name":"garden"},{"name":"home"}]}"#
            _ = try succeed("import", "-", "--into", url, "--key", "Tag=name", "--no-backup", input: change)
            _ = try succeed(
                "set", url, "--entity", "Note", "--where", "TRUEPREDICATE", "title=Changed", "--yes", "--no-backup")
            _ = try succeed("delete", url, "--entity", "Tag", "--where", #"name == "home""#, "--yes", "--no-backup")
            #expect(
                try succeed("query", url, "--entity", "Note", "--columns", "title", "--csv") == "title\r\nChanged\r\n")
            #expect(try succeed("query", url, "--entity", "Tag", "--columns", "name", "--csv") == "name\r\ngarden\r\n")
        }

        @Test func `an import that fails leaves no store`() throws {
            let run = try CommandRun(
                ["import", "-", "--into", url, "--model", file.path],
                input: Data(#"{"Note":[{"$id":"Note/p1","tags":["Tag/p9"]}]}"#.utf8))
            #expect(run.status == 1)
            #expect(try failure("info", url).contains("There is no store at postgresql://"))
        }

        #if !canImport(Darwin)
            @Test func `a restored store has its UUID and keys, and new objects get others`() throws {
                let document = file.file("notes.json")
                _ = try succeed("export", file.path, "-o", document)
                _ = try succeed("import", document, "--restore", "--into", url, "--model", file.path)
                #expect(try succeed("diff", file.path, url) == "The two sides are equal.\n")
                _ = try succeed("import", "-", "--into", url, "--no-backup", input: #"{"Note":[{"title":"Third"}]}"#)
                #expect(try succeed("get", url, "Note/p3").contains("Third"))
            }
        #endif

        @Test func `a part of a store is written to a server, and a part of that to a file`() throws {
            _ = try succeed("subset", file.path, "--entity", "Note", "--where", "rank == 0", "-o", url)
            #expect(
                try succeed("query", url, "--entity", "Note", "--columns", "title", "--csv") == "title\r\nGroceries\r\n"
            )
            let part = file.file("Part.sqlite")
            _ = try succeed("subset", url, "--entity", "Note", "-o", part)
            #expect(
                try succeed("query", part, "--entity", "Note", "--columns", "title", "--csv")
                    == "title\r\nGroceries\r\n")
        }

        #if !canImport(Darwin)
            @Test func `a store is migrated after a rehearsal`() throws {
                try copy()
                let model = try file.bundle([
                    ("Notes 2", { NotesStore.addingEntity(NotesStore.renamingTitle($0)) }),
                    (
                        "Notes 3",
                        {
                            $0.components(separatedBy: "\n").filter { !$0.contains(#"<attribute name="rank""#) }
                                .joined(separator: "\n")
                        }
                    ),
                ])
                let second = "\(model)/Notes 2.xcdatamodel"
                let schemas = try draftSchemas()
                let rehearsed = try CommandRun("migrate", url, "--to", second, "--dry-run")
                #expect(rehearsed.status == 0, "\(rehearsed.errors)")
                #expect(
                    rehearsed.output.contains("inferred") && rehearsed.output.contains("The migration loses nothing"))
                let removing = try CommandRun(
                    "migrate", url, "--to", "\(model)/Notes 3.xcdatamodel", "--dry-run", "--json")
                #expect(removing.status == 2 && removing.output.contains(#""code" : "removedValue""#))
                let statements = try succeed("migrate", url, "--to", second, "--sql")
                #expect(statements.hasPrefix("BEGIN;\n") && statements.contains("RENAME COLUMN ZTITLE TO ZHEADING"))
                #expect(statements.hasSuffix("COMMIT;\n"))
                #expect(try draftSchemas() == schemas)
                // Nothing has been changed.
                #expect(try succeed("diff", file.path, url) == "The two sides are equal.\n")
                #expect(try failure("migrate", url, "--to", second).contains("--no-backup"))
                #expect(try succeed("migrate", url, "--to", second, "--no-backup").contains("Migrated 6 objects"))
                #expect(try succeed("migrate", file.path, "--to", second, "--no-backup").contains("Migrated 6 objects"))
                #expect(try succeed("diff", file.path, url) == "The two sides are equal.\n")
                #expect(
                    try succeed("query", url, "--entity", "Note", "--columns", "heading", "--csv").contains("Groceries")
                )
            }

            /// The schemas of drafts and of copies.
            private func draftSchemas() throws -> Int {
                let folder = file.file("schemas")
                let line =
                    "psql -XAtc \"SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'coral\\_copy%'\" "
                    + "'\(try #require(PostgreSQLServer.url))' > '\(folder)' 2> /dev/null || true"
                _ = try CommandRun(shell: line)
                return Int(
                    (try? String(contentsOfFile: folder, encoding: .utf8))?.trimmingCharacters(
                        in: .whitespacesAndNewlines)
                        ?? "") ?? 0
            }
        #endif

        #if !canImport(Darwin)
            /// Executes statements with psql, and returns what the last one returns.
            private func execute(_ script: String) throws -> String {
                let output = file.file("output")
                let text = file.file("script.sql")
                try script.write(toFile: text, atomically: true, encoding: .utf8)
                let schema = try #require(URLComponents(string: url)?.queryItems?.first { $0.name == "schema" }?.value)
                let line =
                    "PGOPTIONS='-c search_path=\(schema) -c client_min_messages=warning' psql -XAtq -v ON_ERROR_STOP=1 -f '\(text)' "
                    + "'\(try #require(PostgreSQLServer.url))' > '\(output)' 2>&1"
                let run = try CommandRun(shell: line)
                let result = try String(contentsOfFile: output, encoding: .utf8)
                #expect(run.status == 0, "\(result)")
                return result.trimmingCharacters(in: .whitespacesAndNewlines)
            }

            @Test func `a store is checked, and repaired in a copy`() throws {
                try copy()
                #expect(try succeed("check", url).hasPrefix("No problems were found in postgresql://"))
                _ = try execute(
                    "UPDATE ZITEM SET ZNOTE = 99 WHERE Z_PK = 2; UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Note';"
                )
                let found = try CommandRun("check", url, "--json")
                #expect(found.status == 2, "\(found.errors)")
                for code in ["danglingReference", "keyBeyondMaximum"] {
                    #expect(found.output.contains(#""code" : "\#(code)""#))
                }
                let repaired = url + "_repaired"
                #expect(try succeed("check", url, "--repair", repaired).hasSuffix("It has no problems.\n"))
                #expect(try succeed("check", repaired).hasPrefix("No problems were found"))
                // The store itself is unchanged.
                #expect(try CommandRun("check", url).status == 2)
                #expect(try failure("check", url, "--repair", repaired).contains("already"))
                #expect(try failure("check", url, "--repair", file.file("New.sqlite")).contains("another schema"))
                #expect(try failure("check", url, "--repair", url).contains("not the store itself"))
                _ = try execute("DROP VIEW \"Tag\"; ALTER TABLE ZTAG ALTER COLUMN ZNAME TYPE bytea USING NULL;")
                let damaged = try CommandRun("check", url)
                #expect(damaged.status == 2 && damaged.output.contains("ZTAG.ZNAME has the type bytea"))
            }

            @Test func `views are written for the server's own program`() throws {
                try copy()
                let views = try succeed("views", url)
                #expect(views.contains("CREATE TEMP VIEW \"Note.tags\""))
                let titles = try execute(views + "SELECT string_agg(title, '|' ORDER BY key) FROM \"Note\";")
                #expect(titles == "Groceries|Garden, \"big\"")
                let authors = try execute(
                    views
                        + "SELECT count(\"author.name\") || ' ' || (SELECT count(*) FROM \"Note.tags\") FROM \"Note\";")
                #expect(authors == "1 2")
            }

            @Test(arguments: ["NaN", "Infinity", "-Infinity", "1e300", "9223339708800", "-211845110401"])
            func `a date that the server does not have is NULL in a view`(_ date: String) throws {
                try copy()
                _ = try execute(
                    "UPDATE ZNOTE SET ZCREATEDAT = 0 WHERE Z_PK = 2; "
                        + "UPDATE ZNOTE SET ZCREATEDAT = '\(date)'::float8 WHERE Z_PK = 1;")
                let dates = try execute(
                    try succeed("views", url)
                        + "SELECT string_agg(coalesce(extract(year FROM \"createdAt\" AT TIME ZONE 'UTC')::text, 'none'),"
                        + " ' ' ORDER BY key) FROM \"Note\";")
                #expect(dates == "none 2001")
            }

            @Test func `a store is migrated with repairs, in place and to another place, and keeps its history`() throws
            {
                try copy()
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: .notes())
                let store = try coordinator.addPersistentStore(
                    ofType: "PostgreSQL", configurationName: nil, at: URL(string: url),
                    options: [NSPersistentHistoryTrackingKey: true])
                let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                context.persistentStoreCoordinator = coordinator
                context.transactionAuthor = "Ada"
                try context.performAndWait {
                    let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
                    tag.setValue("new", forKey: "name")
                    try context.save()
                }
                try coordinator.remove(store)
                // The rank is a text.
                let model = try file.bundle([
                    (
                        "Notes 2",
                        {
                            $0.components(separatedBy: "\n").map { line in
                                guard line.contains(#"<attribute name="rank""#) else { return line }
                                return #"<attribute name="rank" optional="YES" attributeType="String"/>"#
                            }.joined(separator: "\n")
                        }
                    )
                ])
                let second = "\(model)/Notes 2.xcdatamodel"
                let arguments = ["--to", second, "--convert", "Note.rank"]
                let output = url + "_migrated"
                let rehearsed = try CommandRun(["migrate", url] + arguments + ["--dry-run"])
                #expect(rehearsed.status != 1, "\(rehearsed.errors)")
                let copied = try CommandRun(["migrate", url] + arguments + ["-o", output])
                #expect(copied.status == 0, "\(copied.errors)\(copied.output)")
                let inFile = file.file("Migrated.sqlite")
                #expect(try CommandRun(["migrate", url] + arguments + ["-o", inFile]).status == 0)
                #expect(try succeed("diff", output, inFile) == "The two sides are equal.\n")
                let replaced = try CommandRun(["migrate", url] + arguments + ["--no-backup"])
                #expect(replaced.status == 0, "\(replaced.errors)\(replaced.output)")
                #expect(try succeed("diff", url, output) == "The two sides are equal.\n")
                for place in [url, output] {
                    #expect(try succeed("history", place).contains("Ada"))
                    #expect(try succeed("check", place).hasPrefix("No problems"))
                }
                #expect(try draftSchemas() == 0)
            }
        #endif

        @Test func `options that concern files are refused with a reason`() throws {
            try copy()
            let document = file.file("notes.json")
            _ = try succeed("export", file.path, "-o", document)
            #if !canImport(Darwin)
                #expect(try failure("salvage", url, "-o", file.file("Rescued.sqlite")).contains("server's backups"))
                #expect(try failure("views", url, "--into", url + "2").contains("has views with the names"))
            #endif
            for (arguments, reason) in [
                (["info", url, "--proof"], "--proof compares the files"),
                (["history", "purge", url, "--keep", "0", "--vacuum"], "--vacuum concerns files"),
                (["convert", file.path, "-o", url], "is a file, and not a store"),
                (["export", file.path, "-o", url], "is a file, and not a store"),
                (
                    ["import", document, "--into", url + "2", "--like", file.path],
                    "--like requires a new store in a file"
                ),
            ] {
                let run = try CommandRun(arguments)
                #expect(run.status == 1 && run.errors.contains(reason), "\(arguments): \(run.errors)")
                #expect(run.errors.split(separator: "\n").count == 1)
            }
        }

        @Test func `the password of a URL is in no output`() throws {
            try copy()
            // The server trusts the user and ignores the password.
            let secret = url + "&password=s3cr%65t"
            let outputs = [
                ["info", secret], ["info", secret, "--json"], ["query", secret + "missing"],
                ["get", secret, "Note/p99"],
                ["history", secret], ["model", "diff", secret], ["verify", secret], ["find-stores", secret],
                ["check", secret],
                ["export", secret, secret], ["import", secret, "--into", file.path], ["diff", secret, "None.json"],
                ["set", secret, "--entity", "Note", "--where", "TRUEPREDICATE", "title=x", "--yes"],
                ["info", secret + "&sslmode=%zz"], ["info", "postgresql://ada:s3cret@h:1,i:2/db"],
                ["info", "--model=" + secret, secret], ["import", secret, "--restore", "--into", url],
            ]
            for arguments in outputs {
                let run = try CommandRun(arguments)
                for text in [run.output, run.errors] {
                    #expect(!text.contains("s3cret") && !text.contains("s3cr%65t"), "\(arguments): \(text)")
                }
            }
            // libpq's own errors contain the URL.
            #expect(try failure("info", "postgresql://ada:s3cret@127.0.0.1:1/db").contains("cannot be reached"))
        }

        @Test func `the history of a store is shown, compared and purged`() throws {
            try copy()
            #expect(try failure("history", url).contains("keeps no history"))
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: .notes())
            let store = try coordinator.addPersistentStore(
                ofType: "PostgreSQL", configurationName: nil, at: URL(string: url),
                options: [NSPersistentHistoryTrackingKey: true])
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            context.transactionAuthor = "Ada"
            try context.performAndWait {
                NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context).setValue("new", forKey: "name")
                try context.save()
            }
            try coordinator.remove(store)
            #expect(try succeed("history", url).contains("Ada"))
            let changes = try CommandRun("diff", url, "--since", "0")
            #expect(changes.status == 2 && changes.output.contains(#"name = "new""#))
            _ = try succeed(
                "set", url, "--entity", "Tag", "--where", #"name == "new""#, "name=x", "--yes", "--no-backup")
            #if canImport(Darwin)
                let deleted = try succeed("history", "purge", url, "--before", "2100-01-01", "--yes", "--no-backup")
                #expect(deleted.hasSuffix("deleted from the history.\n"))
            #else
                let deleted = try succeed("history", "purge", url, "--keep", "1", "--yes", "--no-backup")
                #expect(deleted == "1 change deleted from the history.\n")
            #endif
        }
    }
#endif
