import Coral
import Foundation
import GRDB
import Testing

/// `coral query`: objects as a table, as CSV and as JSON.
@Suite struct QueryCommandTests {
    private let store: NotesStore

    init() throws { store = try NotesStore() }

    private func query(_ arguments: String...) throws -> CommandRun {
        try CommandRun(["query", store.path, "--entity", "Note"] + arguments)
    }

    @Test func `a table shows the objects that match a predicate, in the requested order`() throws {
        let run = try query("--columns", "title,author.name,items.@count", "--sort", "rank:descending")
        #expect(run.status == 0)
        #expect(
            run.output == """
                title          author.name  items.@count
                Garden, "big"                          1
                Groceries      Ada                     1

                """)
        let one = try query("--where", "ANY tags.name == 'home' AND rank < 1", "--columns", "title")
        #expect(one.output == "title\nGroceries\n")
        #expect(try query("--where", "rank > 9").output == "No Note found.\n")
    }

    @Test func `the number of objects is printed alone`() throws {
        #expect(try query("--count").output == "2\n")
        #expect(try query("--count", "--where", "ANY tags.name == 'home' AND rank < 1").output == "1\n")
        #expect(try query("--count", "--where", "rank > 9").output == "0\n")
        #expect(try query("--count", "--limit", "1").output == "1\n")
        let wrong = try query("--count", "--columns", "title")
        #expect(wrong.status != 0 && wrong.errors.contains("--count prints a number"))
        #expect(try CommandRun("query", store.path, "--count").errors.contains("require --entity"))
    }

    @Test func `a table begins with what names and distinguishes objects, and ends with identifiers`() throws {
        let titles = { (text: String) in
            text.split(separator: "\n").first.map { $0.split(separator: " ").map(String.init) } ?? []
        }
        let queue = try DatabaseQueue(path: store.path)
        try queue.write { database in
            try database.execute(
                sql: "UPDATE ZNOTE SET ZIDENTIFIER = randomblob(16), ZBODY = 'Text ' || Z_PK, ZISPINNED = 0")
        }
        // The body, the rank and the author differ; the numbers of items and tags, and the pin, do not.
        #expect(
            try titles(query().output) == [
                "objectID", "title", "body", "rank", "author", "isPinned", "items.@count", "tags.@count", "createdAt",
                "identifier",
            ])
        // An attribute without values is no label.
        try queue.write { try $0.execute(sql: "UPDATE ZNOTE SET ZTITLE = NULL, ZCREATEDAT = Z_PK, ZBODY = 'Text'") }
        try queue.close()
        #expect(
            try titles(query().output) == [
                "objectID", "body", "createdAt", "rank", "author", "isPinned", "items.@count", "tags.@count", "title",
                "identifier",
            ])
        // Documents have one order.
        let names =
            "objectID,body,createdAt,identifier,isPinned,rank,title,author,items.@count,tags.@count"
        #expect(try query("--csv").output.hasPrefix(names + "\r\n"))
        let page = try RunningServer(store.path).get("table?entity=Note").body
        let heads = page.matches(of: /<th scope="col"[^>]*>(?:<a [^>]*>)?([A-Za-z.@]+)/).map { String($0.1) }
        #expect(heads.prefix(4) == ["object", "body", "created", "rank"] && heads.last == "identifier")
    }

    @Test func `CSV quotes special characters`() throws {
        let run = try query("--columns", "title,tags.name", "--format", "csv")
        #expect(run.output == "title,tags.name\r\nGroceries,home\r\n\"Garden, \"\"big\"\"\",home\r\n")
    }

    @Test func `TSV quotes tabs, and has the name of its file's ending`() throws {
        let queue = try DatabaseQueue(path: store.path)
        try queue.write { try $0.execute(sql: "UPDATE ZNOTE SET ZTITLE = '=a' || char(9) || 'b, c' WHERE Z_PK = 1") }
        try queue.close()
        let run = try query("--columns", "title,tags.name", "--format", "tsv")
        #expect(run.output == "title\ttags.name\r\n\"=a\tb, c\"\thome\r\n\"Garden, \"\"big\"\"\"\thome\r\n")
        #expect(
            try query("--columns", "title", "--limit", "1", "-o", store.file("notes.tsv"), "--csv-safe").status == 0)
        let file = try String(contentsOfFile: store.file("notes.tsv"), encoding: .utf8)
        #expect(file == "title\r\n\"'=a\tb, c\"\r\n")
        #expect(try CommandRun("query", store.path, "--format", "tsv").output.hasPrefix("entity\tcount\r\nItem\t2\r\n"))
        #expect(try query("--csv", "--format", "tsv").status == 64)
        #expect(try CommandRun("find", store.path, "GARDEN", "-o", store.file("found.tsv")).status == 0)
        let found = try String(contentsOfFile: store.file("found.tsv"), encoding: .utf8)
        #expect(found.hasPrefix("object\tlabel\tattribute\texcerpt\r\nNote/p2\t"))
    }

    /// Predicates that are read batch by batch, and others, each with the number of the notes 0 to 1299 that it matches.
    @Test(arguments: [
        ("title CONTAINS '9'", 328), ("title CONTAINS[c] 'NOTE 12'", 111), ("title BEGINSWITH[cd] 'nöte 129'", 11),
        ("title ENDSWITH '99'", 13), ("title LIKE[c] 'NOTE ?'", 10), ("title MATCHES 'Note [0-4]'", 5),
        ("title ==[c] 'note 1000'", 1), ("title IN {'Note 3', 'Note 1299', 'x'}", 2),
        ("title IN[c] {'note 3', 'NOTE 4'}", 2), ("rank IN {3, 4}", 26), ("rank BETWEEN {98, 200}", 26),
        ("NOT (title CONTAINS '9') OR rank == 99", 985), ("title == nil", 0), ("title != nil", 1300),
        ("ANY tags.name == 'home'", 0), ("author.name CONTAINS 'a'", 0), ("author == nil", 1300),
        ("ANY items.note.title CONTAINS '9'", 328), ("items.@count == 1 AND rank < 10", 130),
        ("items.@count == 1", 1300),
        ("SUBQUERY(items, $i, $i.note.rank == 5).@count == 1", 13),
    ])
    func `each object that a predicate matches is shown once, in the order of the keys`(
        _ predicate: String, _ count: Int
    ) throws {
        let store = try NotesStore(titles: (0..<1300).map { "Note \($0)" })
        let queue = try DatabaseQueue(path: store.path)
        try queue.write { try $0.execute(sql: "UPDATE ZNOTE SET ZRANK = CAST(substr(ZTITLE, 6) AS INTEGER) % 100") }
        try queue.close()
        let arguments = ["query", store.path, "--entity", "Note", "--csv", "--columns", "objectID,items.@count"]
        let run = try CommandRun(arguments + ["--where", predicate])
        let keys = run.output.matches(of: /Note\/p(\d+),1/).compactMap { Int($0.1) }
        #expect(keys.count == count && keys == keys.sorted() && Set(keys).count == count, "\(run.errors)")
        let limited = try CommandRun(arguments + ["--where", predicate, "--limit", "70"])
        #expect(limited.output.matches(of: /Note\/p(\d+),1/).compactMap { Int($0.1) } == Array(keys.prefix(70)))
    }

    @Test func `CSV quotes a quote before a combining mark`() throws {
        let store = try NotesStore(titles: ["a\"\u{301},=b"])
        let run = try CommandRun("query", store.path, "--entity", "Note", "--columns", "title", "--format", "csv")
        #expect(Array(run.output.utf8) == Array("title\r\n\"a\"\"\u{301},=b\"\r\n".utf8))
    }

    @Test func `JSON has numbers, nulls and arrays`() throws {
        let run = try query("--columns", "title,rank,author.name,tags", "--limit", "1", "--offset", "1", "--json")
        let rows = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: Any]])
        #expect(rows.count == 1)
        #expect(rows[0]["rank"] as? Double == 1)
        #expect(rows[0]["author.name"] is NSNull)
        #expect(rows[0]["tags"] as? [String] == ["Tag/p1"])
    }

    @Test(arguments: [
        (["--columns", "title,tagz.name"], "title,tagz.name\n      ^\n"),
        (["--columns", "title.x"], "title.x\n      ^\n"),
        (
            ["--where", "title == 'nmae' AND ANY tags.nmae == 'x'"],
            "title == 'nmae' AND ANY tags.nmae == 'x'\n                             ^\n"
        ),
        (
            ["--where", "SUBQUERY(items, $i, $i.pric > 2).@count > 1"],
            "SUBQUERY(items, $i, $i.pric > 2).@count > 1\n                       ^\n"
        ),
        (["--sort", "items.name"], "items.name\n^\n"),
        (["--sort", "title:up"], "title:up\n      ^\n"),
    ])
    func `a caret marks the error`(_ arguments: [String], _ end: String) throws {
        let run = try CommandRun(["query", store.path, "--entity", "Note"] + arguments)
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.errors.hasSuffix(end), "\(run.errors)")
    }

    @Test(arguments: [
        ["--columns", "title."], ["--columns", ".title"], ["--columns", "author..name"], ["--columns", "title,,rank"],
        ["--columns", "title,"], ["--columns", "."], ["--columns", ","], ["--columns", "items..@count"],
        ["--columns", " "], ["--columns", "*Date."], ["--sort", "title."], ["--sort", ".title"],
        ["--sort", "author..name"], ["--sort", ","], ["--sort", "rank,"], ["--sort", "rank:"],
        ["--sort", ":descending"], ["--sort", "."], ["--columns", "objectID.x"], ["--columns", "self.title"],
        ["--columns", "author.entity.name"],
    ])
    func `a key path without a name, and one that goes too far, is an error`(_ arguments: [String]) throws {
        let run = try CommandRun(["query", store.path, "--entity", "Note"] + arguments)
        #expect(run.status == 1, "\(run.output)")
        #expect(run.output.isEmpty)
        #expect(run.errors.hasPrefix("coral: "))
    }

    @Test func `a name is missing in no other option either`() throws {
        for arguments in [["--exclude", "Note."], ["--exclude", "Note..title"], ["--key", "Note=title,"]] {
            let run = try CommandRun(["diff", store.path, store.path] + arguments)
            #expect(run.status == 1, "\(arguments): \(run.output)")
        }
    }

    @Test(arguments: [
        ("createdAt > 2024-02-29", "A date is written in quotes: \"2024-02-29\"."),
        ("title != '2024-02-29' AND createdAt > 2024-02-29T12:30:00Z", "\"2024-02-29T12:30:00Z\"."),
        ("items.count > 1", "The number of objects is written as items.@count."),
        ("colour == 'red'", "There are: author, "),
        ("@count > 1", "@count follows a relationship with several objects, such as items.@count."),
        ("title.@count > 1", "title is one value: @count follows"),
    ])
    func `an error of a predicate says what to write`(_ predicate: String, _ advice: String) throws {
        let run = try CommandRun("query", store.path, "--entity", "Note", "--where", predicate)
        #expect(run.status == 1 && run.errors.contains(advice), "\(run.errors)")
    }

    @Test(arguments: [
        "items.@count > 0", "SUBQUERY(items, $i, $i.quantity >= 0).@count > 0", "author.notes.@count != 9",
        "title != '@count' AND SUBQUERY(tags, $t, $t.notes.@count > 0).@count < 9", "title != '2024-02-29'",
    ])
    func `a count of objects and text that looks like one are accepted`(_ predicate: String) throws {
        let run = try CommandRun("query", store.path, "--entity", "Note", "--where", predicate)
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
    }

    @Test func `dates, UUIDs and URLs are given as text`() throws {
        #expect(
            try query("--where", "author.site = 'https://example.com/a?b&c'", "--columns", "title").output
                == "title\nGroceries\n")
        #expect(try query("--where", "createdAt > '2024-02-29'").status == 0)
        let run = try query("--where", "title != 'y' AND createdAt > 'y'")
        #expect(run.errors.contains("not a date: write 2024-02-29"))
        #expect(try query("--where", "identifier IN {'x'}").errors.hasSuffix("\n               ^\n"))
    }

    @Test func `completions are entities and key paths`() throws {
        let words = ["coral", "query", store.path, "--entity"]
        func offered(_ option: String, _ typed: [String]) throws -> [Substring] {
            let all = words + typed
            let position = [option, String(all.count - 1), String(all.last?.count ?? 0)]
            return try CommandRun(["---completion", "query", "--"] + position + all).output.split(separator: "\n")
        }
        #expect(try offered("--entity", [""]) == ["Item", "Note", "Person", "Tag"])
        #expect(
            try offered("--where", ["Note", "--where", "rank > 1 AND author."]).first == "rank > 1 AND author.name")
        #expect(try offered("--columns", ["Note", "--columns", "title,items."]).contains("title,items.quantity"))
    }

    @Test func `objects that match are read batch by batch, each once and in the order of their names`() throws {
        let store = try NotesStore(titles: (0..<1300).map { "\($0 % 3)" })
        let run = { (more: [String]) in
            try CommandRun(["query", store.path, "--entity", "Note", "--columns", "objectID,title", "--csv"] + more)
                .output
                .split(separator: "\r\n").dropFirst().map(String.init)
        }
        let all = try run([])
        let expected = all.filter { $0.hasSuffix(",1") }
        #expect(all.count == 1300 && expected.count == 433)
        #expect(try run(["--where", "title == '1'"]) == expected)
        #expect(try run(["--where", "title == '1'", "--limit", "250"]) == Array(expected.prefix(250)))
        #expect(try run(["--where", "title == '1'", "--offset", "250"]) == Array(expected.dropFirst(250)))
        // A comparison with an option is evaluated for all objects first.
        #expect(try run(["--where", "title ==[c] '1'"]) == expected)
        #expect(try run(["--where", "NOT title == '0' AND title != '2'"]) == expected)
    }

    @Test func `an order between a text and a number is a warning`() throws {
        let store = try NotesStore()
        for (condition, isWarned) in [
            ("title < 60", true), ("60 > title", true), ("title BETWEEN {1, 2}", true), ("title < '60'", false),
            ("title == 60", false),
        ] {
            let run = try CommandRun("query", store.path, "--entity", "Note", "--where", condition)
            #expect(run.status == 0)
            #expect(run.errors.contains("Note.title is text, and is compared as text") == isWarned, "\(condition)")
        }
    }

    @Test func `a descending order is explained`() throws {
        let run = try CommandRun("query", try NotesStore().path, "--entity", "Note", "--sort", "-title")
        #expect(run.status == 64 && run.errors.contains("--sort KEY:descending"), "\(run.errors)")
    }

    #if !canImport(Darwin)
        @Test func `an unknown element of a composite attribute is an error, and not an empty column`() throws {
            let element = NSAttributeDescription()
            (element.name, element.attributeType) = ("latitude", .doubleAttributeType)
            let composite = NSCompositeAttributeDescription()
            (composite.name, composite.elements) = ("place", [element])
            let entity = NSEntityDescription()
            (entity.name, entity.properties) = ("Visit", [composite])
            let model = NSManagedObjectModel()
            model.entities = [entity]
            let path = store.folder.appendingPathComponent("Visits.sqlite").path
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let added = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path), options: nil)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                let visit = NSEntityDescription.insertNewObject(forEntityName: "Visit", into: context)
                visit.setValue(["latitude": 0.5], forKey: "place")
                try context.save()
            }
            try coordinator.remove(added)
            let run = { (arguments: [String]) in try CommandRun(["query", path, "--entity", "Visit"] + arguments) }
            let known = try run(["--columns", "place.latitude", "--where", "place.latitude < 1"])
            #expect(known.output == "place.latitude\n           0.5\n", "\(known.output)\(known.errors)")
            for arguments in [["--columns", "place.lattitude"], ["--where", "place.lattitude < 1"]] {
                let errors = try run(arguments).errors
                let sentence = "Visit.place has no element \"lattitude\". Did you mean \"latitude\"?"
                #expect(errors.contains(sentence), "\(errors)")
            }
            let errors = try run(["--columns", "place.latitude.degrees"]).errors
            #expect(errors.contains("Visit.place.latitude is an attribute: no key can follow it."), "\(errors)")
        }
    #endif
}
