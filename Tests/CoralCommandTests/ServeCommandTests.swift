import Coral
import Foundation
import GRDB
import NotesModel
import Testing

/// `coral serve`: which requests are answered, the content of pages, and changes.
@Suite struct ServeCommandTests {
    private let store: NotesStore

    init() throws { store = try NotesStore() }

    /// The links in the first column of a table, in its order.
    private func objects(in html: String) -> [String] {
        html.matches(of: /<tr><td[^>]*><a href="object\?id=([^"]*)"/).map { String($0.1) }
    }

    private func link(_ kind: String, in html: String) throws -> String {
        let match = try #require(html.firstMatch(of: try Regex("<a href=\"([^\"]*)\" \(kind)")))
        return String(try #require(match[1].substring)).replacingOccurrences(of: "&amp;", with: "&")
    }

    // MARK: - Answered requests

    @Test func `only requests with the token, for this machine and from its own pages are answered`() throws {
        let server = try RunningServer(store.path)
        #expect(server.address.wholeMatch(of: /http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\//) != nil)
        let page = try server.get("")
        #expect(page.status == 200 && page.body.contains(">Note</a>"))
        #expect(page.headers["content-security-policy"]?.contains("default-src 'none'") == true)
        #expect(page.headers["x-content-type-options"] == "nosniff")
        #expect(page.headers["cache-control"] == "no-store")
        let other = server.root.dropLast(2) + (server.root.hasSuffix("0/") ? "1/" : "0/")
        for (path, headers) in [
            ("/", [:]), (String(other), [:]), ("/table?entity=Note", [:]),
            (server.root, ["Host": "attacker.example:\(server.port)"]), (server.root, ["Host": ""]),
            (server.root, ["Origin": "http://attacker.example"]), (server.root, ["Origin": "null"]),
            (server.root, ["Origin": "http://127.0.0.1:1"]), (server.root, ["Sec-Fetch-Site": "cross-site"]),
        ] as [(String, [String: String])] {
            let answer = try server.send("GET", path, headers)
            #expect(answer.status == 403, "\(path) \(headers)")
            #expect(!answer.body.contains("Note") && !answer.body.contains(server.root), "\(path) \(headers)")
        }
        #expect(try server.send("DELETE", server.root).status == 405)
        #expect(try server.get("../\(server.root)etc/passwd").status != 200)
        #expect(try server.get("nothing").status == 404)
        #expect(try server.get("", headers: ["Host": "localhost:\(server.port)"]).status == 200)
        let (status, errors) = try server.end()
        #expect(status == 0, "\(errors)")
    }

    @Test func `a store that is not writable is not changed by any request`() throws {
        let before = try store.contents()
        let server = try RunningServer(store.path)
        for page in ["", "table?entity=Note", "object?id=Note/p1", "model", "history", "table.csv?entity=Note"] {
            #expect(try server.get(page).status == 200, "\(page)")
        }
        let answer = try server.post("set", ["id": "Note/p1", "value.title": "changed", "kind.title": "text"])
        #expect(answer.status == 400 && answer.body.contains("--writable"))
        #expect(try server.end().status == 0)
        #expect(try store.contents() == before)
    }

    // MARK: - Pages

    @Test func `a table has objects, links, and the errors of predicates`() throws {
        let server = try RunningServer(store.path)
        let all = try server.get("table?entity=Note&sort=title&order=descending")
        #expect(objects(in: all.body) == ["Note/p1", "Note/p2"])
        #expect(all.body.contains("aria-sort=\"descending\"") && all.body.contains("Garden, &quot;big&quot;"))
        let some = try server.get("table?entity=Note&where=rank+%3E+0&columns=title,author.name,tags.name")
        #expect(objects(in: some.body) == [] && some.body.contains("Garden") && !some.body.contains("Groceries"))
        #expect(some.body.contains("--entity Note --where 'rank &gt; 0' --columns title,author.name,tags.name"))
        let wrong = try server.get("table?entity=Note&where=rnk+%3E+0")
        #expect(wrong.status == 400)
        #expect(wrong.body.contains("has no property &quot;rnk&quot;.") && wrong.body.contains("\n^"))
        #expect(wrong.body.contains("value=\"rnk &gt; 0\"") && wrong.body.contains("aria-invalid=\"true\""))
        #expect(try server.get("table?entity=Note&where=rank+%3E").body.contains("The predicate is invalid"))
        #expect(try server.get("table?entity=Nite").body.contains("Did you mean"))
        #expect(try server.get("table?entity=Note&sort=tags").status == 400)
        for several in ["title,rank", "title:descending", "title,", "title."] {
            let refused = try server.get("table?entity=Note&sort=\(several)")
            #expect(refused.status == 400 && refused.body.contains("key path"), "\(several): \(refused.body)")
        }
        let byKey = try server.get("table?entity=Note&sort=objectID&after=Note/p1").body
        #expect(objects(in: byKey) == ["Note/p2"])
        #expect(try server.get("table?entity=Note&after=Note/x").status == 400)
        let csv = try server.get("table.csv?entity=Note&columns=title&where=rank+%3E+0")
        #expect(csv.body == "title\r\n\"Garden, \"\"big\"\"\"\r\n")
        #expect(csv.headers["content-disposition"] == "attachment; filename=\"Note.csv\"")
        #expect(try server.get("table.json?entity=Note&columns=title").body.hasPrefix("[\n{\"title\""))
    }

    @Test func `an object has its values, and links in both directions`() throws {
        let server = try RunningServer(store.path)
        let note = try server.get("object?id=Note/p1").body
        #expect(note.contains("<a href=\"object?id=Person/p1\" title=\"Person/p1\">Ada</a>"))
        #expect(note.contains("<a href=\"object?id=Item/p1\""))
        let person = try server.get("object?id=Person/p1").body
        #expect(person.contains("<a href=\"object?id=Note/p1\" title=\"Note/p1\">Groceries</a>"))
        #expect(person.contains("href=\"https://example.com/a?b&amp;c\""))
        #expect(try server.get("object?id=Note/p99").status == 400)
        let model = try server.get("model")
        #expect(model.body.contains("<a href=\"table?entity=Note\">\n<g>"))
    }

    @Test func `content of the store is text in every page`() throws {
        let attack = "</title></pre><script>alert(1)</script><img src=x onerror=alert(2)>\" onfocus=alert(3) '"
        let queue = try DatabaseQueue(path: store.path)
        try queue.write { database in
            try database.execute(
                sql: "UPDATE ZNOTE SET ZTITLE = ?; UPDATE ZPERSON SET ZNAME = ?, ZSITE = ?",
                arguments: [attack, attack, "javascript:alert(4)"])
        }
        try queue.close()
        let server = try RunningServer(store.path, "--writable", "--no-backup")
        let query = attack.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        for page in [
            "table?entity=Note", "table?entity=Note&where=\(query)", "table?entity=\(query)", "object?id=Note/p1",
            "object?id=Person/p1", "object?id=\(query)", "\(query)", "table?entity=Note&columns=\(query)",
            "table?entity=Note&sort=\(query)", "history?since=\(query)",
            "table?entity=Note&sort=title&after=Note/p1&value=\(query)",
        ] {
            let html = try server.get(page).body
            #expect(!html.contains("<script>") && !html.contains("<img"), "\(page)")
            // An attribute cannot be ended.
            #expect(!html.contains("\" onfocus"), "\(page)")
            #expect(!html.contains("href=\"javascript"), "\(page)")
        }
    }

    @Test func `text is found in all values, also in changes that are not saved`() throws {
        let server = try RunningServer(store.path, "--writable", "--no-backup")
        #expect(try server.get("").body.contains("<form role=\"search\" action=\"find\">"))
        let found = try server.get("find?text=GARDEN").body
        #expect(found.contains("<a href=\"object?id=Note/p2\"") && found.contains("<mark>Garden</mark>"))
        #expect(found.contains("1 object with “GARDEN”") && found.contains("value=\"GARDEN\""))
        #expect(try server.get("find?text=nowhere").body.contains("0 objects with"))
        #expect(try server.get("find?text=").body.contains("Enter the text to find."))
        let change = ["id": "Note/p2", "value.title": "unsaved <b>", "kind.title": "text"]
        #expect(try server.post("set", change).status == 303)
        let unsaved = try server.get("find?text=saved%20%3Cb%3E").body
        #expect(unsaved.contains("un<mark>saved &lt;b&gt;</mark>") && !unsaved.contains("<b>"))
    }

    // MARK: - Paging

    @Test(arguments: ["", "&order=descending", "&sort=title", "&sort=title&order=descending", "&sort=author.name"])
    func `pages show every object once, while another process writes`(_ order: String) throws {
        let titles = (0..<130).map { "\($0 % 7)" }
        let store = try NotesStore(titles: titles)
        let queue = try DatabaseQueue(path: store.path)
        try queue.write { try $0.execute(sql: "UPDATE ZNOTE SET ZTITLE = NULL WHERE Z_PK % 11 = 0") }
        let server = try RunningServer(store.path)
        var page = "table?entity=Note\(order)"
        var found: [String] = []
        var pageCount = 0
        while true {
            let html = try server.get(page).body
            found += objects(in: html)
            pageCount += 1
            guard html.contains("rel=\"next\"") else { break }
            page = try link("rel=\"next\"", in: html)
            // An object of an earlier page is deleted; with offsets, another one would be omitted.
            let first = try #require(found.first?.split(separator: "p").last.flatMap { Int($0) })
            if pageCount == 1 { try queue.write { try $0.execute(sql: "DELETE FROM ZNOTE WHERE Z_PK = \(first)") } }
        }
        #expect(pageCount == 3)
        #expect(found.count == 130 && Set(found).count == 130)
    }

    @Test(arguments: ["", "&sort=title"])
    func `pages of a writable store have the changes that are not saved`(_ order: String) throws {
        let store = try NotesStore(titles: (0..<60).map { "\(1000 + $0)" })
        let server = try RunningServer(store.path, "--writable", "--no-backup")
        let change = ["id": "Note/p3", "value.title": "2000", "kind.title": "text"]
        #expect(try server.post("set", change).status == 303)
        let first = try server.get("table?entity=Note\(order)").body
        let second = try server.get(link("rel=\"next\"", in: first)).body
        let found = objects(in: first) + objects(in: second)
        #expect(found.count == 60 && Set(found).count == 60)
        #expect((order.isEmpty ? first : second).contains("2000"))
    }

    @Test func `a request reads what other processes have saved`() throws {
        let server = try RunningServer(store.path)
        #expect(try server.get("table?entity=Note").body.contains("Groceries"))
        let queue = try DatabaseQueue(path: store.path)
        try queue.write { try $0.execute(sql: "UPDATE ZNOTE SET ZTITLE = 'from outside' WHERE Z_PK = 1") }
        #expect(try server.get("table?entity=Note").body.contains("from outside"))
        try queue.close()
    }

    @Test(arguments: ["", "&order=descending", "&sort=title", "&sort=title&order=descending"])
    func `the previous page has the objects before`(_ order: String) throws {
        let store = try NotesStore(titles: (0..<130).map { "\($0 % 7)" })
        let queue = try DatabaseQueue(path: store.path)
        try queue.write { try $0.execute(sql: "UPDATE ZNOTE SET ZTITLE = NULL WHERE Z_PK % 11 = 0") }
        try queue.close()
        let server = try RunningServer(store.path)
        let first = try server.get("table?entity=Note\(order)").body
        #expect(!first.contains("rel=\"prev\""))
        let second = try server.get(link("rel=\"next\"", in: first)).body
        let third = try server.get(link("rel=\"next\"", in: second)).body
        let back = try server.get(link("rel=\"prev\"", in: third)).body
        #expect(objects(in: back) == objects(in: second) && objects(in: back).count == 50)
        let beginning = try server.get(link("rel=\"prev\"", in: back)).body
        #expect(objects(in: beginning) == objects(in: first) && !beginning.contains("rel=\"prev\""))
        #expect(try server.get(link("rel=\"next\"", in: beginning)).body.contains("rel=\"prev\""))
    }

    @Test func `a filter is chosen instead of written, and is added to the predicate`() throws {
        let server = try RunningServer(store.path)
        let chosen = try server.get(
            "table?entity=Note&where=rank+%3E+-1&filter.key=title&filter.operator=contains&filter.value=GARDEN%2C+%22")
        #expect(objects(in: chosen.body) == ["Note/p2"])
        #expect(chosen.body.contains("value=\"(rank &gt; -1) AND title CONTAINS[cd] &quot;GARDEN, \\&quot;&quot;\""))
        let number = try server.get("table?entity=Note&filter.key=rank&filter.operator=greater&filter.value=0")
        #expect(objects(in: number.body) == ["Note/p2"])
        #expect(try objects(in: server.get("table?entity=Note&filter.key=title&filter.operator=empty").body) == [])
        let wrong = try server.get("table?entity=Note&filter.key=rank&filter.operator=greater&filter.value=many")
        #expect(wrong.status == 400 && wrong.body.contains("rank is compared with a number"))
        let words = try server.get("table?entity=Note&where=garden+big")
        #expect(
            words.status == 400
                && words.body.contains("<a href=\"find?text=garden%20big\">Find “garden big” in all values</a>"))
    }

    @Test func `the first page shows what is in the store`() throws {
        let server = try RunningServer(store.path)
        let page = try server.get("").body
        #expect(page.contains("<a href=\"object?id=Note/p1\" title=\"Note/p1\">Groceries</a>"))
        #expect(page.contains("<a href=\"damage\">Check the store</a>") && page.contains(" kB · "))
        #expect(page.contains("<a href=\"model\"><img src=\"model.svg\" alt=\"Picture of the model\""))
        let picture = try server.get("model.svg")
        #expect(picture.status == 200 && picture.body.hasPrefix("<svg ") && picture.body.contains(">Note</text>"))
    }

    @Test func `the first page has a picture of the dates, without those that mean never`() throws {
        #expect(try !RunningServer(store.path).get("").body.contains("<figure"))
        let queue = try DatabaseQueue(path: store.path)
        try queue.write { database in
            try database.execute(sql: "UPDATE ZNOTE SET ZCREATEDAT = 86400 * 366 * Z_PK")
            try database.execute(
                sql: """
                    INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZCREATEDAT) SELECT Z_PK + 10, Z_ENT, 1, 63113904000 FROM ZNOTE
                    """)
        }
        let server = try RunningServer(store.path)
        let page = try server.get("").body
        #expect(page.contains("aria-label=\"Dates from 2002-01-02 to 2003-01-03\""))
        #expect(page.matches(of: /<rect x/).count == 2 && page.contains("<title>from 2002-01-02: 1 date</title>"))
        try queue.write { try $0.execute(sql: "UPDATE ZNOTE SET ZCREATEDAT = NULL WHERE Z_PK = 2") }
        try queue.close()
        #expect(try !server.get("").body.contains("<figure"))
    }

    @Test func `the first page has the objects that were viewed, the last one first`() throws {
        let server = try RunningServer(store.path, "--writable", "--no-backup")
        let links = {
            let page = try server.get("").body
            let list = page.firstMatch(of: /<ul class="recent"[^\n]*/).map { String($0.0) } ?? ""
            return list.matches(of: /title="([^"]*)"/).map { String($0.1) }
        }
        #expect(try links() == [])
        for name in ["Note/p1", "Person/p1", "Note/p99", "Note/p2", "Note/p1"] {
            _ = try server.get("object?id=\(name)")
        }
        #expect(try links() == ["Note/p1", "Note/p2", "Person/p1"])
        // Its name stays, and it is shown again when the deletion is undone.
        #expect(try server.post("delete", ["id": "Note/p2"]).status == 303)
        #expect(try links() == ["Note/p1", "Person/p1"])
        #expect(try server.post("undo", [:]).status == 303)
        #expect(try links() == ["Note/p1", "Note/p2", "Person/p1"])
    }

    @Test func `a browser gets a cookie, and its addresses have no token`() throws {
        let server = try RunningServer(store.path)
        let first = try server.get("", headers: ["Sec-Fetch-Dest": "document"])
        #expect(first.status == 303 && first.headers["location"] == "/coral/")
        let cookie = try #require(first.headers["set-cookie"])
        #expect(cookie.hasSuffix("; Path=/coral/; HttpOnly; SameSite=Strict"))
        let own = String(cookie.prefix { $0 != ";" })
        #expect(own.hasPrefix("coral-\(server.port)="))
        let page = try server.send("GET", "/coral/table?entity=Note", ["Cookie": "other=1; \(own)"])
        #expect(page.status == 200 && objects(in: page.body) == ["Note/p1", "Note/p2"])
        let token = server.root.filter { $0 != "/" }
        #expect(!page.body.contains(token))
        for cookie in ["", "coral-\(server.port)=", "coral-\(server.port)=\(token.dropLast())", "coral=\(token)"] {
            #expect(try server.send("GET", "/coral/table?entity=Note", ["Cookie": cookie]).status == 403, "\(cookie)")
        }
        // Pages of other servers of this machine have the cookie, and another origin.
        for headers in [["Sec-Fetch-Site": "same-site"], ["Origin": "http://127.0.0.1:1"]] {
            let all = headers.merging(["Cookie": own]) { $1 }
            #expect(try server.send("GET", "/coral/table?entity=Note", all).status == 403, "\(headers)")
        }
    }

    // MARK: - Changes

    @Test func `changes are validated, undone one by one, and saved with a backup`() throws {
        let server = try RunningServer(store.path, "--writable")
        let set = { (key: String, value: String) in
            try server.post("set", ["id": "Note/p1", "value.\(key)": value, "return": "object?id=Note/p1"])
        }
        let change = try server.post(
            "set", ["id": "Note/p1", "value.title": "null", "kind.title": "text", "return": "object?id=Note/p1"])
        #expect(change.status == 303 && change.headers["location"] == "\(server.root)object?id=Note/p1")
        #expect(try set("rank", "4").status == 303)
        #expect(try set("author", "").status == 303)
        #expect(try set("items", "Item/p2, Item/p1").status == 303)
        let wrong = try set("rank", "many")
        #expect(wrong.status == 400 && wrong.body.contains("class=\"error\""))
        #expect(try set("author", "Tag/p1").body.contains("is a Tag"))
        var page = try server.get("object?id=Note/p1").body
        #expect(page.contains("value=\"null\"") && page.contains("value=\"4.0\"") && page.contains("Item/p2, Item/p1"))
        #expect(page.contains("not saved"))
        // The store is unchanged so far.
        #expect(
            try CommandRun("query", store.path, "--entity", "Note", "--csv", "--columns", "title").output.contains(
                "Groceries"))
        // Each change is one undo step, including the changes of the inverse.
        #expect(try server.post("undo", [:]).status == 303)
        page = try server.get("object?id=Note/p1").body
        #expect(!page.contains("value=\"Item/p2, Item/p1\"") && page.contains("value=\"4.0\""))
        #expect(try server.post("undo", [:]).status == 303)
        #expect(try server.get("object?id=Note/p1").body.contains("title=\"Person/p1\">Ada</a>"))
        #expect(try server.post("redo", [:]).status == 303)
        #expect(try !server.get("object?id=Note/p1").body.contains("title=\"Person/p1\">Ada</a>"))
        #expect(try server.post("save", [:]).status == 303)
        #expect(try server.get("").body.contains("All changes are saved."))
        let row = try CommandRun(
            "query", store.path, "--entity", "Note", "--where", "rank == 4", "--columns", "title,author,items.@count",
            "--csv")
        #expect(row.output == "title,author,items.@count\r\nnull,,1\r\n", "\(row.output)")
        let backups = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
            .filter { $0.contains("-before-") && $0.hasSuffix(".sqlite") }
        #expect(backups.count == 1)
        #expect(try set("rank", "5").status == 303)
        let (status, errors) = try server.end()
        #expect(status == 1 && errors.contains("The changes of 1 object were not saved"), "\(errors)")
    }

    @Test func `a rejected change leaves the page, the field and what can be redone`() throws {
        let accounts = try AccountsStore()
        let server = try RunningServer(accounts.path, "--writable", "--no-backup")
        let set = { (key: String, value: String) in
            try server.post("set", ["id": "Account/p1", "value.\(key)": value, "return": "object?id=Account/p1"])
        }
        #expect(try set("name", "\"Grace\"").status == 303)
        #expect(try server.post("undo", [:]).status == 303)
        // The name is required.
        let wrong = try set("name", "null")
        #expect(wrong.status == 400)
        // The first content of the page is the error, with a link to its field, at which it stands again.
        let banner = try #require(wrong.body.firstRange(of: "role=\"alert\""))
        let heading = try #require(wrong.body.firstRange(of: "<article>"))
        #expect(banner.lowerBound < heading.lowerBound && wrong.body.contains("href=\"#field-name\""))
        #expect(
            wrong.body.contains("id=\"field-name\" aria-invalid=\"true\" aria-describedby=\"mistake-name\" autofocus"))
        let kept = try set("ratio", "much").body
        #expect(kept.contains("value=\"much\""))
        // What was rejected cannot be redone, and what was undone can.
        #expect(try server.post("redo", [:]).status == 303)
        #expect(try server.get("object?id=Account/p1").body.contains("value=\"Grace\""))
        #expect(try server.get("").body.contains("<button disabled>Redo</button>"))
    }

    @Test func `a form changes what was entered, all of it or nothing`() throws {
        let server = try RunningServer(store.path, "--writable", "--no-backup")
        let fields = [
            "id": "Note/p1", "kind.title": "text", "was.title": "Groceries", "was.rank": "0.0",
            "was.author": "Person/p1",
            "kind.items": "members", "was.items": "Item/p1",
        ]
        let send = { (entered: [String: String]) in
            try server.post("set", fields.merging(entered) { $1 })
        }
        // Another request has changed the title since: what the form was not asked to change stays.
        #expect(
            try server.post("set", ["id": "Note/p1", "value.title": "by another", "kind.title": "text"]).status == 303)
        let first = [
            "value.title": "Groceries", "value.rank": "7", "value.author": "Person/p1", "value.items": "Item/p1",
        ]
        #expect(try send(first.merging(["add.items": "Item/p2"]) { $1 }).status == 303)
        var page = try server.get("object?id=Note/p1").body
        #expect(page.contains("value=\"by another\"") && page.contains("value=\"7.0\""))
        #expect(page.contains("value=\"Item/p1, Item/p2\""))
        #expect(try server.post("undo", [:]).status == 303)
        page = try server.get("object?id=Note/p1").body
        #expect(page.contains("value=\"0.0\"") && page.contains("value=\"Item/p1\""))
        // Two mistakes are shown together, with what was entered, and the third value is not changed.
        let wrong = try send(["value.title": "new", "value.rank": "many", "value.author": "Tag/p1"])
        #expect(
            wrong.status == 400 && wrong.body.contains("href=\"#field-rank\"")
                && wrong.body.contains("href=\"#field-author\""))
        #expect(wrong.body.contains("value=\"many\"") && wrong.body.contains("value=\"new\""))
        #expect(try server.get("object?id=Note/p1").body.contains("value=\"by another\""))
        // A text of spaces, an empty one and none are three values.
        #expect(try send(["value.title": ""]).status == 303)
        #expect(try !server.get("object?id=Note/p1").body.contains("aria-label=\"No value of title\" checked"))
        #expect(try send(["value.title": "Groceries", "none.title": "1", "save": "1"]).status == 303)
        #expect(try server.get("object?id=Note/p1").body.contains("aria-label=\"No value of title\" checked"))
        #expect(try server.get("").body.contains("All changes are saved."))
        #expect(try server.end().status == 0)
    }

    @Test func `objects are inserted and deleted, each in one step that is undone`() throws {
        let server = try RunningServer(store.path, "--writable", "--no-backup")
        #expect(try server.get("table?entity=Tag").body.contains("<button>New Tag</button>"))
        let inserted = try server.post("insert", ["entity": "Tag"])
        #expect(inserted.status == 303)
        let address = try #require(inserted.headers["location"])
        #expect(address == "\(server.root)object?id=Tag/p2")
        #expect(
            try server.post("set", ["id": "Tag/p2", "value.name": "new", "kind.name": "text", "save": "1"]).status
                == 303)
        let query = ["query", store.path, "--entity", "Tag", "--columns", "name", "--csv"]
        #expect(try CommandRun(query).output == "name\r\nhome\r\nnew\r\n")
        let deleted = try server.post("delete", ["id": "Tag/p2"])
        #expect(deleted.headers["location"] == "\(server.root)table?entity=Tag")
        #expect(try server.get("object?id=Tag/p2").status == 400)
        #expect(try server.post("undo", [:]).status == 303)
        #expect(try server.get("object?id=Tag/p2").status == 200)
        #expect(try server.post("delete", ["id": "Tag/p2"]).status == 303)
        #expect(try server.post("save", [:]).status == 303)
        #expect(try CommandRun(query).output == "name\r\nhome\r\n")
        #expect(try server.post("insert", ["entity": "Nothing"]).status == 400)
    }

    @Test func `a change of another site, or without an origin, is refused`() throws {
        let server = try RunningServer(store.path, "--writable", "--no-backup")
        let fields = ["id": "Note/p1", "value.title": "changed", "kind.title": "text"]
        for headers in [
            ["Origin": "http://attacker.example"], ["Origin": ""], ["Origin": "null"], ["Sec-Fetch-Site": "same-site"],
        ] {
            #expect(try server.post("set", fields, headers: headers).status == 403, "\(headers)")
        }
        #expect(try server.get("set?id=Note/p1&value.title=changed").status == 404)
        #expect(try server.get("").body.contains("All changes are saved."))
        // An address outside the site is not followed.
        let answer = try server.post("undo", ["return": "//attacker.example/"])
        #expect(answer.headers["location"] == server.root)
    }
}
