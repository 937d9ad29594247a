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
