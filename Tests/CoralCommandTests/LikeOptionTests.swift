#if !canImport(Darwin)

    import Coral
    import Foundation
    import GRDB
    import Testing

    /// `--like`: the join tables of a new store have the names of those of another one.
    @Suite struct LikeOptionTests {
        private let store: NotesStore

        init() throws {
            store = try NotesStore()
            try execute("ALTER TABLE Z_2TAGS RENAME TO Z_4NOTES", at: store.path)
        }

        private func execute(_ sql: String, at path: String) throws {
            let queue = try DatabaseQueue(path: path)
            try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
            try queue.close()
        }

        private func pairCount(_ path: String) throws -> Int? {
            let queue = try DatabaseQueue(path: path)
            defer { try? queue.close() }
            return try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM Z_4NOTES") }
        }

        @Test func `every command that creates a store uses the names`() throws {
            let document = store.file("notes.json")
            #expect(try CommandRun("export", store.path, "-o", document).status == 0)
            let commands = [
                ["import", document, "--into", "", "--model", store.path],
                ["import", document, "--into", "", "--model", store.path, "--restore"],
                ["subset", store.path, "--entity", "Note", "--copy", "Note.tags", "-o", ""],
                ["salvage", store.path, "-o", ""],
            ]
            for (number, words) in commands.enumerated() {
                let new = store.file("New\(number).sqlite")
                let run = try CommandRun(words.map { $0.isEmpty ? new : $0 } + ["--like", store.path])
                #expect(run.status == 0, "\(words): \(run.errors)")
                #expect(try pairCount(new) == 2, "\(words)")
                #expect(try CommandRun("check", new).status == 0)
                #expect(try CommandRun("diff", store.path, new, "--match", "content").status != 1)
            }
        }

        @Test func `a store of another model, no store, and a store that exists are errors`() throws {
            let document = store.file("notes.json")
            #expect(try CommandRun("export", store.path, "-o", document).status == 0)
            let accounts = try AccountsStore()
            let new = store.file("New.sqlite")
            let run = { (like: String, into: String) in
                try CommandRun("import", document, "--into", into, "--model", store.path, "--like", like)
            }
            let other = try run(accounts.path, new)
            #expect(other.status == 1 && other.errors.contains("that store has another model"), "\(other.errors)")
            #expect(try run(store.file("none"), new).errors.contains("There is no store"))
            #expect(try run(store.path, store.path).errors.contains("--like requires a new store"))
            #expect(!FileManager.default.fileExists(atPath: new))
        }
    }

#endif
