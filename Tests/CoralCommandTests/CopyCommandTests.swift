import Coral
import NotesModel
import Testing

/// `coral copy`: the map of copies on standard output, and the copies in the store.
@Suite struct CopyCommandTests {
    @Test func `objects are copied with those that they own, and saved`() throws {
        let notes = try NotesStore(titles: ["Groceries", "Garden"])
        let store = notes.path
        let arguments = ["copy", store, "--entity", "Note", "--where", "title == 'Garden'"]
        let dry = try CommandRun(arguments + ["--dry-run"])
        #expect(dry.status == 0)
        #expect(dry.output.hasSuffix("Would copy 2 objects (1 Item, 1 Note), 0 links\n"))
        let run = try CommandRun(arguments)
        #expect(run.status == 0)
        #expect(run.output.contains("Note/p"))
        #expect(run.output.contains(" -> Note/p3\n"))
        #expect(run.output.hasSuffix("2 objects copied\n"))
        let json = try CommandRun(arguments + ["--json"])
        let report = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        // The copy has the title Garden too.
        #expect((report["copies"] as? [Any])?.count == 4)
        let counts = try CommandRun("info", store)
        #expect(counts.output.contains("Objects    10"))
    }

    @Test func `an error of copying is one line`() throws {
        let notes = try NotesStore(titles: ["Groceries", "Garden"])
        let store = notes.path
        let run = try CommandRun("copy", store, "--entity", "Notes")
        #expect(run.status == 1)
        #expect(run.errors == "coral: The model has no entity \"Notes\". Did you mean \"Note\"?\n")
        let rule = try CommandRun("copy", store, "--entity", "Note", "--link", "Note.itmes")
        #expect(rule.status == 1)
        #expect(rule.errors.contains("Did you mean \"items\"?"))
    }
}

/// `coral subset`: part of a store as a new store, with values replaced.
@Suite struct SubsetCommandTests {
    @Test func `an empty secret is refused`() throws {
        let notes = try NotesStore(titles: ["Groceries"])
        let part = notes.file("Part.sqlite")
        let line = "coral subset '\(notes.path)' --entity Note --redact Note.title=token -o '\(part)'"
        let run = try CommandRun(shell: "export CORAL_SECRET=; \(line)")
        #expect(run.status == 1 && run.errors.contains("CORAL_SECRET is empty"), "\(run.errors)")
        #expect(!FileManager.default.fileExists(atPath: part))
        #expect(try CommandRun(shell: "export CORAL_SECRET=one; \(line)").status == 0)
    }

    @Test func `a subset is a new store, and the substitutes are the same in every run`() throws {
        let notes = try NotesStore(titles: ["Groceries", "Garden", "Garden"])
        let part = notes.file("Part.sqlite")
        let arguments = [
            "subset", notes.path, "--entity", "Note", "--where", "title == 'Garden'", "--output", part,
            "--redact", "Note.title=token",
        ]
        let dry = try CommandRun(arguments + ["--dry-run"])
        #expect(dry.output == "Would write 4 objects (2 Item, 2 Note), 0 links\n")
        #expect(!FileManager.default.fileExists(atPath: part))
        let run = try CommandRun(arguments)
        #expect(run.output == "Wrote 4 objects (2 Item, 2 Note), 0 links\n")
        #expect(try CommandRun("check", part).status == 0)
        let export = try CommandRun("export", part, "--entity", "Note")
        #expect(!export.output.contains("Garden"))
        let again = try CommandRun(arguments)
        #expect(again.status == 1)
        #expect(again.errors.contains("Use --force"))
        let wrong = try CommandRun(Array(arguments.dropLast()) + ["Note.title=tokne", "--force"])
        #expect(wrong.errors.contains("Did you mean \"token\"?"))
    }
}
