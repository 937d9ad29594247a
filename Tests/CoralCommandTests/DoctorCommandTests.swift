import Coral
import Foundation
import GRDB
import NotesModel
import Testing

/// `coral doctor`.
@Suite struct DoctorCommandTests {
    private let store: NotesStore

    init() throws { store = try NotesStore() }

    private struct Report: Decodable {
        struct Finding: Decodable {
            let kind: String, subject: String?, message: String, count: Int, examples: [String], cure: String?,
                isNote: Bool
        }
        struct Tree: Decodable { let name: String, table: String, entities: [String], byteCount: Int64 }
        let byteCount: Int64, freeByteCount: Int64, trees: [Tree], findings: [Finding]
    }

    private func examined(_ options: String...) throws -> (report: Report, status: Int32) {
        let run = try CommandRun(["doctor", store.path, "--json"] + options)
        return (try JSONDecoder().decode(Report.self, from: Data(run.output.utf8)), run.status)
    }

    private func execute(_ sql: String) throws {
        let queue = try DatabaseQueue(path: store.path)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    private func itemCount() throws -> Int {
        let queue = try DatabaseQueue(path: store.path)
        defer { try? queue.close() }
        return try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZITEM") ?? 0 }
    }

    @Test func `the sizes of tables and indexes are those of the file`() throws {
        let before = try store.contents()
        let (report, status) = try examined()
        #expect(status == 0)
        #expect(report.findings.allSatisfy { $0.isNote }, "\(report.findings)")
        #expect(report.trees.reduce(0) { $0 + $1.byteCount } <= report.byteCount)
        let note = try #require(report.trees.first { $0.name == "ZNOTE" })
        #expect(note.entities == ["Note"])
        #expect(note.byteCount >= 4096)
        #expect(try store.contents() == before)
        let text = try CommandRun("doctor", store.path).output
        #expect(text.contains("Nothing has to be cured."), "\(text)")
    }

    @Test func `rows that nothing owns are found, and deleted after a rehearsal, and nothing else`() throws {
        // The second item is in no note, which owns items.
        try execute("UPDATE ZITEM SET ZNOTE = NULL WHERE Z_PK = 2")
        let (report, status) = try examined()
        #expect(status == 2)
        let finding = try #require(report.findings.first { $0.kind == "orphans" })
        #expect(finding.subject == "Item" && finding.count == 1 && finding.examples == ["Item/p2"])
        #expect(finding.cure == "coral doctor \(store.path) --fix orphans=Item --dry-run")

        let before = try store.contents()
        let rehearsal = try CommandRun("doctor", store.path, "--fix", "orphans=Item", "--dry-run")
        #expect(rehearsal.status == 0, "\(rehearsal.errors)")
        #expect(
            rehearsal.output.hasPrefix("On a copy; \(store.path) is unchanged:\nDeleted: 1 object of Item\nCompared: "))
        #expect(try store.contents() == before)
        #expect(try CommandRun("doctor", store.path, "--fix", "orphans=Item").errors.contains("Use --yes to"))
        #expect(try store.contents() == before)

        let rest = try CommandRun("query", store.path, "--entity", "Item", "--where", "name ENDSWITH '<0>'", "--json")
            .output
        let notes = try CommandRun("query", store.path, "--entity", "Note", "--json").output
        let cured = try CommandRun("doctor", store.path, "--fix", "orphans=Item", "--yes")
        #expect(cured.status == 0, "\(cured.errors)")
        #expect(cured.errors.contains("Backup of the store: "))
        #expect(try CommandRun("query", store.path, "--entity", "Item", "--json").output == rest)
        #expect(try CommandRun("query", store.path, "--entity", "Note", "--json").output == notes)
        #expect(try CommandRun("check", store.path).status == 0)
        #expect(try examined().status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
        let backup = try #require(names.first { $0.hasPrefix("Notes-before-") })
        #expect(try CommandRun("query", store.file(backup), "--entity", "Item", "--json").output.contains("Item <1>"))
        #expect(!names.contains { $0.hasSuffix(".partial") })
    }

