import Coral
import CoralTools
import Foundation
import GRDB
import NotesModel
import Testing

@testable import CoralCommand

/// `coral convert`: a plain database with the objects of a store.
@Suite struct ConvertCommandTests {
    private let store: NotesStore
    private let place: String

    init() throws {
        store = try NotesStore()
        place = store.file("plain.sqlite")
    }

    private func convert(_ arguments: String...) throws -> CommandRun {
        try CommandRun(["convert", store.path, "-o", place] + arguments)
    }

    /// A server stores NaN, and SQLite does not.
    @Test func `a number that is not one is null, and reported`() throws {
        let model = NSManagedObjectModel.notes()
        model.entitiesByName["Note"]?.attributesByName["rank"]?.isOptional = false
        let records = [Double.nan, 1, .infinity].enumerated().map { index, rank in
            GraphRecord(
                id: .stored(entity: "Note", primaryKey: Int64(index + 1)), entity: "Note",
                attributes: [GraphAttribute(name: "rank", value: .double(rank))])
        }
        let plain = PlainDatabase(
            schema: PlainSchema(model, style: .grdb, keys: .integer), storeUUID: "", folder: nil)
        let result = try plain.write(
            { entities, body in
                for record in records where entities?.contains(record.entity) != false { try body(record) }
            }, to: URL(fileURLWithPath: place), progress: Progress.discreteProgress(totalUnitCount: 0))
        #expect(result.different.examples == [])
        #expect(
            result.lost.examples.contains { $0.hasPrefix("Note/p1.rank is not a number") }, "\(result.lost.examples)")
        let ranks = try DatabaseQueue(path: place).read {
            try DatabaseValue.fetchAll($0, sql: "SELECT rank FROM note ORDER BY id")
        }
        #expect(ranks == [.null, 1.0.databaseValue, Double.infinity.databaseValue])
    }

    @Test func `what follows a NUL in a text is written`() throws {
        let store = try NotesStore(titles: ["one\0two"])
        let place = store.file("plain.sqlite")
        let run = try CommandRun("convert", store.path, "-o", place)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("Each object equals its row."))
        // GRDB's texts end at a NUL.
        let title = try DatabaseQueue(path: place).read { try String.fetchOne($0, sql: "SELECT hex(title) FROM note") }
        #expect(title == "6F6E650074776F")
    }

    @Test func `objects are rows, with foreign keys and positions`() throws {
        let before = try store.contents()
        let run = try convert()
        #expect(run.status == 0, "\(run.errors)")
        #expect(
            run.output == """
                item: 2 rows
                note: 2 rows
                noteTags: 2 rows
                person: 1 row
                tag: 1 row
                Written to \(place). Each object equals its row.

                """)
        try DatabaseQueue(path: place).write { database in
            let row = try #require(
                try Row.fetchOne(
                    database,
                    sql: """
                        SELECT note.title, person.name, person.site, item.name AS item, item.notePosition AS position FROM note
                        JOIN person ON person.id = note.authorId JOIN item ON item.noteId = note.id
                        """))
            #expect(row["title"] as String == "Groceries")
            #expect(row["name"] as String == "Ada")
            #expect(row["position"] as Int == 0)
            #expect(row["site"] as String == "https://example.com/a?b&c")
            // The foreign key has the delete rule of the inverse.
            try database.execute(sql: "PRAGMA foreign_keys = ON; DELETE FROM note WHERE title = 'Groceries'")
            #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM item") == 1)
            #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM noteTags") == 1)
            #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM tag") == 1)
        }
        var after = try store.contents()
        after = after.filter { !$0.key.hasPrefix("plain.sqlite") }
        #expect(after == before)
        #expect(try convert().errors.contains("--force"))
    }

    @Test func `both sides of a one-to-one relationship have a column if they contradict each other`() throws {
        let accounts = try AccountsStore()
        let plain = accounts.file("plain.sqlite")
        let queue = try DatabaseQueue(path: accounts.path)
        // As in stores of apps: one side is set, and the other is not.
        try queue.write { try $0.execute(sql: "UPDATE ZACCOUNT SET ZPROFILE = NULL") }
        try queue.close()
        let run = try CommandRun("convert", accounts.path, "-o", plain, "--code", accounts.file("Records.swift"))
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains("Data.owner and its inverse have a column each"))
        let (owners, profiles) = try DatabaseQueue(path: plain).read { database in
            (
                try Int.fetchOne(database, sql: "SELECT count(ownerId) FROM data"),
                try Int.fetchOne(database, sql: "SELECT count(profileId) FROM account")
            )
        }
        #expect(owners == 1)
        #expect(profiles == 0)
        // Sides that agree need one column.
        let agreeing = try AccountsStore()
        #expect(try CommandRun("convert", agreeing.path, "-o", agreeing.file("plain.sqlite")).status == 0)
        let columns = try DatabaseQueue(path: agreeing.file("plain.sqlite")).read { database in
            try database.columns(in: "data").map(\.name)
        }
        #expect(!columns.contains("ownerId"))
    }

    @Test func `a date that no date function reads is null, and is reported`() throws {
        let queue = try DatabaseQueue(path: store.path)
        try queue.write { database in
            try database.execute(
                sql: "UPDATE ZNOTE SET ZCREATEDAT = CASE Z_PK WHEN 1 THEN ? ELSE 123456789012345 END",
                arguments: [Date.distantPast.timeIntervalSinceReferenceDate])
        }
        try queue.close()
        let run = try convert()
        #expect(run.status == 2)
        #expect(
            run.errors.contains("createdAt is @123456789012345.0, a date outside the years 1 to 9999."), "\(run.errors)"
        )
        #expect(run.output.contains("Each object equals its row."))
        try DatabaseQueue(path: place).read { database in
            #expect(
                try String.fetchAll(database, sql: "SELECT datetime(createdAt) FROM note WHERE createdAt NOT NULL")
                    == ["0001-01-01 00:00:00"])
            // GRDB decodes each date.
            for row in try Row.fetchAll(database, sql: "SELECT createdAt FROM note") {
                let value: DatabaseValue = row["createdAt"]
                #expect(value.isNull || Date.fromDatabaseValue(value) != nil)
            }
        }
    }

    @Test func `names have SQL's form, and UUIDs are the same in every conversion`() throws {
        let code = store.file("schema.sql")
        #expect(try convert("--style", "sql", "--keys", "uuid", "--code", code).status == 0)
        func keys() throws -> [String] {
            try DatabaseQueue(path: place).read { try String.fetchAll($0, sql: "SELECT id FROM note ORDER BY title") }
        }
        let first = try keys()
        #expect(first.allSatisfy { UUID(uuidString: $0) != nil } && Set(first).count == 2)
        #expect(try convert("--style", "sql", "--keys", "uuid", "--code", code, "--force").status == 0)
        #expect(try keys() == first)
        try DatabaseQueue(path: place).read { database in
            let pairs = try Int.fetchOne(database, sql: "SELECT count(*) FROM note_tags JOIN tag ON tag.id = tag_id")
            #expect(pairs == 2)
            #expect(try Int.fetchOne(database, sql: "SELECT count(created_at) FROM note") == 0)
        }
        // The statements create the same tables.
        let text = try String(contentsOfFile: code, encoding: .utf8)
        try DatabaseQueue().write { try $0.execute(sql: text) }
        #expect(text.contains("REFERENCES \"person\" (\"id\") ON DELETE SET NULL"))
    }

    @Test func `records are Swift source`() throws {
        let code = store.file("Records.swift")
        #expect(try convert("--code", code).status == 0)
        let text = try String(contentsOfFile: code, encoding: .utf8)
        #expect(text.contains("struct Note: Codable, Identifiable, FetchableRecord, PersistableRecord, Sendable {"))
        #expect(text.contains("    var createdAt: Date?\n"))
        #expect(
            text.contains(
                "    static let author = belongsTo(Person.self, key: \"author\", using: ForeignKey([\"authorId\"]))\n"))
        #expect(text.contains("struct NoteTags: Codable"))
    }

    @Test func `the constraints that the store does not satisfy are reported`() throws {
        let accounts = try AccountsStore()
        let queue = try DatabaseQueue(path: accounts.path)
        try queue.write { try $0.execute(sql: "UPDATE ZACCOUNT SET ZNAME = NULL WHERE Z_PK = 1") }
        try queue.close()
        let run = try CommandRun("convert", accounts.path, "-o", accounts.file("plain.sqlite"), "--json")
        #expect(run.status == 2, "\(run.errors)")
        #expect(
            run.output.contains("account.name has nulls in the store, so that the constraint NOT NULL was omitted."))
    }

    @Test func `an error leaves neither the database nor the code`() throws {
        let code = store.file("Records.swift")
        try "earlier".write(toFile: code, atomically: true, encoding: .utf8)
        let missing = store.file("none/Records.swift")
        #expect(try convert("--code", missing).status == 1)
        #expect(!FileManager.default.fileExists(atPath: place))
        #expect(try convert("--code", code, "--force").status == 0)
        #expect(try String(contentsOfFile: code, encoding: .utf8) != "earlier")
    }

    @Test func `the code may not be at the location of the database or of one of its files`() throws {
        let link = store.file("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: store.folder.path)
        let before = try FileManager.default.contentsOfDirectory(atPath: store.folder.path).sorted()
        let codes = ["", "-wal", "-shm", "-journal", ".files/a.swift"].map { place + $0 } + [link + "/plain.sqlite"]
        for code in codes {
            let run = try convert("--code", code, "--force")
            #expect(run.status == 1, "\(code)")
            #expect(run.errors.contains("would replace the database"), "\(run.errors)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder.path).sorted() == before)
    }

    @Test func `the code has its previous content if the database cannot be moved`() throws {
        let code = store.file("Records.swift")
        try "earlier".write(toFile: code, atomically: true, encoding: .utf8)
        let file = try CodeFile(path: code, isReplaced: true)
        try file.write("later")
        #expect(try String(contentsOfFile: code, encoding: .utf8) == "later")
        file.restore()
        #expect(try String(contentsOfFile: code, encoding: .utf8) == "earlier")
        let new = store.file("New.swift")
        let other = try CodeFile(path: new, isReplaced: false)
        other.restore()
        try other.write("later")
        other.restore()
        #expect(!FileManager.default.fileExists(atPath: new))
    }

    @Test func `dates and numbers keep all their digits`() throws {
        let queue = try DatabaseQueue(path: store.path)
        try queue.write { database in
            try database.execute(
                sql:
                    "UPDATE ZNOTE SET ZCREATEDAT = 465131727.39283, ZRANK = 0.1, ZIDENTIFIER = randomblob(16), ZISPINNED = 1; UPDATE ZITEM SET ZPRICE = 12.34"
            )
        }
        try queue.close()
        #expect(try convert().status == 0)
        let row = try #require(
            try DatabaseQueue(path: place).read { try Row.fetchOne($0, sql: "SELECT createdAt, price FROM note, item") }
        )
        #expect((row["createdAt"] as String).hasPrefix("2015-09-28 11:"))
        #expect(row["price"] as String == "12.34")
    }

    @Test func `references to objects that do not exist are reported, and null`() throws {
        let queue = try DatabaseQueue(path: store.path)
        try queue.write { try $0.execute(sql: "UPDATE ZNOTE SET ZAUTHOR = 9 WHERE Z_PK = 2") }
        try queue.close()
        let run = try convert()
        #expect(run.status == 2, "\(run.errors)")
        #expect(run.errors.contains("Note/p2") && run.errors.contains("Person/p9"), "\(run.errors)")
        #expect(
            try DatabaseQueue(path: place).read { try Int.fetchOne($0, sql: "SELECT count(authorId) FROM note") } == 1)
    }
}
