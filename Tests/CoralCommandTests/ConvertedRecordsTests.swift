import Coral
import Foundation
import GRDB
import Testing

/// The records that `coral convert` writes: `AccountRecords.swift` is such a file, which is compiled with these tests.
@Suite struct ConvertedRecordsTests {
    private let store: AccountsStore
    private let place: String

    init() throws {
        store = try AccountsStore()
        place = store.file("plain.sqlite")
    }

    private func convert(_ arguments: String...) throws -> CommandRun {
        try CommandRun(["convert", store.path, "-o", place] + arguments)
    }

    @Test func `the file that is compiled here is what the command writes`() throws {
        let code = store.file("Records.swift")
        let run = try convert("--keys", "uuid", "--code", code)
        #expect(run.status == 0, "\(run.errors)")
        let compiled = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("AccountRecords.swift")
        #expect(try String(contentsOfFile: code, encoding: .utf8) == String(contentsOf: compiled, encoding: .utf8))
    }

    @Test func `records read and write the database`() throws {
        #expect(try convert("--keys", "uuid").status == 0)
        try DatabaseQueue(path: place).write { database in
            var first = try #require(try Account.filter(Column("name") == "Ada's \"account\"").fetchOne(database))
            #expect(first.type == "Account" && first.`class` == true && first.token == AccountsStore.token)
            #expect(first.createdAt == Date(timeIntervalSince1970: 1.25) && first.ratio == 0.1)
            #expect(first.balance == Decimal(string: "12.34") && first.photo == Data([0, 1, 255]))
            #expect(first.site?.absoluteString == "https://example.com/a?b&c")
            // UUIDs as keys find their rows.
            #expect(try Account.fetchOne(database, id: first.id)?.name == first.name)
            #expect(try first.request(for: Account.children).fetchAll(database).map(\.name) == ["Trial", "Premium"])
            #expect(try first.request(for: Account.labels).fetchAll(database).map(\.id) == ["z", "a", "m"])
            #expect(try first.request(for: Account.profile).fetchOne(database)?.id == "m")
            #expect(try first.request(for: Account.friends).fetchCount(database) == 2)
            let trial = try #require(try Account.filter(Column("type") == "TrialAccount").fetchOne(database))
            #expect(trial.level == nil && trial.level2 == "two" && trial.parentPosition == 0)
            #expect(try trial.request(for: Account.parent).fetchOne(database)?.id == first.id)
            // A record that is written can be read again, in the same form.
            first.createdAt = Date(timeIntervalSince1970: 2.5)
            try first.update(database)
            #expect(try Account.fetchOne(database, id: first.id)?.createdAt == first.createdAt)
            #expect(
                try String.fetchOne(database, sql: "SELECT token FROM account WHERE token IS NOT NULL")
                    == AccountsStore.token.uuidString)
        }
    }

    @Test func `values in files are beside the database, and replaced with it`() throws {
        let run = try convert("--files", "folder")
        #expect(run.status == 0, "\(run.errors)")
        let path = try #require(
            try DatabaseQueue(path: place).read { try String.fetchOne($0, sql: "SELECT photo FROM account") })
        #expect(path.hasPrefix("plain.sqlite.files/"))
        #expect(try Data(contentsOf: store.folder.appendingPathComponent(path)) == Data([0, 1, 255]))
        #expect(try convert("--force").status == 0)
        #expect(!FileManager.default.fileExists(atPath: store.file("plain.sqlite.files")))
    }

    @Test func `a database that is open is not replaced`() throws {
        #expect(try convert().status == 0)
        let pool = try DatabasePool(path: place)
        try pool.write { try $0.execute(sql: "CREATE TABLE own (x)") }
        let run = try convert("--force")
        #expect(run.status == 1 && run.errors.contains("plain.sqlite-wal"), "\(run.errors)")
        #expect(try pool.read { try $0.tableExists("own") })
        try pool.close()
    }
}
