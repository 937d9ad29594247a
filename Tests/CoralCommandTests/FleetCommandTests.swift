import Foundation
import Testing

/// `coral fleet` with stores in files. `PostgreSQLFleetTests` has those of servers.
@Suite struct FleetCommandTests {
    private let notes: NotesStore
    /// Two stores, and a list of them with a line that names none.
    private let stores: [String]
    private let list: Data

    init() throws {
        notes = try NotesStore()
        stores = ["a.sqlite", "b.sqlite"].map(notes.file)
        for store in stores { try FileManager.default.copyItem(atPath: notes.path, toPath: store) }
        list = Data("# tenants\n\(stores[0])\n\n\(stores[1])\n".utf8)
    }

    private struct Line: Decodable {
        var store: String
        var command: String
        var outcome: String
        var steps: [String]?
    }

    /// The lines of an output by store, because their order is that in which the stores are complete.
    private func lines(_ text: String) throws -> [Line] {
        try text.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
            .sorted { $0.store < $1.store }
    }

    private func migration(_ arguments: String...) throws -> [String] {
        let model = try notes.bundle([("Notes 2", NotesStore.renamingTitle)])
        return ["fleet", "migrate", "-", "--to", model, "--json"] + arguments
    }

    @Test func `standard input lists the stores, and each gets a backup`() throws {
        let run = try CommandRun(migration(), input: list)
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        let done = try lines(run.output)
        #expect(done.map(\.store) == stores)
        #expect(done.allSatisfy { $0.outcome == "done" && $0.steps == ["Notes -> Notes 2"] })
        let files = try FileManager.default.contentsOfDirectory(
            atPath: (stores[0] as NSString).deletingLastPathComponent)
        for name in ["a", "b"] { #expect(files.contains { $0.hasPrefix("\(name)-before-") }, "\(files)") }
        let again = try CommandRun(migration(), input: list)
        #expect(try lines(again.output).map(\.outcome) == ["unchanged", "unchanged"])
    }

    @Test func `a trial completes no store`() throws {
        let log = notes.file("trial.jsonl")
        let trial = try CommandRun(migration("--dry-run"), input: list)
        #expect(trial.status == 0, "\(trial.output)\(trial.errors)")
        #expect(try lines(trial.output).map(\.command) == ["migrate --dry-run", "migrate --dry-run"])
        try trial.output.write(toFile: log, atomically: true, encoding: .utf8)
        let run = try CommandRun(migration("--no-backup", "--resume", log), input: list)
        #expect(run.status == 1)
        #expect(
            run.errors.contains("line 1 is of coral fleet migrate --dry-run, not of coral fleet migrate."),
            "\(run.errors)")
        let resumed = try CommandRun(migration("--dry-run", "--resume", log), input: list)
        #expect(resumed.status == 0 && resumed.output.isEmpty, "\(resumed.output)\(resumed.errors)")
    }

    @Test func `the error of a store does not end the work on the others`() throws {
        let nowhere = notes.file("nowhere.sqlite")
        let run = try CommandRun(["fleet", "check", "-", "--json"], input: Data("\(nowhere)\n".utf8) + list)
        #expect(run.status == 1)
        #expect(try lines(run.output).map(\.outcome) == ["done", "done", "failed"])
    }
}
