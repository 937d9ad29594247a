import Coral
import Foundation
import Testing

/// `coral serve` and requests that no browser sends.
@Suite struct HostileRequestTests {
    private let store: NotesStore

    init() throws { store = try NotesStore() }

    /// The host and the origin of requests to a server, with which a change is accepted.
    private func lines(_ server: RunningServer) -> String {
        "Host: 127.0.0.1:\(server.port)\r\nOrigin: http://127.0.0.1:\(server.port)\r\n"
    }

    @Test func `an endless line or header is refused before its end, without the token`() throws {
        let server = try RunningServer(store.path)
        let many = String(repeating: "a", count: 1_000_000)
        for request in [
            many, "GET /\(many)", "GET /?\(many)", "GET / HTTP/1.1\r\nX: \(many)", "GET / HTTP/1.1\r\n\(many)",
            "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX:\(String(repeating: " ", count: 1_000_000))",
            "GET / HTTP/1.1\r\n" + String(repeating: "X: 1\r\n", count: 100_000),
            "GET / HTTP/1.1\r\n" + String(repeating: "X: \(many.prefix(1000))\r\n", count: 200),
        ] {
            // The response arrives, or the connection is closed, although the request has no end.
            let answer = try #require(try server.exchange(Data(request.utf8), seconds: 20), "\(request.prefix(40))")
            #expect(answer.isEmpty || answer.starts(with: "HTTP/1.1 4"), "\(request.prefix(40))")
        }
        #expect(try server.get("").status == 200)
    }

