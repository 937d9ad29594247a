import Coral
import Foundation
import GRDB
import Testing

@testable import CoralCommand

/// Options of the output that several commands share: formats, time zones, colours, paging, proof.
@Suite struct OutputOptionTests {
    private let store: NotesStore

    init() throws { store = try NotesStore() }

    private func setDate(_ seconds: Double) throws {
        let queue = try DatabaseQueue(path: store.path)
        try queue.write { try $0.execute(sql: "UPDATE ZNOTE SET ZCREATEDAT = ? WHERE Z_PK = 1", arguments: [seconds]) }
        try queue.close()
    }

    @Test func `query without --entity lists the entities that have objects`() throws {
        let run = try CommandRun("query", store.path)
        #expect(run.output == "Entity  Objects\nItem          2\nNote          2\nPerson        1\nTag           1\n")
        #expect(try CommandRun("query", store.path, "--csv").output.hasPrefix("entity,count\r\nItem,2\r\n"))
        let json = try CommandRun("query", store.path, "--json").output
        #expect(try JSONDecoder().decode([[String: EntityValue]].self, from: Data(json.utf8)).count == 4)
        let wrong = try CommandRun("query", store.path, "--where", "rank > 1")
        #expect(wrong.status == 64)
        #expect(wrong.errors.contains("require --entity"))
    }

