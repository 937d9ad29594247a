#if !canImport(Darwin)

    import ChildProcesses
    import Foundation
    import GRDB
    import Testing

    /// Processes that import at the same time.
    @Suite struct ConcurrentImportTests {
        private static let keyCount = 60

        /// The people with a key that no uniqueness constraint covers, and the tags whose name is unique.
        private static let people = "Person=name"

        private func document(_ entity: String) -> Data {
            let records = (0..<Self.keyCount).map { #"{"name":"key \#($0)"}"# }
            return Data(#"{"\#(entity)":[\#(records.joined(separator: ","))]}"#.utf8)
        }

        @Test(arguments: ["wal", "delete"], ["Person", "Tag"])
        func `importers of the same new keys insert each once`(journal: String, entity: String) throws {
            let store = try NotesStore(titles: [])
            let database = try DatabaseQueue(path: store.path)
            try database.writeWithoutTransaction { _ = try Row.fetchOne($0, sql: "PRAGMA journal_mode = \(journal)") }
            try database.close()
            let file = store.file("keys.json")
            try document(entity).write(to: URL(fileURLWithPath: file))
            var arguments = ["import", file, "--into", store.path, "--no-backup"]
            if entity == "Person" { arguments += ["--key", Self.people] }
            let importers = try (0..<6).map { number in
                try ChildProcess(
                    CommandRun.tool, arguments, output: URL(fileURLWithPath: store.file("output \(number)")),
                    errors: URL(fileURLWithPath: store.file("errors \(number)")))
            }
            let statuses = importers.map { $0.wait() }
            let errors = try (0..<6).map { try String(contentsOfFile: store.file("errors \($0)"), encoding: .utf8) }
            #expect(statuses == Array(repeating: 0, count: 6), "\(errors)")
            let (count, distinct) = try DatabaseQueue(path: store.path).read { database in
                (
                    try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM Z\(entity.uppercased())"),
                    try Int.fetchOne(database, sql: "SELECT COUNT(DISTINCT ZNAME) FROM Z\(entity.uppercased())")
                )
            }
            #expect(count == Self.keyCount && distinct == Self.keyCount)
            let check = try CommandRun("check", store.path)
            #expect(check.status == 0, "\(check.output)")
        }

        @Test func `an import keeps its backup and its report`() throws {
            let store = try NotesStore()
            let file = store.file("keys.json")
            try document("Person").write(to: URL(fileURLWithPath: file))
            let run = try CommandRun("import", file, "--into", store.path, "--key", Self.people)
            #expect(run.status == 0 && run.output == "60 inserts, 0 updates, 0 links, 0 errors\n", "\(run.errors)")
            #expect(run.errors.contains("Backup of the store: "))
            let again = try CommandRun("import", file, "--into", store.path, "--key", Self.people)
            #expect(again.output == "0 inserts, 0 updates, 0 links, 0 errors\n" && !again.errors.contains("Backup"))
        }

        @Test func `an empty file deletes nothing unless it may`() throws {
            let store = try NotesStore()
            let file = store.file("empty.jsonl")
            try Data().write(to: URL(fileURLWithPath: file))
            let arguments = ["import", file, "--into", store.path, "--no-backup", "--delete-missing", "Note"]
            let before = try CommandRun("query", store.path).output
            #expect(try CommandRun(arguments).status != 0)
            #expect(try CommandRun("query", store.path).output == before)
            let permitted = try CommandRun(arguments + ["--allow-empty"])
            #expect(permitted.status == 0 && permitted.output.contains("deletion"), "\(permitted.errors)")
        }
    }

#endif
