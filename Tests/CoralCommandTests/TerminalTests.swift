import ChildProcesses
import Coral
import Foundation
import Testing

@testable import CoralCommand

/// Values that contain control characters are escaped in a terminal.
@Suite struct TerminalTests {
    /// Escape sequences of seven and of eight bits, a delete, a carriage return, bidirectional marks and overrides.
    private static let hostile = "a\u{1B}[2Jb\u{9B}31mc\u{7F}d\u{202E}e\u{2066}f\u{8}g\rh\u{200F}"
    private static let shown =
        "a\\u001B[2Jb\\u009B31mc\\u007Fd\\u202Ee\\u2066f\\u0008g\\u000Dh\\u200F"

    @Test func `control characters are escaped, and everything else is unchanged`() {
        #expect(TerminalEscaping.escaped(Self.hostile) == Self.shown)
        for text in ["", "plain", "tab\tand\nbreak", "CSV\r\nlines\r\n", "é 中 👩‍👩‍👧 ⏎ ━"] {
            #expect(TerminalEscaping.escaped(text) == text)
        }
        #expect(TerminalEscaping.escaped("\r") == "\\u000D")
    }

    @Test func `a sink escapes the same characters, however its text is divided`() throws {
        let text = Self.hostile + "é 中 👩‍👩‍👧\r\n" + Self.hostile + "\r"
        let bytes = Array(text.utf8)
        for size in [1, 2, 3, 5, 7, bytes.count] {
            let memory = MemorySink()
            let sink = TerminalSink(memory)
            for start in stride(from: 0, to: bytes.count, by: size) {
                try bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { try sink.write($0) }
            }
            try sink.finish()
            #expect(String(decoding: memory.data, as: UTF8.self) == TerminalEscaping.escaped(text), "\(size)")
        }
    }

    /// The output of a command in a terminal of its own; nil if there is no program to create one.
    private func terminal(_ arguments: String, in store: NotesStore) throws -> String? {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/script") else { return nil }
        let run = try CommandRun(
            shell:
                "PATH=\"$CORAL_FOLDER:$PATH\" env -u NO_COLOR TERM=xterm script -qec '\(arguments)' /dev/null < /dev/null"
        )
        return run.output
    }

    @Test func `a terminal receives no control characters from a store`() throws {
        let store = try NotesStore(titles: [Self.hostile])
        let path = store.path
        let document = store.file("changed.json")
        try Data(#"{"Note":[{"title":"\u001B]0;x\u0007"}]}"#.utf8).write(to: URL(fileURLWithPath: document))
        let other = try NotesStore(titles: ["other\u{1B}[8m"])
        for arguments in [
            "coral query \(path) --entity Note --columns title", "coral query \(path) --entity Note --format csv",
            "coral query \(path) --entity Note --json", "coral export \(path)", "coral export \(path) --format xml",
            "coral import \(document) --into \(path) --dry-run", "coral diff \(path) \(other.path) --match ids",
        ] {
            guard let output = try terminal(arguments, in: store) else {
                print("script is not installed: nothing is run on a terminal")
                return
            }
            #expect(output.contains("\\u00"), "\(arguments): \(output.debugDescription)")
            #expect(
                output.firstMatch(of: /<[0-9A-F]{8}-[0-9A-F]{4}-/) == nil, "\(arguments): \(output.debugDescription)")
            if arguments.hasSuffix("--columns title") { #expect(output.contains("\u{1B}[1mtitle")) }
            // Removes the command's own styles, and the sequence that clears the progress bar.
            let rest = output.replacingOccurrences(of: "\u{1B}\\[([0-9]+m|K)", with: "", options: .regularExpression)
            for scalar in ["\u{1B}", "\u{9B}", "\u{202E}", "\u{2066}", "\u{7}", "\u{8}", "\u{7F}"] {
                #expect(!rest.contains(scalar), "\(arguments): \(output.debugDescription)")
            }
        }
    }

    @Test func `a file receives the values unchanged`() throws {
        let store = try NotesStore(titles: [Self.hostile])
        let run = try CommandRun("query", store.path, "--entity", "Note", "--columns", "title", "--format", "csv")
        #expect(run.output == "title\r\n\"\(Self.hostile)\"\r\n")
    }

    @Test func `no text in CSV is a formula with --csv-safe`() throws {
        let store = try NotesStore(titles: ["=1+1", "-1", "+1", "@SUM(A1)", "\t=1", "＝1", "a=1", ""])
        let arguments = ["query", store.path, "--entity", "Note", "--columns", "title,rank", "--format", "csv"]
        let plain = try CommandRun(arguments).output.components(separatedBy: "\r\n")
        #expect(plain.contains("=1+1,"))
        let safe = try CommandRun(arguments + ["--csv-safe"]).output.components(separatedBy: "\r\n")
        // The order depends on the primary keys, which one save assigns in any order.
        #expect(
            safe.dropFirst().dropLast().sorted()
                == ["'=1+1,", "'-1,", "'+1,", "'@SUM(A1),", "'\t=1,", "'＝1,", "a=1,", ","].sorted())
        #expect(try CommandRun("query", store.path, "--entity", "Note", "--csv-safe").status == 64)
    }
}
