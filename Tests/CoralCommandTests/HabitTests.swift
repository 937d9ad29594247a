import Coral
import Foundation
import Testing

/// Conventions of all commands: --help, exit codes, no file replaced without --force, nothing written by reading
/// commands.
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

    @Test func `an empty argument is refused, and not taken for the current folder`() throws {
        let document = store.file("notes.json")
        #expect(try CommandRun("export", store.path, "-o", document).status == 0)
        for (arguments, place) in [
            (["info", ""], "info"), (["find-stores", ""], "find-stores"), (["model", "port", ""], "port"),
            (["diff", "", store.path], "diff"), (["diff", store.path, ""], store.path),
            (["import", "", "--into", store.path], "import"), (["import", document, "--into", ""], "--into"),
            (["export", store.path, "-o", ""], "-o"), (["export", store.path, "--output="], "--output="),
            (["info", store.path, "--model", ""], "--model"), (["find", store.path, ""], store.path),
            (["model", "generate", store.path, ""], store.path), ([""], "coral"),
        ] {
            let run = try CommandRun(arguments)
            #expect(run.status == 64, "\(arguments)")
            #expect(run.errors == "coral: The argument after \(place) is empty.\n")
        }
    }

    @Test func `a command whose arguments cannot be read fails, and does not print the help`() throws {
        // A namespace of its own needs a permission that some containers do not have.
        let bare = "unshare --mount --map-root-user sh -c 'mount -t tmpfs none /proc && exec \"$0\" \"$@\"'"
        guard try CommandRun(shell: "\(bare) true").status == 0 else { return }
        let run = try CommandRun(shell: "\(bare) \"$CORAL_FOLDER/coral\" info '\(store.path)'")
        #expect(run.status == 1 && run.output.isEmpty)
        #expect(run.errors == "coral: The arguments cannot be read, because /proc is not mounted.\n")
    }

    @Test func `reading commands write nothing`() throws {
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

    @Test func `output to a file has no colours and no progress bar`() throws {
        let run = try CommandRun("check", store.path)
        #expect(!run.output.contains("\u{1B}"))
        #expect(run.errors.isEmpty)
    }

    @Test func `a store is backed up before it is changed`() throws {
        let run = try CommandRun("copy", store.path, "--entity", "Note", "--where", "rank == 0")
        #expect(run.status == 0)
        let line = try #require(run.errors.split(separator: "\n").first)
        let backup = String(line.dropFirst("Backup of the store: ".count))
        #expect(try CommandRun("info", backup).output.contains("Objects    6"))
        #expect(try CommandRun("info", store.path).output.contains("Objects    8"))
        let quiet = try CommandRun("copy", store.path, "--entity", "Note", "--where", "rank == 0", "--no-backup")
        #expect(quiet.errors.isEmpty)
    }

    @Test func `a failed import leaves no backup`() throws {
        let before = try store.contents().keys.sorted()
        let document = store.file("bad.json")
        try Data(#"{"Note":[{"title":{"x":1}}]}"#.utf8).write(to: URL(fileURLWithPath: document))
        let run = try CommandRun("import", document, "--into", store.path)
        #expect(run.status == 1)
        #expect(try store.contents().keys.filter { $0 != "bad.json" }.sorted() == before)
    }

    @Test func `files are replaced only with --force`() throws {
        let picture = store.file("notes.svg")
        #expect(try CommandRun("model", "diagram", store.path, "-o", picture).status == 0)
        let again = try CommandRun("model", "diagram", store.path, "-o", picture)
        #expect(again.status == 1)
        #expect(again.errors.contains("--force"))
        #expect(try CommandRun("model", "diagram", store.path, "-o", picture, "--force").status == 0)
        #expect(try CommandRun("export", store.path, "-o", store.path, "--force").status == 1)
    }

    @Test func `a file that is read is not replaced, whatever its path`() throws {
        let link = store.file("Link.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: store.path)
        let before = try store.contents()
        for arguments in [
            ["export", link, "-o", store.path, "--format", "json"],
            ["query", link, "--entity", "Note", "-o", store.path, "--csv"],
            ["subset", link, "--entity", "Note", "-o", store.path],
            ["model", "diagram", link, "-o", store.path, "--format", "svg"],
        ] {
            let run = try CommandRun(arguments + ["--force"])
            #expect(run.status == 1, "\(arguments)")
            #expect(run.errors.contains("would replace its input"), "\(run.errors)")
        }
        #expect(try CommandRun("check", link, "--repair", store.path, "--force").status == 1)
        #expect(try store.contents() == before)
    }

    @Test func `a folder is never replaced, even with --force`() throws {
        let folder = store.folder.appendingPathComponent("Kept")
        let model = store.file("Model.xcdatamodeld")
        #expect(try CommandRun("model", "convert", store.path, "-o", model).status == 0)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("file")
        try Data("mine".utf8).write(to: file)
        for arguments in [
            ["export", store.path, "-o"], ["query", store.path, "--entity", "Note", "-o"],
            ["subset", store.path, "--entity", "Note", "-o"], ["check", store.path, "--repair"],
            ["model", "compile", model, "-o"], ["model", "convert", store.path, "-o"],
        ] {
            let run = try CommandRun(arguments + [folder.path, "--force"])
            #expect(run.status == 1, "\(arguments)")
            #expect(FileManager.default.contents(atPath: file.path) == Data("mine".utf8), "\(arguments)")
        }
        // A source model is a folder too.
        let run = try CommandRun("model", "compile", model, "-o", model, "--force")
        #expect(run.status == 1)
        #expect(try CommandRun("model", "show", model).output.hasPrefix("Item\n"))
    }

    @Test func `closed or full streams are an error, not a crash`() throws {
        let path = "\"\(store.path)\""
        for (line, status) in [
            ("coral info \(path) >&-", 1), ("coral export \(path) >&-", 1), ("coral info \(path).absent 2>&-", 1),
            ("coral import - --into \(path) --no-backup <&-", 1),
            ("trap '' PIPE; (coral info \(path); echo $? >&2) | :", 0),
        ] {
            let run = try CommandRun(shell: line)
            #expect(run.status == Int32(status), "\(line): \(run.errors)")
            #expect(!run.errors.contains("crashed") && !run.errors.contains("Fatal"), "\(line): \(run.errors)")
        }
    }

    @Test func `a device is written to and not replaced`() throws {
        let run = try CommandRun(shell: "coral export \"\(store.path)\" -o /dev/fd/3 3>&1 | cat")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output == (try CommandRun("export", store.path).output))
    }

    @Test func `a document may be read from a pipe`() throws {
        let document = store.file("notes.json")
        #expect(try CommandRun("export", store.path, "-o", document).status == 0)
        let run = try CommandRun(shell: "cat \"\(document)\" | coral diff /dev/stdin \"\(store.path)\"")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output == "The two sides are equal.\n")
    }

    @Test func `an error in the rules leaves no backup`() throws {
        let before = try store.contents().keys.sorted()
        let run = try CommandRun("copy", store.path, "--entity", "Note", "--copy", "Note.tgas")
        #expect(run.errors == "coral: Note has no property \"tgas\". Did you mean \"tags\"?\n")
        #expect(try store.contents().keys.sorted() == before)
    }

    @Test func `a misspelt name in a document is reported`() throws {
        let document = Data(#"{"Tag":[{"nmae":"garden"}]}"#.utf8)
        let run = try CommandRun(["import", "-", "--into", store.path, "--no-backup"], input: document)
        #expect(run.status == 0)
        #expect(run.errors.contains("nmae"))
        let plan = try CommandRun(["import", "-", "--into", store.path, "--dry-run"], input: document)
        #expect(plan.output.contains("? ") && plan.output.contains("nmae"))
    }

    @Test func `standard input may be a document`() throws {
        let document = Data(#"{"Tag":[{"name":"garden"}]}"#.utf8)
        let run = try CommandRun(["import", "-", "--into", store.path, "--no-backup", "--json"], input: document)
        #expect(run.status == 0)
        let summary = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
        #expect(summary["insertCount"] as? Int == 1)
    }
}
