import Coral
import Foundation
import GRDB
import NotesModel
import Testing

@testable import CoralCommand

/// `coral serve` with work that takes long, large tables, damaged stores, and values of all types.
@Suite struct ServedWorkTests {
    /// A store with so many notes of one author that a condition on all pairs takes hours.
    private func largeStore() throws -> NotesStore {
        let store = try NotesStore()
        let queue = try DatabaseQueue(path: store.path)
        try queue.write { database in
            let entity = try Int.fetchOne(database, sql: "SELECT Z_ENT FROM ZNOTE") ?? 0
            try database.execute(
                sql: """
                    WITH RECURSIVE n(x) AS (SELECT 3 UNION ALL SELECT x + 1 FROM n WHERE x < 50000)
                    INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZRANK, ZAUTHOR) SELECT x, \(entity), 1, 'title ' || x, x, 1 FROM n;
                    UPDATE Z_PRIMARYKEY SET Z_MAX = 50000 WHERE Z_NAME = 'Note'
                    """)
        }
        try queue.close()
        return store
    }

    private let slow =
        "table?entity=Note&sort=rank&where="
        + (("SUBQUERY(author.notes, $n, $n.title CONTAINS 'none').@count > 5")
            .addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")

    #if !canImport(Darwin)

        @Test(.timeLimit(.minutes(20))) func `slow work is shown, and cancelled by its button`() throws {
            let store = try largeStore()
            let server = try RunningServer(store.path)
            let connection = try server.begin(slow)
            let text = try connection.read(until: "Cancel</button>")
            // The page has its form and a progress indicator.
            #expect(text.contains("id=\"where\"") && text.contains("<progress") && !text.contains("class=\"done\""))
            let fields = text.matches(of: /type="hidden" name="([a-z]+)" value="([^"]*)"/).map {
                (String($0.1), String($0.2).replacingOccurrences(of: "&amp;", with: "&"))
            }
            let form = Dictionary(fields) { $1 }
            // Following a link changes nothing, and does not wait for the work.
            let link = FormFields.address("cancel", [("work", form["work"])])
            #expect(try server.get(link).status == 405)
            let answer = try server.post("cancel", form)
            #expect(answer.status == 303)
            let place = try #require(answer.headers["location"]?.dropFirst(server.root.count))
            let cancelled = try server.get(String(place)).body
            #expect(
                cancelled.contains("The work was cancelled.") && cancelled.contains("value=\"SUBQUERY(author.notes"))
            let rest = try connection.read(until: "</html>")
            #expect(rest.contains("class=\"done\"") && rest.contains("class=\"error\""))
            #expect(try server.get("table?entity=Note").body.contains("more than 10,000 objects"))
        }

        @Test(.timeLimit(.minutes(20))) func `slow work ends when its connection is closed`() throws {
            let store = try largeStore()
            let server = try RunningServer(store.path)
            let connection = try server.begin(slow)
            _ = try connection.read(until: "Cancel</button>")
            try connection.close()
            // This request waits until the earlier work has ended.
            #expect(try server.get("table?entity=Note").body.contains("more than 10,000 objects"))
        }

    #endif

    @Test(arguments: [[], ["--writable", "--no-backup"]])
    func `documents are sent while they are written`(_ options: [String]) throws {
        let store = try largeStore()
        let server = try RunningServer(arguments: [store.path] + options)
        let csv = try server.get("table.csv?entity=Note&columns=title&sort=rank&order=descending")
        #expect(csv.headers["transfer-encoding"] == "chunked")
        let lines = csv.body.components(separatedBy: "\r\n")
        #expect(lines.count == 50_002 && lines.first == "title" && lines[1] == "title 50000" && lines.last == "")
        let query = try CommandRun(
            "query", store.path, "--entity", "Note", "--columns", "title", "--sort", "rank:descending", "--json")
        let json = try server.get("table.json?entity=Note&columns=title&sort=rank&order=descending").body
        #expect(json == query.output)
        // A download that is not read to its end does not block the others.
        let unread = try server.begin("table.csv?entity=Note")
        _ = try unread.read(until: "title 3")
        if options.isEmpty { #expect(try server.get("object?id=Note/p1").status == 200) }
        try unread.close()
        #expect(try server.get("object?id=Note/p1").status == 200)
    }

    // MARK: - Damage

    @Test func `a store with a damaged page shows what can be read, and how it is rescued`() throws {
        let store = try largeStore()
        let root = try DatabaseQueue(path: store.path).read { database in
            try Int.fetchOne(database, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'ZNOTE'") ?? 0
        }
        let file = try FileHandle(forUpdating: store.url)
        try file.seek(toOffset: UInt64(root - 1) * 4096)
        try file.write(contentsOf: Data(repeating: 0x7F, count: 4096))
        try file.close()
        let before = try store.contents()
        let server = try RunningServer(store.path)
        let overview = try server.get("").body
        #expect(overview.contains("Person"), "\(overview)")
        #expect(try server.get("object?id=Person/p1").body.contains("Ada"))
        #expect(try server.get("table?entity=Note").body.contains("href=\"damage\""))
        let damage = try server.get("damage").body
        #expect(damage.contains("What the check finds") && damage.contains("What can be read"))
        #expect(damage.contains("<td>Person</td><td class=\"number\">1</td>"))
        #expect(damage.contains("coral salvage \(store.path) -o"))
        _ = try server.end()
        #expect(try store.contents() == before)
    }

    @Test func `a search that reaches a damaged page ends with the error`() throws {
        let store = try largeStore()
        let title = try #require(try Data(contentsOf: store.url).range(of: Data("title 49000".utf8)))
        let file = try FileHandle(forUpdating: store.url)
        try file.seek(toOffset: UInt64(title.lowerBound / 4096 * 4096))
        try file.write(contentsOf: Data([0x77]))
        try file.close()
        let server = try RunningServer(store.path)
        // Whether or not the beginning of the page was sent before the error.
        for page in ["find?text=zzzz", "table?entity=Note&where=title+CONTAINS%5Bcd%5D+%22zzzz%22"] {
            let body = try server.get(page).body
            #expect(
                body.contains("class=\"error\"") && body.contains("href=\"damage\""), "\(page): \(body.suffix(500))")
            #expect(body.hasSuffix("</html>\n"), "\(page)")
        }
    }

    @Test func `a store that cannot be opened has a page`() throws {
        let store = try NotesStore()
        let file = try FileHandle(forUpdating: store.url)
        try file.write(contentsOf: Data(repeating: 0x7F, count: 100))
        try file.close()
        let server = try RunningServer(store.path)
        for page in ["", "table?entity=Note", "damage"] {
            let answer = try server.get(page)
            #expect(answer.status == 200 && answer.body.contains("coral salvage"), "\(answer.body)")
        }
        #expect(try server.end().status == 0)
    }

    // MARK: - Values

    @Test func `values of all types are edited, and checked`() throws {
        let accounts = try AccountsStore()
        let server = try RunningServer(accounts.path, "--writable", "--no-backup")
        let page = try server.get("object?id=Account/p1").body
        #expect(page.contains("type=\"file\"") && page.contains("<option value=\"true\" selected>true</option>"))
        #expect(page.contains("pattern=\"[0-9A-Fa-f]{8}") && page.contains("inputmode=\"decimal\""))
        let set = { (key: String, value: String) in
            try server.post("set", ["id": "Account/p1", "value.\(key)": value])
        }
        for (key, value) in [
            ("photo", "hex:00 ff 10"), ("photo", "AP8Q"), ("token", "01234567-89AB-CDEF-0123-456789ABCDE0"),
            ("site", "https://example.com/new"), ("class", "false"), ("createdAt", "2024-02-29 12:30"),
        ] {
            #expect(try set(key, value).status == 303, "\(key)=\(value)")
        }
        for (key, value) in [
            ("photo", "hex:0"), ("photo", "hex:xy"), ("photo", "no bytes!"), ("token", "x"), ("site", "http://[x"),
            ("class", "maybe"), ("createdAt", "soon"), ("balance", "much"),
        ] {
            let answer = try set(key, value)
            #expect(answer.status == 400 && answer.body.contains("class=\"error\""), "\(key)=\(value)")
        }
        let large = String(repeating: "A", count: 14_000_000)
        #expect(try set("photo", large).body.contains("10 MB"))
        #expect(try server.post("save", [:]).status == 303)
        let row = try CommandRun(
            "query", accounts.path, "--entity", "Account", "--columns", "photo,token,class", "--csv")
        #expect(row.output.contains("AP8Q,01234567-89AB-CDEF-0123-456789ABCDE0,false"), "\(row.output)")
    }
}
