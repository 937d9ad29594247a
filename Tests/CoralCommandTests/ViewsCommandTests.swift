#if !canImport(Darwin)

    import Coral
    import CoralTools
    import Foundation
    import GRDB
    import Testing

    @testable import CoralCommand

    /// `coral views`: the script, the copy, and hostile names.
    @Suite struct ViewsCommandTests {
        private let store: NotesStore

        init() throws { store = try NotesStore() }

        @Test func `a script creates temporary views, and does not change the store`() throws {
            let script = store.file("views.sql")
            #expect(try CommandRun("views", store.path, "-o", script).status == 0)
            let before = try Data(contentsOf: store.url)
            var configuration = Configuration()
            configuration.readonly = true
            let queue = try DatabaseQueue(path: store.path, configuration: configuration)
            try queue.inDatabase { database in
                try database.execute(sql: String(contentsOfFile: script, encoding: .utf8))
                let rows = try Row.fetchAll(database, sql: "SELECT title, rank, \"author.name\" FROM Note ORDER BY key")
                #expect(rows.map { $0["title"] as String } == ["Groceries", "Garden, \"big\""])
                #expect(rows.map { $0["author.name"] as String? } == ["Ada", nil])
                let tags = try Row.fetchAll(database, sql: "SELECT owner, member FROM \"Note.tags\" ORDER BY owner")
                #expect(tags.map { $0["owner"] as Int } == [1, 2])
                #expect(tags.map { $0["member"] as Int } == [1, 1])
                #expect(try Int.fetchOne(database, sql: "SELECT position FROM \"Note.items\"") != nil)
            }
            try queue.close()
            #expect(try Data(contentsOf: store.url) == before)
        }

        @Test func `the copy has the views, and is a store`() throws {
            let queue = try DatabaseQueue(path: store.path)
            try queue.write { database in
                try database.execute(
                    sql:
                        "UPDATE ZNOTE SET ZCREATEDAT = 730987200.25, ZIDENTIFIER = x'00112233445566778899AABBCCDDEEFF' WHERE Z_PK = 1"
                )
            }
            try queue.close()
            let copy = store.file("Readable.sqlite")
            let run = try CommandRun("views", store.path, "--into", copy)
            #expect(run.status == 0, "\(run.errors)")
            #expect(try CommandRun("views", store.path, "--into", copy).status == 1)
            let row = try #require(
                try DatabaseQueue(path: copy).read { database in
                    try Row.fetchOne(database, sql: "SELECT createdAt, identifier FROM Note WHERE key = 1")
                })
            #expect(row["createdAt"] == "2024-03-01T12:00:00.250Z")
            #expect(row["identifier"] == "00112233-4455-6677-8899-AABBCCDDEEFF")
            #expect(try CommandRun("check", copy).status == 0)
            #expect(try CommandRun("diff", store.path, copy).output == "The two sides are equal.\n")
        }

        @Test func `names are quoted, and differ as SQLite compares them`() {
            #expect(SQLText.name("a\"b") == "\"a\"\"b\"")
            #expect(Array(SQLText.name("a\"\u{301}\0;").utf8) == Array("\"a\"\"\u{301};\"".utf8))
            #expect(SQLText.literal("'); DROP TABLE ZNOTE; --") == "'''); DROP TABLE ZNOTE; --'")
            var names = NameChoice(taken: ["ZNOTE"])
            #expect(names.choose("Note") == "Note")
            #expect(names.choose("NOTE") == "NOTE 2")
            #expect(names.choose("znote") == "znote 2")
            #expect(names.choose("note 2") == "note 2 2")
            #expect(names.choose("É") == "É" && names.choose("é") == "é")
        }
    }

#endif
