import Coral
import NotesModel
import Testing

/// `coral import` and `coral export`: policies for documents, and large values.
@Suite struct ImportCommandTests {
    private func plan(_ json: String, _ arguments: String...) throws -> CommandRun {
        let store = try NotesStore()
        try Data(json.utf8).write(to: URL(fileURLWithPath: store.file("document.json")))
        let before = try store.contents()
        let run = try CommandRun(
            ["import", store.file("document.json"), "--into", store.path, "--dry-run"] + arguments)
        #expect(try store.contents() == before, "A plan changes nothing.")
        return run
    }

    @Test func `an empty document changes nothing`() throws {
        let run = try plan(#"{"Note": []}"#)
        #expect(run.status == 0 && run.output == "0 inserts, 0 updates, 0 links, 0 errors\n")
    }

    @Test func `the plan says that no key identifies the objects, and an import too`() throws {
        let json = #"{"Note": [{"title": "Groceries", "items": [{"name": "Milk"}]}, {"title": "New"}]}"#
        let run = try plan(json)
        #expect(
            run.output.contains(
                "? No key identifies the objects of Item, Note: 3 objects are created, even if the store has equal ones. To "
                    + "update those, give the key: --key Item="), "\(run.output)")
        #expect(try plan(json, "--json").output.contains("No key identifies"))
        let keyed = try plan(json, "--key", "Note=title", "--key", "Item=name")
        #expect(keyed.status == 0 && !keyed.output.contains("No key"), "\(keyed.output)")
        #expect(!(try plan(json, "--by-content").output.contains("No key")))
        // A tag has a key in the model.
        #expect(!(try plan(#"{"Tag": [{"name": "new"}]}"#).output.contains("No key")))
        let store = try NotesStore()
        let document = store.file("document.json")
        #expect(try CommandRun("export", store.path, "-o", document).status == 0)
        let own = try CommandRun("import", document, "--into", store.path, "--dry-run")
        #expect(own.output == "0 inserts, 0 updates, 0 links, 0 errors\n", "\(own.output)")
        // In a new store there is nothing to find.
        let new = ["import", document, "--into", store.file("New.sqlite"), "--model", store.path]
        #expect(!(try CommandRun(new + ["--dry-run"]).output.contains("No key")))
        #expect(try CommandRun(new).errors.isEmpty)
        let again = try CommandRun(new + ["--no-backup"])
        #expect(again.status == 0 && again.errors.hasPrefix("No key identifies "), "\(again.errors)")
    }

    @Test func `a part of a store that another one cannot take is refused with what to do`() throws {
        let store = try NotesStore()
        let (part, new) = (store.file("part.json"), store.file("New.sqlite"))
        #expect(try CommandRun("export", store.path, "--entity", "Item", "-o", part).status == 0)
        let run = try CommandRun("import", part, "--into", new, "--model", store.path)
        #expect(run.status == 1 && run.errors.contains("--dangling skip, record or stub."), "\(run.errors)")
        let plan = try CommandRun("import", part, "--into", new, "--model", store.path, "--dry-run")
        #expect(plan.status == 1 && plan.errors.contains("coral export --follow everything"), "\(plan.errors)")
        let whole = ["export", store.path, "--entity", "Item", "--follow", "everything", "-o", part, "--force"]
        #expect(try CommandRun(whole).status == 0)
        #expect(try CommandRun("import", part, "--into", new, "--model", store.path).status == 0)
    }

