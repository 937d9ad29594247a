// Rows can be damaged only with the package's own engine.
#if !canImport(Darwin)

    import Foundation
    import GRDB
    import Testing

    /// `coral check` and `coral verify`.
    @Suite struct CheckCommandTests {
        private let store: NotesStore

        init() throws { store = try NotesStore() }

        /// Executes statements that damage the store as no context would.
        private func spoil(_ statements: String...) throws {
            let database = try DatabaseQueue(path: store.path)
            try database.write { database in
                for statement in statements { try database.execute(sql: statement) }
            }
            try database.close()
        }

        @Test func `an undamaged store has no problems`() throws {
            let run = try CommandRun("check", store.path)
            #expect(run.status == 0)
            #expect(run.output == "No problems were found in \(store.path).\n")
            let verified = try CommandRun("verify", store.path)
            #expect(
                verified.output
                    == "6 objects exported as json and restored: the new store is equal, byte for byte.\n"
            )
        }

        @Test func `problems of rows are found and repaired in a copy`() throws {
            try spoil(
                "UPDATE ZITEM SET ZNOTE = 99 WHERE Z_PK = 2", "DELETE FROM ZTAG",
                "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Note'")
            let before = try store.contents()
            let run = try CommandRun("check", store.path, "--json")
            #expect(run.status == 2)
            for code in ["danglingReference", "keyBeyondMaximum"] {
                #expect(run.output.contains(#""code" : "\#(code)""#))
            }
            #expect(run.output.contains("Note/p1 - Tag/p1"))
            #expect(try store.contents() == before)
            let copy = store.file("Repaired.sqlite")
            let repaired = try CommandRun("check", store.path, "--repair", copy)
            #expect(repaired.status == 0)
            #expect(repaired.output.hasSuffix("The copy is at \(copy). It has no problems.\n"))
            #expect(try CommandRun("check", copy).status == 0)
            #expect(try CommandRun("verify", copy).status == 0)
        }

        @Test func `problems that need a decision are only reported`() throws {
            try spoil(
                "DROP INDEX Z_Tag_UNIQUE_name",
                "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT 2, Z_ENT, 1, ZNAME FROM ZTAG",
                "UPDATE Z_PRIMARYKEY SET Z_MAX = 2 WHERE Z_NAME = 'Tag'",
                "UPDATE ZITEM SET ZQUANTITY = 'many' WHERE Z_PK = 1")
            let run = try CommandRun("check", store.path, "--repair", store.file("Copy.sqlite"))
            #expect(run.status == 2)
            #expect(run.output.contains("1× Tag.name: Several objects have the same values"))
            #expect(run.output.contains("1× Item.quantity: Values have a type that the attribute does not allow."))
            #expect(run.output.contains("Remaining problems:"))
        }

        @Test func `a damaged file is a finding`() throws {
            let database = try DatabaseQueue(path: store.path)
            let (page, size) = try database.read { database in
                (
                    try Int.fetchOne(database, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'ZITEM'") ?? 0,
                    try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0
                )
            }
            try database.close()
            let file = try FileHandle(forWritingTo: store.url)
            try file.seek(toOffset: UInt64((page - 1) * size))
            try file.write(contentsOf: Data(repeating: 0x5A, count: 64))
            try file.close()
            let run = try CommandRun("check", store.path)
            #expect(run.status == 2)
            #expect(run.output.contains("SQLite reports damage of the file: "))
            #expect(!run.output.contains("***"))
        }

        @Test(arguments: [
            ("UPDATE Z_METADATA SET Z_PLIST = 7", "The metadata of the store are damaged"),
            ("UPDATE Z_METADATA SET Z_PLIST = x'00'", "The metadata of the store are damaged"),
            ("UPDATE Z_MODELCACHE SET Z_CONTENT = 7", "The model that is cached in the store is damaged"),
            ("UPDATE Z_MODELCACHE SET Z_CONTENT = x'0102'", "The model that is cached in the store is damaged"),
            ("ALTER TABLE Z_PRIMARYKEY RENAME TO gone", "it lacks the table Z_PRIMARYKEY"),
            ("INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME) VALUES (9, 'Note')", "contains the entity “Note” twice"),
            ("ALTER TABLE ZNOTE RENAME TO N; CREATE VIEW ZNOTE AS SELECT * FROM N", "ZNOTE is a view"),
        ])
        func `damage to tables of Core Data's own is a finding`(statements: String, sentence: String) throws {
            try spoil(statements)
            let run = try CommandRun("check", store.path)
            #expect(run.status == 2, "\(run.errors)")
            #expect(run.output.contains(sentence))
            #expect(run.output.contains("1 problem."))
            let repaired = try CommandRun("check", store.path, "--repair", store.file("Copy.sqlite"))
            #expect(repaired.status == 1)
            #expect(repaired.errors.contains(sentence))
            // A store that only provides the model is not checked.
            guard !statements.contains("Z_PRIMARYKEY"), !statements.contains("ZNOTE") else { return }
            #expect(try CommandRun("check", NotesStore().path, "--model", store.path).status == 1)
        }

        @Test(arguments: [
            (#"{"Note": []}"#, "It is a JSON document. coral import "),
            ("<graph/>", "It is an XML document. coral import "),
            ("bplist00", "It is a property list, a model or an archive."), ("PK\u{3}\u{4}", "It is a ZIP archive."),
            ("Groceries: milk, bread", "It is a text."),
            (
                "<?xml version=\"1.0\"?>\n<!DOCTYPE database SYSTEM \"file:///System/Library/DTDs/CoreData.dtd\">",
                "It is a store of the type XML"
            ),
        ])
        func `a file of another kind is named, and is not a damaged store`(_ content: String, _ sentence: String) throws
        {
            let path = store.file("other")
            try Data(content.utf8).write(to: URL(fileURLWithPath: path))
            for command in ["check", "info", "serve"] {
                let run = try CommandRun(command, path)
                #expect(run.status == 1 && run.output.isEmpty, "\(run.output)")
                #expect(run.errors.hasPrefix("coral: \(path) is not a store. \(sentence)"), "\(run.errors)")
            }
        }

        @Test func `a database of another kind is not a damaged store, and a store without its metadata is one`() throws
        {
            let path = store.file("Other.sqlite")
            let database = try DatabaseQueue(path: path)
            try database.write { try $0.execute(sql: "CREATE TABLE notes (id INTEGER PRIMARY KEY)") }
            try database.close()
            let run = try CommandRun("check", path)
            #expect(run.status == 1 && run.errors.contains("it is not a store of Core Data"), "\(run.errors)")
            try spoil("DROP TABLE Z_METADATA")
            let damaged = try CommandRun("check", store.path)
            #expect(damaged.status == 2 && damaged.output.contains("The metadata of the store are missing"))
        }

        @Test func `a store is never repaired in place`() throws {
            let run = try CommandRun("check", store.path, "--repair", store.path, "--force")
            #expect(run.status == 1)
            #expect(run.errors.contains("requires the location of a copy"))
        }
    }

#endif