    @Test func `a body is refused before it is read`() throws {
        let server = try RunningServer(store.path, "--writable", "--no-backup")
        let length = "Content-Length: 1000000000000\r\n\r\n"
        for (request, status) in [
            ("POST /set HTTP/1.1\r\n\(lines(server))\(length)", 403),
            ("POST \(server.root)set HTTP/1.1\r\n\(lines(server))\(length)", 413),
            ("GET \(server.root) HTTP/1.1\r\n\(lines(server))Content-Length: 1\r\n\r\n", 413),
            (
                "POST \(server.root)set HTTP/1.1\r\n\(lines(server))Transfer-Encoding: chunked\r\n\r\n"
                    + "3000000\r\n\(String(repeating: "a", count: 40_000_000))", 411
            ),
            // Each of these chunks would be an event of the parser.
            (
                "POST \(server.root)set HTTP/1.1\r\n\(lines(server))Transfer-Encoding: chunked\r\n\r\n"
                    + String(repeating: "1\r\na\r\n", count: 1_000_000), 411
            ),
        ] {
            let answer = try #require(try server.exchange(Data(request.utf8), seconds: 60), "\(request.prefix(60))")
            // The rest of a large body may be discarded together with the response.
            #expect(
                answer.starts(with: "HTTP/1.1 \(status)") || answer.isEmpty && request.utf8.count > 1_000_000,
                "\(request.prefix(60)): \(answer.prefix(60))")
        }
        #expect(try server.get("").body.contains("All changes are saved."))
    }

    @Test func `a request that can be read in two ways is refused`() throws {
        let server = try RunningServer(store.path, "--writable", "--no-backup")
        let own = lines(server)
        let change = "id=Note/p1&value.title=changed&kind.title=text"
        let both = "Content-Length: \(change.utf8.count)\r\nTransfer-Encoding: chunked\r\n\r\n"
        for request in [
            "POST \(server.root)set HTTP/1.1\r\n\(own)\(both)\(change)",
            "POST \(server.root)set HTTP/1.1\r\n\(own)Content-Length: -1\r\n\r\n\(change)",
            "POST \(server.root)set HTTP/1.1\r\n\(own)Content-Length: 1\r\nContent-Length: 44\r\n\r\n\(change)",
            "POST \(server.root)set HTTP/1.1\r\n\(own)Content-Length: 99999999999999999999\r\n\r\n\(change)",
            "POST \(server.root)set HTTP/1.1\r\n\(own)Transfer-Encoding: gzip\r\n\r\n\(change)",
            "POST \(server.root)set HTTP/1.1\r\n\(own)Transfer-Encoding: chunked\r\n\r\nxyz\r\n\(change)",
            "GET \(server.root) HTTP/1.1\r\nHost: attacker.example\r\nHost: 127.0.0.1:\(server.port)\r\n\r\n",
            "GET \(server.root) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nHost: attacker.example\r\n\r\n",
            "GET \(server.root) HTTP/1.1\r\nHost : 127.0.0.1:\(server.port)\r\n\r\n",
            "GET \(server.root)\u{0} HTTP/1.1\r\n\(own)\r\n", "GET \(server.root) HTTP/9.9\r\n\(own)\r\n",
            "GET http://127.0.0.1:\(server.port)\(server.root) HTTP/1.1\r\nHost: attacker.example\r\n\r\n",
        ] {
            let answer = try #require(try server.exchange(Data(request.utf8), seconds: 20), "\(request)")
            #expect(answer.isEmpty || answer.starts(with: "HTTP/1.1 4"), "\(request): \(answer.prefix(200))")
            #expect(!answer.contains("Groceries"))
        }
        #expect(try server.get("").body.contains("All changes are saved."))
    }

    @Test func `mutated requests neither end the server nor pass its gate`() throws {
        let server = try RunningServer(store.path)
        let request = Array(
            "GET \(server.root)table?entity=Note&where=rank+%3E+0 HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nConnection: close\r\n\r\n"
                .utf8)
        var generator = Repeatable(state: 1)
        for number in 0..<300 {
            var bytes = request
            for _ in 0...generator.next(below: 3) {
                let place = generator.next(below: bytes.count)
                switch generator.next(below: 4) {
                case 0: bytes[place] = UInt8(generator.next(below: 256))
                case 1: bytes.removeSubrange(place..<min(place + 1 + generator.next(below: 8), bytes.count))
                case 2: bytes.insert(contentsOf: bytes[place..<min(place + 20, bytes.count)], at: place)
                default: bytes.insert(contentsOf: [13, 10], at: place)
                }
            }
            let isAddressed = String(decoding: bytes, as: UTF8.self).contains(server.root.dropFirst().dropLast())
            // The end of the sent bytes is the end of the connection, so that an incomplete request ends too.
            let answer = try #require(try server.exchange(Data(bytes), seconds: 20, ends: true), "mutation \(number)")
            #expect(answer.isEmpty || answer.starts(with: "HTTP/1."), "mutation \(number)")
            #expect(isAddressed || !answer.contains("Garden"), "mutation \(number)")
        }
        #expect(try server.get("").status == 200)
        #expect(try server.end().status == 0)
    }

    @Test func `connections that wait do not keep others from being answered`() throws {
        let server = try RunningServer(store.path)
        var waiting: [RunningServer.Connection] = []
        for _ in 0..<200 { waiting.append(try server.begin(text: "GET / HTTP/1.1\r\n")) }
        #expect(try server.get("").status == 200)
        // The oldest ones have been closed.
        #expect(try waiting[0].read(until: "nothing") == "")
    }

    @Test func `a request that follows another one at once is answered when its body arrives`() throws {
        let server = try RunningServer(store.path, "--writable", "--no-backup")
        let change = "id=Note/p1&value.title=changed&kind.title=text"
        let connection = try server.begin(
            text: """
                GET \(server.root)nothing HTTP/1.1\r\n\(lines(server))\r
                POST \(server.root)set HTTP/1.1\r\n\(lines(server))Content-Length: \(change.utf8.count)\r\n\r\n
                """)
        #expect(try connection.read(until: "</html>").contains("HTTP/1.1 404"))
        Thread.sleep(forTimeInterval: 0.5)
        try connection.send(change)
        #expect(try connection.read(until: "HTTP/1.1 303").contains("HTTP/1.1 303"))
        try connection.close()
        #expect(try server.get("object?id=Note/p1").body.contains("value=\"changed\""))
    }

    @Test func `the work of a request ends with its connection`() throws {
        let store = try NotesStore(titles: (0..<3000).map { "\($0)" })
        let server = try RunningServer(store.path)
        let slow =
            "SUBQUERY(author.notes, $n, SUBQUERY(author.notes, $m, $m.title CONTAINS 'none' AND $n.title CONTAINS 'x').@count > 5).@count > 5"
            .addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        // Documents have no page that shows the work.
        for page in ["table.csv", "table.json", "table"] {
            let connection = try server.begin("\(page)?entity=Note&sort=rank&where=\(slow)")
            Thread.sleep(forTimeInterval: 0.3)
            try connection.close()
        }
        #expect(try server.get("object?id=Note/p1").status == 200)
    }

    /// Repeatable numbers.
    private struct Repeatable {
        var state: UInt64

        mutating func next(below limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
    }
}
