import Foundation
import Testing

/// The manifests of `--proof`, and `coral proof verify`.
@Suite struct ProofCommandTests {
    private let store: NotesStore

    init() throws { store = try NotesStore() }

    private func verify(_ path: String, _ more: String...) throws -> CommandRun {
        try CommandRun(["proof", "verify", path] + more)
    }

    @Test func `an output and its store are verified later`() throws {
        let output = store.file("notes.csv")
        let run = try CommandRun("query", store.path, "--entity", "Note", "-o", output, "--proof")
        #expect(run.status == 0 && run.errors.contains("Manifest written to \(output).proof.json."), "\(run.errors)")
        let verified = try verify(output)
        #expect(verified.status == 0)
        #expect(verified.output.contains("unchanged  output  notes.csv"))
        #expect(verified.output.contains("unchanged  store  \(store.path)"), "\(verified.output)")
        #expect(verified.output.contains("coral query \(store.path) --entity Note"))
        // A store that goes on does not refute the output.
        #expect(
            try CommandRun(
                "set", store.path, "--entity", "Note", "--where", "rank == 0", "title=x", "--yes", "--no-backup"
            ).status == 0)
        let later = try verify(output + ".proof.json")
        #expect(later.status == 0 && later.output.contains("changed  store"), "\(later.output)")
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
        try file.seekToEnd()
        try file.write(contentsOf: Data("x".utf8))
        try file.close()
        let changed = try verify(output, "--json")
        #expect(changed.status == 2 && changed.output.contains("\"changed\""))
        try FileManager.default.removeItem(atPath: output)
        let missing = try verify(output)
        #expect(missing.status == 2 && missing.output.contains("missing  output"))
    }

    @Test(arguments: [
        ["export", "STORE", "-o", "OUT.json"], ["find", "STORE", "garden", "-o", "OUT.csv"],
        ["timeline", "STORE", "-o", "OUT.html"], ["subset", "STORE", "--entity", "Note", "-o", "OUT.sqlite"],
        ["convert", "STORE", "-o", "OUT.sqlite3"], ["model", "convert", "STORE", "-o", "OUT.xcdatamodeld"],
        ["model", "diagram", "STORE", "-o", "OUT.svg"], ["model", "schema", "STORE", "-o", "OUT.json"],
    ]) func `every command that writes a file writes its manifest`(_ words: [String]) throws {
        let output = store.file("out." + (words.last?.split(separator: ".").last ?? ""))
        let arguments = words.map { $0 == "STORE" ? store.path : $0.hasPrefix("OUT") ? output : $0 }
        let run = try CommandRun(arguments + ["--proof"])
        #expect(run.status == 0, "\(run.errors)")
        let verified = try verify(output)
        #expect(verified.status == 0 && verified.output.contains("unchanged  output"), "\(verified.errors)")
    }

    @Test(arguments: [
        ["model", "show", "STORE"], ["model", "check", "STORE"], ["model", "diff", "STORE", "STORE"],
        ["model", "migrations", "STORE"], ["model", "generate", "STORE", "FOLDER"], ["find-stores", "FOLDER"],
        ["find-stores", "STORE"], ["mcp", "STORE"], ["views", "STORE"], ["info", "STORE"],
    ]) func `every command that only reads proves that nothing was changed`(_ words: [String]) throws {
        let folder = URL(fileURLWithPath: store.path).deletingLastPathComponent().path
        let run = try CommandRun(
            words.map { $0 == "STORE" ? store.path : $0 == "FOLDER" ? folder : $0 } + ["--proof"])
        // No entity of the model has a class to generate, which is proven, too.
        #expect(run.status == (words.contains("generate") ? 1 : 0), "\(run.errors)")
        #expect(run.errors.contains("No file has changed."), "\(run.errors)")
        #expect(run.errors.contains("  \(store.path)  (after)"), "\(run.errors)")
    }

    @Test func `the files of a model are hashed, and a compiled model has a manifest`() throws {
        let (source, compiled) = (store.file("Notes.xcdatamodeld"), store.file("Notes.momd"))
        #expect(try CommandRun("model", "convert", store.path, "-o", source).status == 0)
        let run = try CommandRun("model", "compile", source, "-o", compiled, "--proof")
        #expect(run.status == 0 && run.errors.contains("contents  (after)"), "\(run.errors)")
        let verified = try verify(compiled)
        #expect(verified.status == 0 && verified.output.contains("Notes.momd/VersionInfo.plist"), "\(verified.output)")
    }

    @Test(arguments: ["mcp", "serve"]) func `a session that may write proves nothing`(command: String) throws {
        let run = try CommandRun(command, store.path, "--writable", "--proof")
        #expect(run.status == 64 && run.errors.contains("contradict each other"), "\(run.errors)")
    }

    @Test func `a manifest that is none, or names files elsewhere, is refused`() throws {
        #expect(try verify(store.path).errors.contains("There is no manifest"))
        for (text, sentence) in [
            ("", "is not a manifest"), ("{}", "is not a manifest"),
            (
                #"{"format":"coral-proof","version":2,"coral":"1","arguments":[],"begin":"","end":"","read":[],"written":[]}"#,
                "has the version 2"
            ),
            (
                #"{"format":"coral-proof","version":1,"coral":"1","arguments":[],"begin":"","end":"","read":[],"#
                    + #""written":[{"path":"../x","sha256":"","byteCount":0}]}"#, "is not in its folder"
            ),
        ] {
            let path = store.file("m.proof.json")
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            let run = try verify(path)
            #expect(run.status == 1 && run.errors.contains(sentence), "\(text): \(run.errors)")
        }
    }

    @Test func `a command that fails writes no manifest`() throws {
        let output = store.file("x.csv")
        #expect(try CommandRun("query", store.path, "--entity", "Nite", "-o", output, "--proof").status == 1)
        #expect(!FileManager.default.fileExists(atPath: output + ".proof.json"))
    }
}
