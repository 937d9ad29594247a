import Coral
import Foundation
import GRDB
import Testing

@testable import CoralCommand

/// What commands say: quantities, counts, and what they leave out.
@Suite struct SmallOutputTests {
    @Test(arguments: [
        (1, "1 byte"), (999, "999 bytes"), (1000, "1.0 kB"), (999_949, "999.9 kB"), (999_950, "1.0 MB"),
        (999_960, "1.0 MB"), (999_999_999, "1.0 GB"), (1_500_000_000_000_000, "1500.0 TB"),
    ])
    func `sizes never have four digits before the point`(_ count: Int64, _ text: String) {
        #expect(Quantity.bytes(count) == text)
    }

    @Test func `the check counts problems, not kinds of problems`() throws {
        let store = try NotesStore()
        let queue = try DatabaseQueue(path: store.path)
        try queue.write { try $0.execute(sql: "UPDATE ZITEM SET ZNOTE = 77; UPDATE ZNOTE SET ZAUTHOR = 88") }
        try queue.close()
        let output = try CommandRun("check", store.path).output
        let counts = output.matches(of: /(?m)^(\d+)×[ ]/).compactMap { Int($0.1) }
        #expect(counts.count > 1)
        #expect(output.contains("\n\(counts.reduce(0, +)) problems of \(counts.count) kinds"), "\(output)")
    }

    @Test func `a difference shows all attributes of an object`() throws {
        let accounts = try AccountsStore()
        let other = try AccountsStore()
        let queue = try DatabaseQueue(path: other.path)
        try queue.write { try $0.execute(sql: "DELETE FROM ZACCOUNT WHERE Z_PK = 1") }
        try queue.close()
        let run = try CommandRun("diff", accounts.path, other.path, "--match", "ids")
        let line = run.output.split(separator: "\n").first { $0.hasPrefix("- Account/p1") } ?? ""
        for name in ["balance", "class", "createdAt", "name", "photo", "ratio", "site", "token"] {
            #expect(line.contains("\(name) = "), "\(name): \(run.output)\(run.errors)")
        }
    }

    @Test func `a subset says what it omits, and what was not redacted`() throws {
        let store = try NotesStore()
        let run = try CommandRun(
            "subset", store.path, "--entity", "Note", "--limit", "1", "-o", store.file("part.sqlite"), "--redact",
            "Note.title=shape")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains("which is not in the subset."), "\(run.errors)")
        #expect(!run.errors.contains("is not copied"))
        let line = run.errors.split(separator: "\n").first { $0.hasPrefix("Not redacted in Note: ") } ?? ""
        #expect(line.contains("body") && !line.contains("title"), "\(run.errors)")
    }

    @Test func `a subset is redacted as far as there are substitutes, and the rest is listed`() throws {
        let store = try NotesStore()
        let part = store.file("part.sqlite")
        let run = try CommandRun("subset", store.path, "--entity", "Note", "--redact-all", "-o", part)
        #expect(run.status == 0, "\(run.errors)")
        let lines = run.errors.split(separator: "\n").filter { $0.hasPrefix("Not redacted in ") }
        #expect(lines.contains { $0.hasPrefix("Not redacted in Note: ") && $0.contains("rank") }, "\(run.errors)")
        #expect(!lines.contains { $0.contains("title") || $0.contains("name") || $0.contains("site") }, "\(run.errors)")
        let text = try CommandRun("export", part).output
        #expect(try CommandRun("export", store.path).output.contains("Groceries"))
        for value in ["Groceries", "Garden", "Ada", "home", "example.com"] {
            #expect(!text.contains(value), "\(value)")
        }
        // An attribute of its own has the substitute that it states.
        let other = store.file("other.sqlite")
        let stated = try CommandRun(
            "subset", store.path, "--entity", "Note", "--redact-all", "--redact", "Note.title=text:hidden", "-o", other)
        #expect(stated.status == 0, "\(stated.errors)")
        let titles = try CommandRun("query", other, "--entity", "Note", "--columns", "title", "--csv").output
        #expect(titles == "title\r\nhidden\r\nhidden\r\n", "\(titles)")
    }

    @Test(arguments: ["diff", "verify", "subset", "convert", "salvage"])
    func `commands that read prove that they do`(_ command: String) throws {
        let store = try NotesStore()
        let more: [String] =
            switch command {
            case "diff": [store.path]
            case "subset": ["--entity", "Note", "-o", store.file("new.sqlite")]
            case "convert", "salvage": ["-o", store.file("new.sqlite")]
            default: []
            }
        let run = try CommandRun([command, store.path, "--proof"] + more)
        #expect(run.status == 0 && run.errors.contains("No file has changed."), "\(run.errors)")
        #expect(run.errors.contains("Notes.sqlite  (before)"), "\(run.errors)")
    }

    @Test func `a save that waits for another process says so`() throws {
        let store = try NotesStore()
        let queue = try DatabaseQueue(path: store.path)
        let command = LockedSet()
        try queue.write { database in
            try database.execute(sql: "UPDATE ZNOTE SET ZRANK = ZRANK")
            command.start(store.path)
            Thread.sleep(forTimeInterval: 4)
        }
        let run = try command.result()
        #expect(run.errors.contains("The save takes long."), "\(run.errors)")
        #expect(run.status == 0, "\(run.errors)")
    }

    /// `coral set` on a thread of its own.
    private final class LockedSet: @unchecked Sendable {
        // Unchecked, because the result is read after the thread has ended.
        private var outcome: Result<CommandRun, any Error>?
        private let end = DispatchSemaphore(value: 0)

        func start(_ path: String) {
            Thread.detachNewThread {
                self.outcome = Result {
                    try CommandRun(
                        "set", path, "--entity", "Person", "--where", "TRUEPREDICATE", "name=Grace", "--yes",
                        "--no-backup")
                }
                self.end.signal()
            }
        }

        func result() throws -> CommandRun {
            end.wait()
            return try #require(outcome).get()
        }
    }
}