    @Test func `rows that contradict the model do not hinder cures that leave them as they are`() throws {
        try execute("UPDATE ZITEM SET ZNOTE = 999 WHERE Z_PK = 2")
        #expect(try examined().report.findings.contains { $0.kind == "damage" })
        let files = try CommandRun("doctor", store.path, "--fix", "files", "--yes", "--no-backup")
        #expect(files.status == 1 && files.errors.contains("has to be repaired first"), "\(files.errors)")
        let space = try CommandRun("doctor", store.path, "--fix", "space", "--yes", "--no-backup")
        #expect(space.status == 0, "\(space.errors)")
        #expect(try examined().report.findings.contains { $0.kind == "damage" })
        // A reference to an object that does not exist is to be repaired: the row is not taken for one that nothing owns.
        let items = try CommandRun("query", store.path, "--entity", "Item", "--json").output
        let orphans = try CommandRun("doctor", store.path, "--fix", "orphans=Item", "--yes", "--no-backup")
        #expect(orphans.status == 0 && !orphans.output.contains("Deleted"), "\(orphans.errors)")
        #expect(try CommandRun("query", store.path, "--entity", "Item", "--json").output == items)
        #expect(try examined().report.findings.contains { $0.kind == "damage" })
    }

    @Test func `problems that only the owner of the data can decide have a command line as cure, and it cures them`()
        throws
    {
        let model = store.file("Cured.xcdatamodel")
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
        let source = """
            <model><entity name="Note">
            <attribute name="title" attributeType="String"/>
            <attribute name="rank" optional="YES" attributeType="Integer 64"/>
            <relationship name="items" optional="YES" toMany="YES" ordered="YES" destinationEntity="Item" inverseName="note" inverseEntity="Item"/>
            <relationship name="first" optional="YES" maxCount="1" destinationEntity="Item"/>
            <uniquenessConstraints><uniquenessConstraint><constraint value="title"/></uniquenessConstraint></uniquenessConstraints>
            </entity><entity name="Thing" isAbstract="YES"/><entity name="Other" parentEntity="Thing"/>
            <entity name="Item" parentEntity="Thing">
            <relationship name="note" optional="YES" maxCount="1" destinationEntity="Note" inverseName="items" inverseEntity="Note"/>
            </entity></model>
            """
        try Data(source.utf8).write(to: URL(fileURLWithPath: "\(model)/contents"))
        let document = store.file("Cured.json")
        try Data(
            #"{"Note":[{"title":"a","items":[{},{}]},{"title":"b","rank":1},{"title":"c","rank":2}],"Other":[{}]}"#.utf8
        ).write(to: URL(fileURLWithPath: document))
        let path = store.file("Cured.sqlite")
        let imported = try CommandRun("import", document, "--into", path, "--model", model)
        #expect(imported.status == 0, "\(imported.errors)")
        let queue = try DatabaseQueue(path: path)
        try queue.write { database in
            let index = try String.fetchOne(database, sql: "SELECT name FROM sqlite_master WHERE sql LIKE '%UNIQUE%'")
            try database.execute(
                sql: """
                    DROP INDEX "\(index ?? "")"; UPDATE ZNOTE SET ZTITLE = 'b' WHERE ZTITLE = 'c';
                    UPDATE ZNOTE SET ZRANK = 'many', ZFIRST = (SELECT max(Z_PK) FROM ZTHING) WHERE ZTITLE = 'a';
                    UPDATE ZTHING SET Z_FOK_NOTE = 1 WHERE ZNOTE IS NOT NULL; INSERT INTO ZTHING (Z_PK, Z_ENT) VALUES (5, 99);
                    UPDATE Z_PRIMARYKEY SET Z_MAX = 5 WHERE Z_NAME = 'Thing'
                    """)
        }
        try queue.close()
        func cures() throws -> [String: String] {
            let run = try CommandRun("doctor", path, "--json")
            let report = try JSONDecoder().decode(Report.self, from: Data(run.output.utf8))
            return Dictionary(
                uniqueKeysWithValues: report.findings.filter { !$0.isNote }.map {
                    ($0.subject ?? "", $0.cure ?? "none")
                })
        }
        let decisions = [
            "Note.title": "title == 'b' AND rank == 2", "Note.rank": "title == 'a'", "Note.first": "title == 'a'",
            "Note.items": "title == 'a'", "Thing": "",
        ]
        let lines = try cures()
        #expect(Set(lines.keys) == Set(decisions.keys), "\(lines)")
        for (subject, line) in lines where subject != "Thing" {
            let decided = line.replacingOccurrences(of: "PREDICATE", with: "\"\(decisions[subject] ?? "")\"")
                .replacingOccurrences(of: "VALUE", with: "null").replacingOccurrences(
                    of: "OBJECTS", with: "Item/p2,Item/p1")
            let run = try CommandRun(shell: decided + " --yes --no-backup")
            #expect(run.status == 0, "\(decided): \(run.errors)")
        }
        let rest = try cures()
        #expect(Set(rest.keys) == ["Thing"], "\(rest)")
        // The objects are copied to a new store, which has no other rows.
        let run = try CommandRun(shell: "cd '\(store.folder.path)' && \(rest["Thing"] ?? "")")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try CommandRun("check", store.file("New.sqlite")).status == 0)
        #expect(try CommandRun("info", store.file("New.sqlite"), "--json").output.contains("\"objectCount\" : 5"))
    }

    @Test func `a store without its model is compacted, and nothing is deleted from it`() throws {
        let before = try itemCount()
        try execute("DROP TABLE Z_MODELCACHE")
        for cure in ["space", "statistics"] {
            let run = try CommandRun("doctor", store.path, "--fix", cure, "--yes", "--no-backup")
            #expect(run.status == 0, "\(run.errors)")
        }
        for cure in ["files", "orphans=Item"] {
            let run = try CommandRun("doctor", store.path, "--fix", cure, "--yes", "--no-backup")
            #expect(run.status == 1 && run.errors.contains("Give the app's model with --model"), "\(run.errors)")
        }
        #expect(try itemCount() == before && before > 0)
    }

    @Test func `a store with a damaged page or without a table is not cured`() throws {
        let queue = try DatabaseQueue(path: store.path)
        let (page, size) = try queue.read { database in
            (
                try #require(
                    try Int.fetchOne(database, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'ZTAG'")),
                try #require(try Int.fetchOne(database, sql: "PRAGMA page_size"))
            )
        }
        try queue.close()
        let intact = try Data(contentsOf: URL(fileURLWithPath: store.path))
        let damages: [() throws -> Void] = [
            {
                var data = intact
                data.replaceSubrange((page - 1) * size..<(page - 1) * size + 8, with: Data(repeating: 0xFF, count: 8))
                try data.write(to: URL(fileURLWithPath: self.store.path))
            },
            {
                try intact.write(to: URL(fileURLWithPath: self.store.path))
                try self.execute("DROP TABLE ZTAG")
            },
        ]
        for damage in damages {
            try damage()
            let before = try store.contents()
            for cure in ["space", "statistics", "orphans=Item"] {
                let run = try CommandRun("doctor", store.path, "--fix", cure, "--yes", "--no-backup")
                #expect(run.status == 1, "\(cure): \(run.output)")
                #expect(try store.contents() == before)
            }
        }
    }

    @Test func `free pages and statistics are cured by compacting`() throws {
        try execute(
            "CREATE TABLE BIG (A); INSERT INTO BIG VALUES (zeroblob(3000000)); DROP TABLE BIG; PRAGMA auto_vacuum = 0; VACUUM"
        )
        try execute("CREATE TABLE BIG (A); INSERT INTO BIG VALUES (zeroblob(3000000)); DROP TABLE BIG")
        let (report, status) = try examined()
        #expect(status == 2)
        #expect(report.findings.contains { $0.kind == "freePages" && !$0.isNote }, "\(report.findings)")
        let cured = try CommandRun(
            "doctor", store.path, "--fix", "space", "--fix", "statistics", "--yes", "--no-backup", "--json")
        #expect(cured.status == 0, "\(cured.errors)")
        let after = try examined()
        #expect(after.status == 0)
        #expect(after.report.byteCount < 1_000_000)
        #expect(after.report.trees.contains { $0.name == "sqlite_stat1" })
        #expect(try CommandRun("check", store.path).status == 0)
    }

    @Test func `a trace shows which indexes are missing, and no statement is executed`() throws {
        let trace = store.file("trace.log")
        let lines = [
            "CoreData: sql: SELECT 0, t0.Z_PK, t0.Z_OPT FROM ZNOTE t0 WHERE  t0.ZRANK > ? ORDER BY t0.ZTITLE",
            "SELECT t0.Z_PK FROM ZNOTE t0 WHERE t0.Z_PK = 1", "SELECT nothing FROM nowhere",
            "SELECT 1; DROP TABLE ZNOTE",
        ]
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: trace))
        let before = try store.contents()
        let (report, status) = try examined("--trace", trace)
        #expect(status == 0)
        let finding = try #require(report.findings.first { $0.kind == "missingIndex" })
        #expect(finding.subject == "ZNOTE (ZRANK, ZTITLE)" && finding.isNote)
        #expect(finding.cure == "Add a fetch index of rank, title to Note in the model.")
        let unknown = try #require(report.findings.first { $0.message.hasPrefix("SQLite has no plan for") })
        #expect(unknown.count == 2 && unknown.examples == ["SELECT nothing FROM nowhere"], "\(unknown)")
        #expect(try store.contents() == before)
    }

    /// The findings about indexes for a trace, by their subjects.
    private func indexFindings(_ lines: [String]) throws -> [String: Report.Finding] {
        let trace = store.file("trace.log")
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: trace))
        let run = try CommandRun(["doctor", store.path, "--json", "--trace", trace])
        let report = try JSONDecoder().decode(Report.self, from: Data(run.output.utf8))
        return Dictionary(
            report.findings.filter { $0.kind == "missingIndex" }.map { ($0.subject ?? "", $0) },
            uniquingKeysWith: { first, _ in first })
    }

    @Test func `a whole index that is read, and rows that are sorted after they were found, are reported`() throws {
        try execute("CREATE INDEX both ON ZNOTE (ZTITLE, ZRANK)")
        let findings = try indexFindings([
            // SQLite reads the whole index, which has the column, but does not begin with it.
            "SELECT t0.ZRANK FROM ZNOTE t0 WHERE t0.ZRANK > 3",
            // The order is that of the index: nothing is missing.
            "SELECT t0.ZTITLE FROM ZNOTE t0 ORDER BY t0.ZTITLE",
            "SELECT t0.Z_PK FROM ZITEM t0 WHERE t0.ZNOTE = ? ORDER BY t0.ZNAME, t0.Z_PK",
            "SELECT t0.Z_PK FROM ZNOTE t0 WHERE t0.ZTITLE = ? ORDER BY lower(t0.ZTITLE)",
        ])
        #expect(findings.count == 3, "\(findings)")
        let index = try #require(findings["ZNOTE (ZRANK)"])
        #expect(index.message.hasPrefix("All 2 rows of the index both are read for 1 statement of the trace, "))
        #expect(index.cure == "Add a fetch index of rank to Note in the model.")
        let sorted = try #require(findings["ZITEM (ZNOTE, ZNAME)"])
        #expect(
            sorted.message
                == "The rows that are found are sorted for 1 statement of the trace, because no index has them in this order."
        )
        #expect(sorted.cure == "Add a fetch index of note, name to Item in the model.")
        let computed = try #require(findings["ZNOTE"])
        #expect(computed.message.contains("ordered by values that are computed") && computed.cure == nil)
    }

    @Test func `statements that differ in their literals are one, however many there are`() throws {
        let lines = (0..<20_000).map {
            "SELECT t0.Z_PK FROM ZNOTE t0 WHERE t0.ZRANK IN (\($0), 1.5) AND t0.ZTITLE <> 'a''b \($0)'"
        }
        let long = "SELECT " + String(repeating: "x", count: 3 << 20)
        let last = "SELECT t0.Z_PK FROM ZNOTE t0 WHERE t0.ZRANK IN (1, 2, 3) AND t0.ZTITLE <> ''"
        let findings = try indexFindings(lines + [long, last])
        #expect(findings["ZNOTE (ZRANK, ZTITLE)"]?.count == 20_001, "\(findings)")
        #expect(findings.count == 1)
    }

    @Test func `the fetch requests of the model are examined, whatever their variables are`() throws {
        let source = try CommandRun("model", "convert", store.path).output
        let folder = URL(fileURLWithPath: store.file("Requests.xcdatamodel"))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let requests = """
                <fetchRequest name="byAuthor" entity="Note" predicateString="author == $author"/>
                <fetchRequest name="ofKind" entity="Note" predicateString="rank &gt; $least AND title IN $titles"/>
                <fetchRequest name="named" entity="Note" predicateString="title BEGINSWITH[c] $start"/>
            </model>
            """
        try Data(source.replacingOccurrences(of: "</model>", with: requests).utf8)
            .write(to: folder.appendingPathComponent("contents"))
        let (report, status) = try examined("--model", folder.path)
        #expect(status == 0)
        let findings = report.findings.filter { $0.kind == "missingIndex" }
        // References have an index.
        #expect(
            findings.map { $0.subject ?? "" }.sorted() == ["ZNOTE (ZRANK, ZTITLE)", "ZNOTE (ZTITLE)"], "\(findings)")
        #expect(
            findings.first { $0.subject == "ZNOTE (ZRANK, ZTITLE)" }?.message.contains(
                "are read for the fetch request “ofKind” of the model, because") == true)
        try execute("CREATE INDEX byRank ON ZNOTE (ZRANK)")
        try execute("CREATE INDEX byTitle ON ZNOTE (ZTITLE)")
        let indexed = try examined("--model", folder.path).report.findings.filter { $0.kind == "missingIndex" }
        // A function that ignores case gives values that no index has.
        #expect(indexed.map { $0.subject ?? "" } == ["ZNOTE"], "\(indexed)")
        #expect(indexed.first?.message.contains("not compared as they are") == true)
    }

    @Test func `mistakes are errors, and change nothing`() throws {
        let before = try store.contents()
        for (arguments, status, text) in [
            (["--fix", "everything", "--yes"], 1, "There is no cure \"everything\""),
            (["--fix", "orphans=Itme", "--yes"], 1, "The model has no entity \"Itme\""),
            (["--fix", "orphans=Tag", "--yes", "--no-backup"], 1, "Nothing owns objects of the entity"),
            (["--dry-run"], 64, "--dry-run requires --fix"), (["--trace", "/nonexistent"], 1, "cannot be read"),
        ] as [([String], Int32, String)] {
            let run = try CommandRun(["doctor", store.path] + arguments)
            #expect(run.status == status && run.errors.contains(text), "\(arguments): \(run.status) \(run.errors)")
        }
        #expect(try store.contents() == before)
        try execute("UPDATE ZITEM SET ZNOTE = NULL WHERE Z_PK = 2")
        try execute("CREATE TABLE ANSCKRECORDMETADATA (Z_PK INTEGER PRIMARY KEY)")
        let mirrored = try CommandRun("doctor", store.path, "--fix", "orphans=Item", "--yes")
        #expect(mirrored.status == 1 && mirrored.errors.contains("mirrored to CloudKit"), "\(mirrored.errors)")
        #expect(try examined().report.findings.contains { $0.kind == "mirroring" && $0.isNote })
    }
}
