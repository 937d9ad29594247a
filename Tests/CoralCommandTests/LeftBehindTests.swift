import ChildProcesses
import Coral
import Foundation
import NotesModel
import Testing

/// The files after a command that cannot finish: those that existed before, and no others.
@Suite(.serialized) struct LeftBehindTests {
    private let store: NotesStore

    /// Whether stores can be repaired: this needs their rows, and therefore this package's engine.
    private static var canRepair: Bool {
        #if !canImport(Darwin)
            true
        #else
            false
        #endif
    }

    init() throws { store = try NotesStore() }

    /// Every command that creates a file, with the name of the file.
    private func writers(to folder: (String) -> String, document: String) -> [[String]] {
        var writers = [
            ["export", store.path, "-o", folder("out.json"), "--force"],
            ["export", store.path, "-o", folder("out.html"), "--force"],
            ["query", store.path, "--entity", "Note", "-o", folder("out.csv"), "--force"],
            ["diff", store.path, document, "-o", folder("out.diff.json"), "--force"],
            ["subset", store.path, "--entity", "Note", "-o", folder("Out.sqlite"), "--force"],
            ["import", document, "--into", folder("New.sqlite"), "--model", store.path],
            ["import", document, "--into", folder("New.sqlite"), "--model", store.path, "--restore"],
            ["model", "convert", store.path, "-o", folder("Out.momd"), "--force"],
            ["model", "diagram", store.path, "-o", folder("out.svg"), "--force"],
        ]
        if Self.canRepair { writers.append(["check", store.path, "--repair", folder("Out.sqlite"), "--force"]) }
        return writers
    }

    /// A document that differs from the store.
    private func makeDocument() throws -> String {
        let document = store.file("notes.json")
        let export = try CommandRun("export", store.path, "-o", document)
        #expect(export.status == 0, "\(export.errors)")
        let text = try String(contentsOfFile: document, encoding: .utf8)
        try text.replacingOccurrences(of: "Groceries", with: "Gardening").write(
            toFile: document, atomically: true, encoding: .utf8)
        return document
    }

    @Test func `a full disk leaves existing files unchanged`() throws {
        let document = try makeDocument()
        for kilobytes in [0, 8, 24] {
            guard let folder = try MountedFolder(kilobytes: 2048) else { return }
            for arguments in writers(to: folder.file, document: document) where arguments.contains("--force") {
                // The existing files, created by an undisturbed run.
                let status = try CommandRun(arguments).status
                #expect(status == 0 || status == 2, "\(arguments)")
            }
            try folder.fill(leaving: kilobytes)
            let before = try folder.contents()
            for arguments in writers(to: folder.file, document: document) {
                let run = try CommandRun(arguments)
                let after = try folder.contents()
                #expect(!after.keys.contains { $0.hasSuffix(".partial") }, "\(arguments): \(after.keys.sorted())")
                // A file that fits is written; otherwise everything is unchanged.
                if run.status == 1 { #expect(after == before, "\(arguments): \(run.errors)") }
                if kilobytes == 0 { #expect(run.status == 1, "\(arguments): \(run.output)") }
                // The error names the file for which there is no space, not the store that is read, and not a file that no
                // longer exists.
                if run.status == 1, arguments[0] == "check" {
                    #expect(
                        run.errors.contains("\(folder.file("Out.sqlite")): There is no space left"), "\(run.errors)")
                }
                if after != before { break }
            }
        }
    }

    @Test func `a change on a full disk leaves the store unchanged`() throws {
        guard let folder = try MountedFolder(kilobytes: 1024) else { return }
        let path = folder.file("Notes.sqlite")
        try FileManager.default.copyItem(atPath: store.path, toPath: path)
        try folder.fill(leaving: 0)
        let document = try makeDocument()
        for arguments in [
            ["copy", path, "--entity", "Note"], ["import", document, "--into", path, "--key", "Note=rank"],
        ] {
            for more in [[], ["--no-backup"]] {
                let run = try CommandRun(arguments + more)
                #expect(run.status == 1, "\(arguments): \(run.output)")
                #expect(
                    Set(try folder.contents().keys).subtracting(["Notes.sqlite-wal", "Notes.sqlite-shm"]) == [
                        "Notes.sqlite"
                    ])
                let info = try CommandRun("info", path)
                #expect(info.output.contains("Objects    6"), "\(info.errors)")
            }
        }
    }

