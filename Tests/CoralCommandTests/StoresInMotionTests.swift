// Rows can be changed behind a coordinator only with the package's own engine.
#if !canImport(Darwin)

    import Foundation
    import GRDB
    import Synchronization
    import Testing

    /// Stores to which other processes write, or that were left in the middle of a transaction.
    @Suite struct StoresInMotionTests {
        private let store: NotesStore

        init() throws { store = try NotesStore(titles: (0..<200).map { _ in "state-0" }) }

        private func setJournalMode(_ mode: String) throws {
            let database = try DatabaseQueue(path: store.path)
            try database.writeWithoutTransaction { _ = try Row.fetchOne($0, sql: "PRAGMA journal_mode = \(mode)") }
            try database.close()
        }

        private func journalMode() throws -> String {
            try DatabaseQueue(path: store.path).read { try String.fetchOne($0, sql: "PRAGMA journal_mode") ?? "" }
        }

        /// Changes all notes in repeated transactions while some work is done.
        private func whileWriting(_ work: () throws -> Void) throws {
            let ended = DispatchSemaphore(value: 0)
            let path = store.path
            let done = Done()
            Thread.detachNewThread {
                var configuration = Configuration()
                configuration.busyMode = .timeout(10)
                var number = 0
                while !done.value {
                    number += 1
                    guard let database = try? DatabaseQueue(path: path, configuration: configuration) else { continue }
                    for _ in 0..<5 {
                        try? database.write {
                            try $0.execute(sql: "UPDATE ZNOTE SET ZTITLE = ?", arguments: ["state-\(number)"])
                        }
                    }
                    try? database.close()
                }
                ended.signal()
            }
            defer {
                done.set()
                ended.wait()
            }
            try work()
        }

        private final class Done: Sendable {
            private let state = Mutex(false)
            var value: Bool { state.withLock { $0 } }
            func set() { state.withLock { $0 = true } }
        }

        @Test(arguments: ["wal", "delete"])
        func `while another process writes, every result is of one state or an error`(
            _ mode: String
        ) throws {
            try setJournalMode(mode)
            let commands = [
                ["export", store.path], ["export", store.path, "--format", "html"],
                ["export", store.path, "--layout", "nested"], ["query", store.path, "--entity", "Note", "--json"],
                ["check", store.path], ["verify", store.path], ["diff", store.path, store.path],
            ]
            var answers = 0
            try whileWriting {
                for command in commands + commands {
                    let run = try CommandRun(command)
                    #expect(!run.output.contains("damaged") && !run.errors.contains("damaged"), "\(command)")
                    // The two sides of a comparison may be of two states.
                    guard run.status == 0 || command[0] == "diff" && run.status == 2 else {
                        #expect(
                            run.errors.contains("nother process") || run.errors.contains("another connection"),
                            "\(command): \(run.errors)")
                        continue
                    }
                    answers += 1
                    guard command[0] != "diff" else { continue }
                    let states = Set(run.output.matches(of: /state-\d+/).map(\.output))
                    #expect(states.count <= 1, "\(command): \(states.count) states")
                }
            }
            #expect(answers > 0)
        }

        @Test func `an empty log, and one with only a header, are not removed`() throws {
            let log = URL(fileURLWithPath: store.path + "-wal")
            for content in [Data(), Data([0x37, 0x7F, 0x06, 0x82]) + Data(count: 28)] {
                try content.write(to: log)
                let before = try store.contents()
                for command in [["info"], ["export"], ["check"], ["verify"], ["query", "--entity", "Note"]] {
                    let run = try CommandRun([command[0], store.path] + command.dropFirst())
                    #expect(run.status == 0, "\(command): \(run.errors)")
                    #expect(try store.contents() == before, "\(command)")
                }
            }
        }

        @Test func `an unfinished transaction is reported with a remedy, and its store is read`() throws {
            try setJournalMode("delete")
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let database = try DatabaseQueue(path: store.path, configuration: configuration)
            var files: [String: Data] = [:]
            try database.writeWithoutTransaction { database in
                try database.execute(
                    sql: "PRAGMA cache_size = 1; BEGIN; UPDATE ZNOTE SET ZTITLE = hex(randomblob(2000))")
                files = try store.contents()
                try database.rollback()
            }
            try database.close()
            #expect(files["Notes.sqlite-journal"]?.isEmpty == false)
            for (name, data) in files { try data.write(to: URL(fileURLWithPath: store.file(name))) }
            let run = try CommandRun("export", store.path)
            #expect(run.status == 0)
            #expect(run.errors.contains("middle of a transaction") && run.errors.contains("for writing"))
            #expect(run.output.matches(of: /state-0/).count == 200)
            #expect(try store.contents() == files)
            #expect(try CommandRun("check", store.path).status == 0)
        }

        @Test func `an import does not change the journal mode, whether it succeeds or not`() throws {
            try setJournalMode("delete")
            let document = store.file("notes.json")
            #expect(try CommandRun("export", store.path, "-o", document).status == 0)
            #expect(try CommandRun("import", document, "--into", store.path, "--no-backup").status == 0)
            #expect(try journalMode() == "delete")
            try Data(#"{"Note": [{"title": {}}]}"#.utf8).write(to: URL(fileURLWithPath: document))
            #expect(try CommandRun("import", document, "--into", store.path, "--layout", "plain").status == 1)
            #expect(try journalMode() == "delete")
            #expect(try CommandRun("import", document, "--into", store.path, "--dry-run").status == 1)
            #expect(try journalMode() == "delete")
        }

        @Test(arguments: ["wal", "delete"]) func `concurrent imports wait for each other`(_ mode: String) throws {
            try setJournalMode(mode)
            for number in 0..<4 {
                let notes = (0..<20).map { #"{"title": "\#(number).\#($0)"}"# }.joined(separator: ",")
                try Data("{\"Note\": [\(notes)]}".utf8).write(to: URL(fileURLWithPath: store.file("\(number).json")))
            }
            for round in 1...3 {
                let jobs = (0..<4).map {
                    "{ coral import '\(store.file("\($0).json"))' --into '\(store.path)' --layout plain || echo failed; } &"
                }
                let run = try CommandRun(shell: jobs.joined(separator: " ") + " wait")
                #expect(!run.output.contains("failed"), "\(run.errors)")
                let count = try DatabaseQueue(path: store.path).read {
                    try Int.fetchOne($0, sql: "SELECT count(*) FROM ZNOTE")
                }
                #expect(count == 200 + round * 80)
            }
            #expect(try journalMode() == mode)
        }
    }

#endif