    private enum EntityValue: Decodable {
        case name(String)
        case count(Int)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            self = try (try? container.decode(Int.self)).map(Self.count) ?? .name(container.decode(String.self))
        }
    }

    @Test func `--csv is --format csv`() throws {
        let arguments = ["query", store.path, "--entity", "Note", "--columns", "title"]
        #expect(try CommandRun(arguments + ["--csv"]).output == CommandRun(arguments + ["--format", "csv"]).output)
        #expect(try CommandRun(arguments + ["--csv", "--json"]).status == 64)
        #expect(try CommandRun(arguments + ["--csv", "--format", "table"]).status == 64)
    }

    @Test func `a file's extension names its format, or is an error`() throws {
        let query = ["query", store.path, "--entity", "Note", "--columns", "title"]
        for (arguments, name, allowed) in [
            (["export", store.path], "chat.pdf", ".json"), (query, "x.numbers", ".csv, .json, .tsv"),
            (query, "x.xlsx", ".csv"),
            (["diff", store.path, store.path], "changes.csv", ".json"),
            (["model", "diagram", store.path], "model.png", ".svg"),
        ] {
            let run = try CommandRun(arguments + ["-o", store.file(name)])
            #expect(run.status == 1, "\(name)")
            #expect(run.errors.contains("\(name) names a format") && run.errors.contains(allowed), "\(run.errors)")
            #expect(!FileManager.default.fileExists(atPath: store.file(name)))
        }
        let table = try CommandRun("export", store.path, "-o", store.file("chat.csv"))
        #expect(table.status == 1 && table.errors.contains("--format csv -o tables"), "\(table.errors)")
        // The format that is asked for applies to any name, and a file has the whole values.
        let long = String(repeating: "long ", count: 40)
        let queue = try DatabaseQueue(path: store.path)
        try queue.write { try $0.execute(sql: "UPDATE ZNOTE SET ZTITLE = ?", arguments: [long]) }
        try queue.close()
        #expect(try CommandRun(query + ["-o", store.file("x.tsv"), "--csv"]).status == 0)
        #expect(try CommandRun(query + ["-o", store.file("x")]).status == 0)
        for name in ["x.tsv", "x"] {
            #expect(try String(contentsOfFile: store.file(name), encoding: .utf8).contains(long), "\(name)")
        }
        #expect(try CommandRun(query + ["-o", store.file("x.txt"), "--format", "table"]).status == 0)
        #expect(try !String(contentsOfFile: store.file("x.txt"), encoding: .utf8).contains(long))
    }

    @Test func `a file that appears while a command works is kept, and a confirmed one is replaced`() throws {
        let path = store.file("notes.txt")
        let file = try OutputFile.parse(["-o", path])
        try file.requireFree()
        try Data("other".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: (any Error).self) { try file.write("mine") }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "other")
        // A file is also kept if it appears after the sink was opened.
        let second = store.file("second.txt")
        let opened = try OutputFile.parse(["-o", second])
        try opened.requireFree()
        let sink = try opened.sink()
        try Data("other".utf8).write(to: URL(fileURLWithPath: second))
        try Data("mine".utf8).withUnsafeBytes { try sink.write($0) }
        #expect(throws: (any Error).self) { try sink.finish() }
        #expect(try String(contentsOfFile: second, encoding: .utf8) == "other")
        let forced = try OutputFile.parse(["-o", path, "--force"])
        try forced.requireFree()
        try forced.write("mine")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
    }

    @Test func `a store that appears while a command works is kept`() throws {
        let path = store.file("New.sqlite")
        let occupant = try Confirmation.occupant(path, isForced: false)
        #expect(occupant == .nothing)
        #expect(try Confirmation.occupant(path, isForced: true) == .file)
        try Data("other".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try Confirmation.occupant(path, isForced: true) == .file)
        #if !canImport(Darwin)
            let database = try DeletedObjectDatabase(at: path, isReplaced: occupant == .file)
            #expect(throws: (any Error).self) { try database.write([]) }
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "other")
        #endif
    }

    @Test func `dates of the first years have a calendar date`() throws {
        try setDate(Date.distantPast.timeIntervalSinceReferenceDate)
        let query = try CommandRun("query", store.path, "--entity", "Note", "--columns", "createdAt", "--csv")
        #expect(query.output.contains("0001-01-01T00:00:00.000Z"))
        let zoned = try CommandRun("get", store.path, "Note/p1", "--time-zone", "+02:00").output
        #expect(zoned.contains("0001-01-01T02:00:00.000+02:00"), "\(zoned)")
        let condition = "createdAt == \"0001-01-01T00:00:00Z\""
        let found = try CommandRun(
            "query", store.path, "--entity", "Note", "--where", condition, "--columns", "title", "--csv")
        #expect(found.output.split(separator: "\r\n").count == 2, "\(found.errors)")
        let change = try CommandRun(
            "set", store.path, "--entity", "Note", "--where", "TRUEPREDICATE", "createdAt=1500-02-29T00:00:00Z",
            "--dry-run")
        #expect(change.output.contains("1500-02-29T00:00:00.000Z"), "\(change.errors)")
        // A date that is before the first year in the zone is written in UTC.
        let west = try CommandRun("get", store.path, "Note/p1", "--time-zone=-02:00").output
        #expect(west.contains("0001-01-01T00:00:00.000Z"), "\(west)")
    }

    @Test func `a date outside the calendar is accepted as it is written`() throws {
        try setDate(252_423_993_600)
        let note = ["query", store.path, "--entity", "Note", "--columns", "title", "--csv"]
        #expect(try CommandRun("get", store.path, "Note/p1").output.contains("@252423993600.0"))
        let found = try CommandRun(note + ["--where", "createdAt == '@252423993600.0'"])
        #expect(found.output.split(separator: "\r\n").count == 2, "\(found.errors)")
        // A browser does not send a form if the value of a field does not match its pattern, even an unchanged value.
        let page = try RunningServer(store.path, "--writable", "--no-backup").get("object?id=Note/p1").body
        let field = try #require(page.firstMatch(of: /value="(@252423993600[^"]*)"[^>]*pattern="([^"]*)"/))
        let pattern = try Regex(String(field.2))
        #expect(try pattern.wholeMatch(in: String(field.1)) != nil)
        let arguments = ["set", store.path, "--entity", "Note", "--where", "TRUEPREDICATE", "--yes", "--no-backup"]
        #expect(try CommandRun(arguments + ["createdAt=@-252423993600.5"]).status == 0)
        #expect(try CommandRun("get", store.path, "Note/p1").output.contains("@-252423993600.5"))
        for wrong in ["@", "@x", "@NaN", "@Infinity"] {
            #expect(try CommandRun(arguments + ["createdAt=\(wrong)"]).status == 1, "\(wrong)")
        }
    }

    /// A quarter of a second past noon on 1 March, and the hour that is skipped or repeated in Berlin.
    @Test(arguments: [
        (730_987_200.25, "Europe/Berlin", "2024-03-01T13:00:00.250+01:00"),
        (730_987_200.25, "-05:30", "2024-03-01T06:30:00.250-05:30"),
        (730_987_200.25, "UTC", "2024-03-01T12:00:00.250+00:00"),
        (733_539_600, "Europe/Berlin", "2024-03-31T03:00:00.000+02:00"),
        // 1880: the offset of the zone was 53 minutes and 28 seconds.
        (-3_818_448_000, "Europe/Berlin", "1880-01-01T00:53:00.000+00:53"),
    ])
    func `dates are written in a time zone`(_ seconds: Double, _ zone: String, _ text: String) throws {
        try setDate(seconds)
        let query = ["query", store.path, "--entity", "Note", "--columns", "createdAt", "--limit", "1"]
        #expect(try CommandRun(query + ["--csv", "--time-zone=\(zone)"]).output == "createdAt\r\n\(text)\r\n")
        #expect(try CommandRun(query + ["--json", "--time-zone=\(zone)"]).output.contains("\"\(text)\""))
        #expect(try CommandRun("get", store.path, "Note/p1", "--time-zone=\(zone)").output.contains(text))
    }

    @Test func `dates in a predicate are in the time zone, unless they state one`() throws {
        try setDate(730_987_200)
        func count(_ predicate: String, _ zone: String) throws -> Int {
            let run = try CommandRun(
                "query", store.path, "--entity", "Note", "--where", predicate, "--time-zone=\(zone)", "--csv")
            return run.output.components(separatedBy: "\r\n").count - 2
        }
        #expect(try count("createdAt == '2024-03-01T13:00:00'", "Europe/Berlin") == 1)
        #expect(try count("createdAt == '2024-03-01T12:00:00'", "Europe/Berlin") == 0)
        #expect(try count("createdAt == '2024-03-01T12:00:00Z'", "Europe/Berlin") == 1)
        let wrong = try CommandRun("query", store.path, "--entity", "Note", "--time-zone", "Europe/Berlni")
        #expect(wrong.status == 64)
        #expect(wrong.errors.contains("Did you mean \"Europe/Berlin\"?"), "\(wrong.errors)")
    }

    @Test func `info omits entities without objects, and shows sizes`() throws {
        let queue = try DatabaseQueue(path: store.path)
        try queue.write { try $0.execute(sql: "DELETE FROM ZPERSON; UPDATE ZNOTE SET ZAUTHOR = NULL") }
        try queue.close()
        let run = try CommandRun("info", store.path)
        #expect(!run.output.contains("\nPerson "))
        #expect(run.output.hasSuffix("1 entity without objects not shown; --all shows all entities.\n"))
        let all = try CommandRun("info", store.path, "--all")
        #expect(all.output.contains("\nPerson "))
        #expect(try CommandRun("info", store.path, "--json").output.contains("\"Person\""))
        #if !canImport(Darwin)
            #expect(run.output.contains("kB"))
        #endif
    }

    @Test func `--proof writes the hashes before and after, and has the exit code of the command`() throws {
        let expected = try CommandRun(shell: "sha256sum '\(store.path)'").output.prefix(64)
        for arguments in [
            ["info", store.path], ["query", store.path, "--entity", "Note"], ["get", store.path, "Note/p1"],
            ["export", store.path], ["check", store.path],
        ] {
            let run = try CommandRun(arguments + ["--proof"])
            #expect(run.status == 0, "\(run.errors)")
            #expect(run.errors.components(separatedBy: expected).count == 3, "\(run.errors)")
            #expect(run.errors.hasSuffix("No file has changed.\n"))
        }
        #expect(try CommandRun("query", store.path, "--entity", "Nite", "--proof").status == 1)
        let changed = try CommandRun(
            shell: """
                mkfifo '\(store.folder.path)/pipe'
                (coral export '\(store.path)' --proof > '\(store.folder.path)/pipe'; echo "status $?") &
                exec 3< '\(store.folder.path)/pipe'; sleep 1; echo >> '\(store.path)'; cat <&3 > /dev/null; wait
                """)
        // The command may have ended before the file changed.
        #expect(changed.output.contains("status 1") || changed.errors.contains("No file has changed"))
    }

    @Test func `--quiet omits reports, but not errors`() throws {
        let document = store.file("notes.json")
        #expect(try CommandRun("export", store.path, "-o", document).errors.contains("written to"))
        let run = try CommandRun("export", store.path, "-o", document, "--force", "--quiet")
        #expect(run.status == 0 && run.errors.isEmpty, "\(run.errors)")
        let copied = try CommandRun("copy", store.path, "--entity", "Tag", "--quiet")
        #expect(copied.status == 0 && copied.errors.isEmpty, "\(copied.errors)")
        #expect(try CommandRun("export", store.path + "x", "--quiet").errors.contains("There is no store"))
    }

    @Test func `colours follow NO_COLOR, CLICOLOR and CLICOLOR_FORCE`() throws {
        let line = "coral query '\(store.path)'"
        func isColoured(_ environment: String) throws -> Bool {
            try CommandRun(
                shell:
                    "env -u NO_COLOR -u CLICOLOR \(environment) sh -c \"'$CORAL_FOLDER/coral' query '\(store.path)'\""
            )
            .output.contains("\u{1B}[1m")
        }
        #expect(try !CommandRun(shell: line).output.contains("\u{1B}"))
        #expect(try isColoured("CLICOLOR_FORCE=1"))
        #expect(try !isColoured("CLICOLOR_FORCE=0"))
        #expect(try !isColoured("CLICOLOR_FORCE=1 NO_COLOR=1"))
    }

    @Test func `long text in a terminal is shown by the program of PAGER`() throws {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/script") else {
            print("script is not installed: nothing is run on a terminal")
            return
        }
        let large = try NotesStore(titles: (0..<60).map { "Note \($0)" })
        func run(_ pager: String, _ path: String) throws -> String {
            try CommandRun(
                shell: """
                    PATH="$CORAL_FOLDER:$PATH" PAGER='\(pager)' TERM=xterm script -qec \
                    "stty rows 24; coral query \(path) --entity Note --columns title" /dev/null
                    """
            ).output
        }
        #expect(try run("tail -1; echo paged", large.path).contains("paged"))
        #expect(try !run("tail -1; echo paged", store.path).contains("paged"))
        #expect(try run("cat", large.path).contains("Note 59"))
        #expect(try run("no-such-program", large.path).contains("Note 59"))
    }
}