    @Test func `nothing is created in a read-only folder`() throws {
        let document = try makeDocument()
        guard let folder = try MountedFolder(kilobytes: 2048) else { return }
        try Data("old".utf8).write(to: URL(fileURLWithPath: folder.file("out.json")))
        try folder.makeReadOnly()
        for arguments in writers(to: folder.file, document: document) {
            let run = try CommandRun(arguments)
            #expect(run.status == 1, "\(arguments): \(run.output)")
            #expect(!run.errors.contains(".partial"), "\(run.errors)")
            #expect(try folder.contents() == ["out.json": Data("old".utf8)])
        }
    }

    @Test func `nothing is created or read without permission`() throws {
        // The superuser has all permissions.
        let user = getuid() == 0 ? "setpriv --reuid 65534 --regid 65534 --clear-groups " : ""
        let folder = store.folder.appendingPathComponent("closed")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        chmod(store.folder.path, 0o755)
        guard try CommandRun(shell: "\(user)\"\(CommandRun.tool.path)\" info '\(store.path)'").status == 0 else {
            print("Skipped: no other user can run the command here.")
            return
        }
        chmod(folder.path, 0o555)
        let document = try makeDocument()
        chmod(document, 0o644)
        for arguments in writers(to: { folder.appendingPathComponent($0).path }, document: document) {
            let words = arguments.map { "'\($0)'" }.joined(separator: " ")
            let run = try CommandRun(shell: "\(user)\"\(CommandRun.tool.path)\" \(words)")
            #expect(run.status == 1, "\(arguments): \(run.output)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        }
        chmod(store.path, 0)
        let run = try CommandRun(shell: "\(user)\"\(CommandRun.tool.path)\" info '\(store.path)'")
        #expect(run.status == 1)
    }

    @Test func `a change whose report cannot be written is made once, with its own exit code`() throws {
        try #require(FileManager.default.fileExists(atPath: "/dev/full"))
        let document = store.file("more.json")
        try Data(#"{"Tag": [{"name": "new"}]}"#.utf8).write(to: URL(fileURLWithPath: document))
        let (path, json) = ("'\(store.path)'", "'\(document)'")
        for (line, count) in [
            ("coral copy \(path) --entity Person", 7), ("coral copy \(path) --entity Person --json", 9),
            ("coral import \(json) --into \(path)", 10),
            ("coral subset \(path) --entity Note -o '\(store.file("Part.sqlite"))'", 10),
            ("coral check \(path) --repair '\(store.file("Copy.sqlite"))'", 10),
            ("coral import \(json) --into '\(store.file("New.sqlite"))' --model \(path)", 10),
        ] where Self.canRepair || !line.contains("--repair") {
            let run = try CommandRun(shell: "\(line) >/dev/full")
            #expect(run.status == 3, "\(line): \(run.errors)")
            #expect(run.errors.contains("The change was made, but its report could not be written."))
            #expect(try CommandRun("info", store.path).output.contains("Objects    \(count)\n"), "\(line)")
        }
        #expect(try CommandRun("info", store.file("New.sqlite")).output.contains("Objects    1\n"))
        #expect(try CommandRun("info", store.file("Part.sqlite")).status == 0)
        for line in ["coral info \(path)", "coral export \(path)", "coral copy \(path) --entity Note --dry-run"] {
            #expect(try CommandRun(shell: "\(line) >/dev/full").status == 1, "\(line)")
        }
    }

    @Test func `nothing is changed if the output is closed from the beginning`() throws {
        let before = try store.contents()
        let path = "'\(store.path)'"
        for line in [
            "coral copy \(path) --entity Note >&-", "(sleep 1; coral copy \(path) --entity Note; echo $? >&2) | :",
            "coral subset \(path) --entity Note -o '\(store.file("Part.sqlite"))' >&-",
            "coral check \(path) --repair '\(store.file("Copy.sqlite"))' >&-",
        ] where Self.canRepair || !line.contains("--repair") {
            let run = try CommandRun(shell: line)
            #expect(run.errors.contains("Nothing was changed."), "\(line): \(run.errors)")
            #expect(try store.contents() == before, "\(line)")
        }
    }

    @Test func `messages for a closed stream are not written to another file`() throws {
        let output = store.file("out.json")
        let run = try CommandRun(shell: "coral export '\(store.path)' -o '\(output)' 2>&- 0>&-")
        #expect(run.status == 0)
        #expect(
            try Data(contentsOf: URL(fileURLWithPath: output)) == Data(try CommandRun("export", store.path).output.utf8)
        )
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `a command that is interrupted or terminated leaves existing files unchanged`(signal: Int32) throws {
        let status = 128 + signal
        // Its import takes some ten times as long as the time until the signal.
        let notes = (0..<300_000).map { #"{"title": "Note \#($0)", "items": []}"# }.joined(separator: ",")
        let document = store.file("large.json")
        try Data(#"{"Note": [\#(notes)]}"#.utf8).write(to: URL(fileURLWithPath: document))
        let before = try store.contents()
        for arguments in [
            ["import", document, "--into", store.file("New.sqlite"), "--model", store.path],
            ["import", document, "--into", store.path],
        ] {
            let null = URL(fileURLWithPath: "/dev/null")
            let process = try ChildProcess(CommandRun.tool, arguments, output: null, errors: null)
            Thread.sleep(forTimeInterval: 0.8)
            process.send(signal)
            let ended = process.wait()
            // A signal that arrives before the first work ends the process at once.
            #expect(ended == status || ended == signal, "\(arguments)")
            var after = try store.contents()
            for name in ["Notes.sqlite-wal", "Notes.sqlite-shm"] { after[name] = nil }
            #expect(after.keys.sorted() == before.keys.sorted(), "\(arguments)")
            #expect(try CommandRun("info", store.path).output.contains("Objects    6\n"))
        }
    }

    @Test func `a terminated command reports that its output is incomplete`() throws {
        let many = try NotesStore(titles: (0..<3000).map { "Note \($0)" })
        // The reader takes one byte, terminates the writer, which waits for the full pipe, gives it time to handle the
        // signal, and then reads the rest.
        let run = try CommandRun(
            shell: """
                cd '\(many.folder.path)'
                ("$CORAL_FOLDER/coral" export Notes.sqlite 2>errors & echo $! >pid; wait $!; echo $? >status) |
                (head -c 1 >/dev/null; until [ -s pid ]; do sleep 0.1; done; kill -TERM $(cat pid); sleep 2; cat >/dev/null)
                cat status errors
                """)
        #expect(run.output == "143\ncoral: Terminated. The output is incomplete; no file was changed.\n")
    }

    @Test func `a failed import leaves no new store`() throws {
        let document = store.file("bad.json")
        try Data(#"{"Note": [{"title": "good"}, {"rank": "high"}]}"#.utf8).write(to: URL(fileURLWithPath: document))
        let before = try store.contents().keys.sorted()
        for more in [[], ["--restore"]] {
            let run = try CommandRun(
                ["import", document, "--into", store.file("New.sqlite"), "--model", store.path] + more)
            #expect(run.status == 1)
            #expect(try store.contents().keys.sorted() == before)
        }
    }

    @Test func `a link to a store is resolved, also for its log and its backup`() throws {
        let link = store.file("links/Link.sqlite")
        try FileManager.default.createDirectory(atPath: store.file("links"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "../Notes.sqlite")
        let run = try CommandRun("copy", link, "--entity", "Note", "--where", "rank == 0")
        #expect(run.status == 0, "\(run.errors)")
        let backup = try #require(try store.contents().keys.first { $0.hasPrefix("Notes-before-") })
        #expect(try CommandRun("info", store.file(backup)).output.contains("Objects    6\n"))
        #expect(try CommandRun("info", store.path).output.contains("Objects    8\n"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.file("links")) == ["Link.sqlite"])
        // A file written through a link replaces the link's target.
        for (name, arguments) in [
            ("Part.sqlite", ["subset", store.path, "--entity", "Note", "--force", "-o"]),
            ("Copy.sqlite", ["check", store.path, "--force", "--repair"]),
            ("all.json", ["export", store.path, "--force", "-o"]),
        ] where Self.canRepair || !arguments.contains("--repair") {
            let place = store.file("links/\(name)")
            try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: "../\(name)")
            for _ in 1...2 {
                #expect(try CommandRun(arguments + [place]).status == 0, "\(arguments)")
                #expect(try FileManager.default.destinationOfSymbolicLink(atPath: place) == "../\(name)")
                #expect(try store.contents()[name]?.isEmpty == false, "\(arguments)")
            }
        }
    }

    @Test func `files that are read are not replaced: logs, models, hard links, links, parts of a bundle`() throws {
        let (hard, link) = (store.file("Hard.sqlite"), store.file("Link.sqlite"))
        try FileManager.default.linkItem(atPath: store.path, toPath: hard)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "Notes.sqlite")
        let model = store.file("Model.momd")
        #expect(try CommandRun("model", "convert", store.path, "-o", model).status == 0)
        let part = try #require(
            try FileManager.default.contentsOfDirectory(atPath: model).first { $0.hasSuffix(".mom") })
        let document = try makeDocument()
        let before = try store.contents()
        let support = store.folder.appendingPathComponent(".Notes_SUPPORT/_EXTERNAL_DATA/x").path
        for arguments in [
            ["export", store.path, "-o", store.path + "-wal"], ["export", store.path, "-o", store.path + "-shm"],
            ["export", store.path, "-o", store.path + "-journal"], ["export", link, "-o", store.path + "-wal"],
            ["export", store.path, "-o", hard, "--format", "json"],
            ["export", store.path, "-o", link, "--format", "json"],
            ["export", store.path, "-o", support],
            ["export", store.path, "--model", model, "-o", model + "/" + part],
            ["query", store.path, "--entity", "Note", "--model", hard, "-o", hard, "--format", "csv"],
            ["subset", store.path, "--entity", "Note", "-o", hard],
            ["subset", store.path, "--entity", "Note", "-o", store.path + "-wal"],
            ["subset", store.path, "--entity", "Note", "--model", model, "-o", model + "/" + part],
            ["check", store.path, "--repair", store.path + "-wal"],
            ["diff", document, store.path, "-o", document],
            ["diff", store.path, document, "-o", document + ".files/1"],
            ["model", "diagram", store.path, "-o", store.path + "-wal"],
            ["model", "convert", model + "/" + part, "-o", model],
        ] where Self.canRepair || !arguments.contains("--repair") {
            let run = try CommandRun(arguments + ["--force"])
            #expect(run.status == 1, "\(arguments): \(run.output)")
            #expect(run.errors.contains("would replace its input"), "\(arguments): \(run.errors)")
        }
        let log = try CommandRun("import", document, "--into", String(document.dropLast(5)), "--model", store.path)
        #expect(log.status == 0, "\(log.errors)")
        #expect(try store.contents().filter { $0.key != "notes" } == before)
    }

    @Test func `a pipe is accepted for a document, and refused for a store`() throws {
        let pipe = store.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let run = try CommandRun(shell: "cat '\(pipe)' & coral export '\(store.path)' -o '\(pipe)' --force; wait")
        let expected = try CommandRun("export", store.path).output
        #expect(run.status == 0 && run.output == expected, "\(run.errors)")
        for arguments in [
            ["info", pipe], ["check", pipe], ["export", pipe], ["export", store.path, "--model", pipe],
            ["subset", store.path, "--entity", "Note", "-o", pipe, "--force"],
            ["check", store.path, "--repair", pipe, "--force"],
            ["import", "-", "--into", pipe], ["model", "convert", store.path, "-o", pipe + ".mom", "--force"],
        ] where Self.canRepair || !arguments.contains("--repair") {
            if arguments.contains(pipe + ".mom") { #expect(mkfifo(pipe + ".mom", 0o600) == 0) }
            let run = try CommandRun(arguments, input: Data("{}".utf8))
            #expect(run.status == 1, "\(arguments): \(run.output)")
            #expect(run.errors.contains("a pipe"), "\(arguments): \(run.errors)")
        }
        var status = stat()
        #expect(stat(pipe, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
    }
}
