#if PostgreSQL
    import Coral
    import Foundation
    import NotesModel
    import Testing

    /// Jobs over many stores of a server. Without a server the tests are skipped.
    @Suite(
        .serialized,
        .enabled(
            if: ProcessInfo.processInfo.environment["CORAL_POSTGRESQL"] != nil, "CORAL_POSTGRESQL names no server."))
    struct PostgreSQLFleetTests {
        private static let count = 100

        private let file: NotesStore
        /// The beginning of the names of the schemas.
        private let prefix = "fleet_" + UUID().uuidString.prefix(8).lowercased()
        private let server: String

        init() throws {
            file = try NotesStore()
            server = try #require(ProcessInfo.processInfo.environment["CORAL_POSTGRESQL"])
        }

        private func url(_ name: String) -> String {
            server + (server.contains("?") ? "&" : "?") + "schema=\(prefix)_\(name)"
        }

        /// The line of a list for each store.
        private var list: String { (0..<Self.count).map { url("\($0)") + "\n" }.joined() }

        private struct Line: Decodable {
            var store: String
            var command: String
            var outcome: String
            var message: String
            var objectCount: Int?
            var steps: [String]?
        }

        private func lines(_ run: CommandRun) throws -> [Line] {
            try run.output.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        }

        private func execute(_ script: String) throws {
            let text = file.file("script.sql")
            try script.write(toFile: text, atomically: true, encoding: .utf8)
            #expect(try CommandRun(shell: "psql -Xq -v ON_ERROR_STOP=1 -f '\(text)' '\(server)'").status == 0)
        }

        @Test func `a hundred stores are created, shown, checked, upgraded and migrated`() throws {
            let input = Data(list.utf8)
            let create = ["fleet", "create", "-", "--model", file.path, "--history"]
            let created = try CommandRun(create, input: input)
            #expect(created.status == 0, "\(created.errors)")
            #expect(created.output.hasSuffix("100 stores: 100 done.\n"))
            #expect(try CommandRun(create, input: input).output.hasSuffix("100 stores: 100 unchanged.\n"))
            // A pattern stands for the same stores, and the passwords of a list are in no output.
            let shown = try CommandRun(["fleet", "info", url("*") + "&password=s3cret", "--json", "--jobs", "8"])
            #expect(shown.status == 0 && !shown.output.contains("s3cret"), "\(shown.errors)")
            #expect(try lines(shown).count == 100)
            #expect(try lines(shown).allSatisfy { $0.objectCount == 0 && $0.outcome == "done" })
            try execute(
                "SET search_path TO \(prefix)_7; UPDATE z_primarykey SET z_max = -1 WHERE z_name = 'Note';"
                    + "INSERT INTO znote (z_pk, z_ent, z_opt) SELECT 5, z_ent, 1 FROM z_primarykey WHERE z_name = 'Note';"
                    + "ALTER TABLE \(prefix)_8.znote RESET (fillfactor); DROP TABLE \(prefix)_9.z_metadata")
            let checked = try CommandRun(["fleet", "check", "-", "--json"], input: input)
            #expect(checked.status == 1)
            let outcomes = try lines(checked)
            #expect(outcomes.count == 100)
            func numbers(_ outcome: String) -> [Substring?] {
                outcomes.filter { $0.outcome == outcome }.map { $0.store.split(separator: "_").last }
            }
            #expect(numbers("findings") == ["7"])
            #expect(numbers("failed") == ["9"])
            let trial = try CommandRun(["fleet", "upgrade", url("*"), "--dry-run"])
            #expect(trial.status == 2 && trial.output.hasSuffix("99 stores: 98 unchanged, 1 with findings.\n"))
            let upgraded = try CommandRun(["fleet", "upgrade", url("*")])
            #expect(upgraded.status == 0 && upgraded.output.hasSuffix("99 stores: 1 done, 98 unchanged.\n"))
            let model = try file.bundle([("Notes 2", NotesStore.renamingTitle)])
            let migrate = [
                "fleet", "migrate", url("*"), "--to", "\(model)/Notes 2.xcdatamodel", "--no-backup", "--json",
            ]
            let first = try CommandRun(migrate)
            #expect(first.status == 0, "\(first.errors)\(first.output)")
            #expect(try lines(first).count == 99)
            let again = try CommandRun(migrate)
            #expect(try lines(again).allSatisfy { $0.outcome == "unchanged" })
        }

        @Test func `stores are moved to another database`() throws {
            let database = "coral_moved_\(prefix)"
            try execute("CREATE DATABASE \(database)")
            defer { try? execute("DROP DATABASE IF EXISTS \(database) WITH (FORCE)") }
            let other = server.replacingOccurrences(of: "/postgres?", with: "/\(database)?")
            #expect(other != server)
            for number in 0..<3 {
                let copied = try CommandRun(["import", file.path, "--restore", "--into", url("\(number)")])
                #expect(copied.status == 0, "\(copied.errors)")
            }
            let export = ["export", "--entity", "Note", "--layout", "flat"]
            let exported = try CommandRun(export + [url("1")])
            let move = ["fleet", "move", "--database", other]
            let moved = try CommandRun(move + [url("*"), "--json"])
            #expect(moved.status == 0, "\(moved.errors)\(moved.output)")
            #expect(try lines(moved).map(\.outcome) == ["done", "done", "done"])
            // No pattern finds them where they were, and their URLs say where they are.
            #expect(try CommandRun(["fleet", "info", url("*")]).errors.contains("no store whose schema matches"))
            let info = try CommandRun(["info", url("1")])
            #expect(
                info.status == 1 && info.errors.contains("The store has been moved to postgresql://"), "\(info.errors)")
            #expect(try CommandRun(move + [url("1")]).output.hasSuffix("1 store: 1 unchanged.\n"))
            let place = url("1").replacingOccurrences(of: server, with: other)
            #expect(try CommandRun(export + [place]).output == exported.output)
            #expect(try CommandRun(["check", place]).status == 0)
            for (arguments, reason) in [
                ([file.path], "A store in a file is moved as a file"),
                ([url("none")], "The database has no store in the schema"),
            ] {
                let run = try CommandRun(move + arguments)
                #expect(run.status == 1 && run.output.contains(reason), "\(arguments): \(run.output)")
            }
        }

        @Test func `a job that was interrupted goes on with the rest`() throws {
            _ = try CommandRun(["fleet", "create", "-", "--model", file.path], input: Data(list.utf8))
            let (log, stores) = (file.file("log.jsonl"), file.file("stores.txt"))
            try ("# tenants\n\n" + list).write(toFile: stores, atomically: true, encoding: .utf8)
            // The job is interrupted when it has written ten lines.
            let line =
                "coral fleet check '\(stores)' --json --jobs 2 >> '\(log)' & p=$!; "
                + "while [ $(wc -l < '\(log)') -lt 10 ]; do sleep 0.01; done; kill -INT $p; wait $p"
            _ = FileManager.default.createFile(atPath: log, contents: nil)
            let interrupted = try CommandRun(
                shell: line.replacingOccurrences(of: "coral ", with: "\"\(CommandRun.tool.path)\" "))
            #expect(interrupted.status == 130, "\(interrupted.errors)")
            #expect(interrupted.errors.contains("of 100 stores are complete"))
            let done = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").count
            #expect((10..<100).contains(done))
            let rest = try CommandRun(["fleet", "check", stores, "--json", "--resume", log])
            #expect(rest.status == 0, "\(rest.errors)")
            #expect(try lines(rest).count == 100 - done)
            #expect(rest.errors.contains("100 stores: 100 done."))
        }

        @Test func `mistakes are answered with the remedy`() throws {
            let bad = file.file("bad.jsonl")
            try "{}\n".write(toFile: bad, atomically: true, encoding: .utf8)
            for (arguments, reason) in [
                (["check", file.file("none.txt")], "Name a file with a path or URL on each line"),
                (["check", url("none_*")], "no store whose schema matches"),
                (["check", file.path, "--resume", bad], "line 1 is not a line of coral fleet check --json"),
                (["migrate", url("0"), "--to", file.path], "use --no-backup"),
            ] {
                let run = try CommandRun(["fleet"] + arguments)
                #expect(run.status == 1 && run.errors.contains(reason), "\(arguments): \(run.errors)")
            }
            #expect(try CommandRun(["fleet", "check", file.path, "--jobs", "0"]).status == 64)
            // A file is a store of a fleet, too, and a line that is none fails alone.
            let mixed = try CommandRun(["fleet", "info", "-"], input: Data("\(file.path)\n/nowhere.sqlite\n".utf8))
            #expect(
                mixed.status == 1 && mixed.output.contains("6 objects") && mixed.output.contains("no store at /nowhere")
            )
            #expect(mixed.output.hasSuffix("2 stores: 1 done, 1 failed.\n"))
        }
    }
#endif