    @Test func `a record without an entity of the model is answered with the entities, and with the option`() throws {
        for json in [#"[{"title": "a"}]"#, #"{"trips": [{"title": "a"}]}"#] {
            let run = try plan(json)
            #expect(run.status == 1, "\(run.output)")
            #expect(
                run.errors.hasSuffix(
                    "\n--entity names the entity of objects that do not state theirs. There are: Item, Note, Person, Tag.\n"
                ),
                "\(run.errors)")
        }
        #expect(try plan(#"[{"title": "a"}]"#, "--entity", "Note").status == 0)
    }

    @Test func `a plan names new objects by a text, and not by a number`() throws {
        let json = ##"""
            {"Note": [{"$id": "#7", "title": "Trip", "items": [{"$id": "#8", "name": "Map"}, {"$id": "#9", "quantity": 2}]}]}
            """##
        let run = try plan(json)
        #expect(run.output.contains("+ Note \"Trip\"") && run.output.contains("+ Item \"Map\""), "\(run.output)")
        #expect(run.output.contains("+ Item /Note/0/items/1"), "\(run.output)")
        #expect(!run.output.contains("#"), "\(run.output)")
    }

    @Test func `an export whose condition matches nothing says so`() throws {
        let store = try NotesStore()
        let none = ["--entity", "Note", "--where", "rank > 9"]
        let run = try CommandRun(["export", store.path] + none)
        #expect(run.status == 0 && !run.output.isEmpty)
        #expect(run.errors == "coral: warning: The document has no objects: none of Note matches --where.\n")
        let tables = try CommandRun(["export", store.path, "--format", "csv", "-o", store.file("tables")] + none)
        #expect(tables.errors.contains("none of Note matches --where"), "\(tables.errors)")
        let page = try CommandRun(["export", store.path, "--format", "html"] + none)
        #expect(page.errors.contains("none of Note matches --where"), "\(page.errors)")
        let all = try CommandRun("export", store.path, "--entity", "Note")
        #expect(!all.errors.contains("matches"), "\(all.errors)")
    }

    @Test func `an import states its path on request`() throws {
        let run = try plan(#"{"Note": []}"#, "--explain")
        #expect(
            run.output.hasSuffix(
                "To be imported through objects: The store exists: the plan of the whole document is "
                    + "validated before the store is changed.\n"))
        #expect(try plan(#"{"Note": []}"#, "--json").output.contains("\"isByRows\" : false"))
        let store = try NotesStore()
        try Data(#"{"Note": [{"title": "New"}]}"#.utf8).write(to: URL(fileURLWithPath: store.file("short.json")))
        let path = { (name: String, arguments: [String]) in
            let run = try CommandRun(
                ["import", store.file("short.json"), "--into", store.file(name), "--model", store.path, "--explain"]
                    + arguments)
            return run.output.split(separator: "\n").last.map(String.init)
        }
        let short = "through objects: Only files of 32.0 MB and more are imported by rows, and this one has 28 bytes."
        #expect(try path("A.sqlite", ["--dry-run"]) == "To be imported \(short)")
        #expect(try path("A.sqlite", []) == "Imported \(short)")
        #expect(try path("B.sqlite", ["--skip-invalid"])?.contains("through objects: --skip-invalid ") == true)
        #expect(
            try path("C.sqlite", ["--delete-missing", "Note"])?.contains("through objects: --delete-missing ") == true)
    }

    @Test(arguments: [
        ["--skip-invalid"], ["--strict"], ["--entity", "Note"], ["--layout", "plain"], ["--key", "Note=title"],
        ["--dialect", "groot"], ["--dangling", "skip"], ["--unknown-keys", "skip"], ["--other-model", "skip"],
        ["--relationship", "Note.items=union"], ["--delete-missing", "Note"], ["--allow-empty"], ["--by-content"],
        ["--identity", "stored-id"], ["--dry-run"],
    ])
    func `--restore refuses an option that it could not follow`(_ option: [String]) throws {
        let store = try NotesStore()
        let document = store.file("whole.json")
        #expect(try CommandRun("export", store.path, "-o", document).status == 0)
        let new = store.file("New.sqlite")
        let run = try CommandRun(["import", document, "--into", new, "--model", store.path, "--restore"] + option)
        #expect(run.status == 64 && run.errors.contains("\(option[0]) cannot be combined with --restore"))
        #expect(!FileManager.default.fileExists(atPath: new))
    }

    @Test(.enabled(if: Engine.hasRows)) func `--restore accepts a comma after the last element`() throws {
        let store = try NotesStore()
        let document = store.file("whole.json")
        #expect(try CommandRun("export", store.path, "-o", document).status == 0)
        var text = try String(contentsOfFile: document, encoding: .utf8)
        let end = try #require(text.lastIndex(of: "]"))
        text.insert(",", at: end)
        try Data(text.utf8).write(to: URL(fileURLWithPath: document))
        let arguments = ["import", document, "--into", store.file("New.sqlite"), "--model", store.path, "--restore"]
        #expect(try CommandRun(arguments).status == 1)
        let run = try CommandRun(arguments + ["--trailing-commas"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try CommandRun("diff", store.path, store.file("New.sqlite")).status == 0)
    }

    #if !canImport(Darwin)
        @Test(.enabled(if: Engine.hasRows)) func `a restored document is imported through objects`() throws {
            let store = try NotesStore()
            #expect(try CommandRun("export", store.path, "-o", store.file("whole.json")).status == 0)
            let run = try CommandRun(
                "import", store.file("whole.json"), "--into", store.file("New.sqlite"), "--model", store.path,
                "--explain", "--restore")
            #expect(run.status == 0 && run.output.contains("\nImported through objects: --restore "))
        }

        @Test(.enabled(if: Engine.hasRows)) func `a long document for a new store is imported by rows`() throws {
            let store = try NotesStore()
            let note = #"{"title": "\#(String(repeating: "x", count: 1_000_000))"}"#
            let json = #"{"Note": [\#(Array(repeating: note, count: 33).joined(separator: ","))]}"#
            try Data(json.utf8).write(to: URL(fileURLWithPath: store.file("long.json")))
            func importing(_ name: String, _ arguments: String...) throws -> String {
                try CommandRun(
                    ["import", store.file("long.json"), "--into", store.file(name), "--model", store.path, "--explain"]
                        + arguments
                ).output
            }
            // A plan states the path that the import takes afterwards.
            let layout = "through objects: The document's layout is not declared as plain.\n"
            #expect(
                try importing("Rows.sqlite", "--layout", "plain", "--dry-run").hasSuffix("To be imported by rows\n"))
            #expect(try importing("Rows.sqlite", "--layout", "plain").hasSuffix("Imported by rows\n"))
            #expect(try importing("Objects.sqlite", "--dry-run").hasSuffix("To be imported \(layout)"))
            #expect(try importing("Objects.sqlite").hasSuffix("Imported \(layout)"))
        }
    #endif

    @Test func `objects that are not in the document are deleted on request`() throws {
        let run = try plan(#"{"Note": [{"title": "New"}]}"#, "--delete-missing", "Note")
        #expect(run.output.contains("- Note/p1 (not in the document)\n- Note/p2 (not in the document)\n"))
        #expect(run.output.hasSuffix("4 deletions, 0 errors\n"), "With each note its item: \(run.output)")
        #expect(try plan(#"{"Note": []}"#, "--delete-missing", "Notes").errors.contains("Did you mean \"Note\"?"))
    }

    @Test func `each policy of an import has its effect`() throws {
        let json = #"{"Note": [{"title": "New", "author": "Person/p77", "titel": 1,}]}"#
        #expect(try plan(json).errors.contains("line 1, column"))
        let failing = try plan(json, "--trailing-commas", "--unknown-keys", "fail")
        #expect(failing.status == 1)
        #expect(failing.output.contains("Did you mean \"title\"?"))
        #expect(try plan(json, "--trailing-commas").output.contains("neither in the document nor in the store"))
        let recorded = try plan(json, "--trailing-commas", "--unknown-keys", "record", "--dangling", "record")
        #expect(recorded.status == 0 && recorded.output.hasSuffix("2 conflicts, 0 errors\n"))
        let tags = #"{"Tag": [{"name": "home", "notes": []}]}"#
        #expect(try plan(tags, "--relationship", "Tag.notes=union").status == 0)
        #expect(try plan(tags, "--relationship", "Tag.notes=keep").errors.contains("set, union or replace"))
        #expect(try plan(tags, "--relationship", "Tag.note=set").status == 1)
        let item = #"{"Item": [{"name": "Item <1>", "quantity": 1}]}"#
        #expect(try plan(item, "--by-content").output.hasPrefix("0 inserts"))
        #expect(try plan(item).output.hasSuffix("1 insert, 0 updates, 0 links, 0 errors\n"))
    }

    @Test func `the plan lists the differences of another model version`() throws {
        let json = """
            {"$header": {"format": "coral-graph", "version": 1, "layout": "flat", "ids": "stored",
             "entityHashes": {"Note": "AAAA", "Pager": "AAAA"}}, "Note": [{"title": "x"}], "Pager": [{"number": 1}]}
            """
        let skipped = try plan(json, "--other-model", "skip")
        #expect(skipped.status == 0, "\(skipped.errors)")
        #expect(skipped.output.contains("? Note has other properties in the document's model.\n"))
        #expect(skipped.output.contains("? The model has no entity Pager, which the document's has.\n"))
        #expect(try plan(json, "--other-model", "fail").status == 1)
    }

    @Test func `large values are written to files beside the document, and imported from there`() throws {
        let store = try NotesStore()
        let run = try CommandRun("export", store.path, "-o", store.file("n.json"), "--files-from", "1000000")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try CommandRun("diff", store.path, store.file("n.json")).status == 0)
        #expect(try CommandRun("export", store.path, "--files-from", "10").status == 64)
        #expect(try CommandRun("export", store.path, "-o", store.file("x.json"), "--files-from", "0").status == 64)
        let page = try CommandRun("export", store.path, "-o", store.file("x.html"), "--files-from", "9")
        #expect(page.errors.contains("cannot be combined with it"))
    }
}
