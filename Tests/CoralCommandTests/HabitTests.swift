import Coral
import Foundation
import Testing

/// What people expect of any command: answers to --help, exit codes, nothing replaced unasked, nothing written by reading.
@Suite struct HabitTests {
    private let store: NotesStore

    init() throws { store = try NotesStore() }

    @Test func `exit codes are as documented`() throws {
        let help = try CommandRun("--help")
        #expect(help.output.contains("EXIT CODES:"))
        #expect(try CommandRun("info", store.path).status == 0)
        #expect(try CommandRun("info", store.file("absent.sqlite")).status == 1)
        #expect(try CommandRun("info").status == 64)
        #expect(try CommandRun("model", "diff", store.path, store.path).status == 0)
    }

    @Test func `reading writes nothing`() throws {
        let before = try store.contents()
        for arguments in [
            ["info", store.path], ["query", store.path, "--entity", "Note"], ["export", store.path],
            ["export", store.path, "--format", "html"], ["check", store.path],
            ["model", "show", store.path], ["model", "diagram", store.path], ["model", "schema", store.path],
            ["model", "convert", store.path], ["copy", store.path, "--entity", "Note", "--dry-run"],
        ] {
            #expect(try CommandRun(arguments).status == 0, "\(arguments)")
        }
        #expect(try store.contents() == before)
    }

    @Test func `no colour and no progress bar goes into a file`() throws {
        let run = try CommandRun("check", store.path)
        #expect(!run.output.contains("\u{1B}"))
        #expect(run.errors.isEmpty)
    }

    @Test func `a store that is changed is kept as it was`() throws {
        let run = try CommandRun("copy", store.path, "--entity", "Note", "--where", "rank == 0")
        #expect(run.status == 0)
        let line = try #require(run.errors.split(separator: "\n").first)
        let backup = String(line.dropFirst("The store as it was: ".count))
        #expect(try CommandRun("info", backup).output.contains("Objects    6"))
        #expect(try CommandRun("info", store.path).output.contains("Objects    8"))
        let quiet = try CommandRun("copy", store.path, "--entity", "Note", "--where", "rank == 0", "--no-backup")
        #expect(quiet.errors.isEmpty)
    }

    @Test func `an import that fails leaves no backup`() throws {
        let before = try store.contents().keys.sorted()
        let document = store.file("bad.json")
        try Data(#"{"Note":[{"title":{"x":1}}]}"#.utf8).write(to: URL(fileURLWithPath: document))
        let run = try CommandRun("import", document, "--into", store.path)
        #expect(run.status == 1)
        #expect(try store.contents().keys.filter { $0 != "bad.json" }.sorted() == before)
    }

    @Test func `files are replaced only where somebody says so`() throws {
        let picture = store.file("notes.svg")
        #expect(try CommandRun("model", "diagram", store.path, "-o", picture).status == 0)
        let again = try CommandRun("model", "diagram", store.path, "-o", picture)
        #expect(again.status == 1)
        #expect(again.errors.contains("--force"))
        #expect(try CommandRun("model", "diagram", store.path, "-o", picture, "--force").status == 0)
        #expect(try CommandRun("export", store.path, "-o", store.path, "--force").status == 1)
    }

    @Test func `a misspelt name in a document is told`() throws {
        let document = Data(#"{"Tag":[{"nmae":"garden"}]}"#.utf8)
        let run = try CommandRun(["import", "-", "--into", store.path, "--no-backup"], input: document)
        #expect(run.status == 0)
        #expect(run.errors.contains("nmae"))
        let plan = try CommandRun(["import", "-", "--into", store.path, "--dry-run"], input: document)
        #expect(plan.output.contains("? ") && plan.output.contains("nmae"))
    }

    @Test func `standard input is a document too`() throws {
        let document = Data(#"{"Tag":[{"name":"garden"}]}"#.utf8)
        let run = try CommandRun(["import", "-", "--into", store.path, "--no-backup", "--json"], input: document)
        #expect(run.status == 0)
        let summary = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
        #expect(summary["insertCount"] as? Int == 1)
    }
}
