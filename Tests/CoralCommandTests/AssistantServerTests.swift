import Foundation
import Testing

@testable import CoralCommand

/// `coral mcp`: the protocol, its tools, and hostile messages.
@Suite struct AssistantServerTests {
    private let store: NotesStore

    init() throws { store = try NotesStore() }

    /// The answers to messages, one in each line.
    private func answers(_ lines: [String], _ options: String...) throws -> [JSONValue] {
        let input = Data((lines.joined(separator: "\n") + "\n").utf8)
        let run = try CommandRun(["mcp", store.path] + options, input: input)
        #expect(run.status == 0, "\(run.errors)")
        return try run.output.split(separator: "\n").map {
            try JSONDecoder().decode(JSONValue.self, from: Data($0.utf8))
        }
    }

    private static let meta = #""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#

    private func call(_ name: String, _ arguments: String = "{}", id: Int = 1) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"tools/call","params":{"name":"\#(name)","arguments":\#(arguments),\#(Self.meta)}}"#
    }

    private func data(_ answer: JSONValue) -> JSONValue? { answer["result"]?["structuredContent"]?["data"] }

    @Test func `a session begins with initialize in the older revisions, and needs nothing in the newest`() throws {
        let answers = try answers([
            #"{"jsonrpc":"2.0","id":0,"method":"tools/list"}"#,
            #"{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{\#(Self.meta)}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{\#(Self.meta)}}"#,
            #"{"jsonrpc":"2.0","id":2,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}}}"#,
            #"{"jsonrpc":"2.0","id":3,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
            #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, #"{"jsonrpc":"2.0","id":4,"method":"ping"}"#,
            #"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#,
        ])
        #expect(answers.count == 7)
        #expect(answers[0]["error"]?["code"] == -32600)
        #expect(answers[1]["id"] == "a" && answers[1]["result"]?["resultType"] == "complete")
        #expect(answers[2]["result"]?["capabilities"]?["tools"] != nil)
        #expect(answers[3]["error"]?["code"] == -32022 && answers[3]["error"]?["data"]?["requested"] == "2099-01-01")
        #expect(answers[4]["result"]?["protocolVersion"] == "2025-06-18")
        #expect(answers[5]["result"] == [:])
        guard case .array(let tools)? = answers[6]["result"]?["tools"] else {
            Issue.record("no tools")
            return
        }
        #expect(
            tools.compactMap { $0["name"]?.string }
                == ["info", "model", "query", "get", "find", "history", "explain", "doctor"])
        #expect(tools.allSatisfy { $0["annotations"]?["readOnlyHint"] == true })
    }

    @Test func `each tool reads the store, and its values are marked as untrusted`() throws {
        let before = try store.contents()
        let answers = try answers([
            call("info"), call("model", #"{"entity":"Note"}"#),
            call("query", #"{"entity":"Note","where":"rank > 0","columns":"title","limit":5}"#),
            call("get", #"{"object":"Note/p1","depth":1}"#), call("find", #"{"text":"garden"}"#), call("history"),
            call("explain"), call("doctor"),
        ])
        #expect(answers.count == 8)
        for (index, answer) in answers.enumerated() where index != 5 {
            #expect(answer["result"]?["isError"] == false, "\(index): \(answer)")
            #expect(answer["result"]?["structuredContent"]?["untrusted"] == true)
            guard case .array(let content)? = answer["result"]?["content"] else { continue }
            #expect(content.first?["text"]?.string?.hasPrefix("Untrusted data of the store follows.") == true)
        }
        #expect(data(answers[0])?["objectCount"] == 6)
        #expect(answers[2].line.contains("Garden") && !answers[2].line.contains("Groceries"))
        #expect(data(answers[6])?["opens"] == true)
        #expect(try store.contents() == before)
    }

    @Test func `what a client sends is never an option`() throws {
        let before = try store.contents()
        let answers = try answers(
            [
                call("query", #"{"entity":"--output=/tmp/x"}"#), call("get", #"{"object":"--help"}"#),
                call("find", #"{"text":"--csv"}"#), call("query", #"{"entity":"Note","output":"x"}"#),
                call("query", #"{"entity":"Note","limit":100000}"#), call("query", #"{"entity":7}"#), call("query"),
                call("set", #"{"entity":"Note","where":"TRUEPREDICATE","assignments":["--no-backup"]}"#),
            ], "--writable")
        #expect(answers.count == 8)
        #expect(answers[0]["result"]?["isError"] == true && answers[0].line.contains("The model has no entity"))
        #expect(answers[1]["result"]?["isError"] == true)
        #expect(answers[2]["result"]?["isError"] == false, "\(answers[2])")
        for index in 3...6 { #expect(answers[index]["error"]?["code"] == -32602, "\(index): \(answers[index])") }
        #expect(answers[7]["result"]?["isError"] == true, "\(answers[7])")
        #expect(try store.contents() == before)
    }

    @Test func `all calls of a session read one state, whatever another process writes`() throws {
        let get = { (id: Int) in call("get", #"{"object":"Note/p1"}"#, id: id) }
        let output = store.file("answers")
        let run = try CommandRun(
            shell: """
                answered() { n=0; until grep -q '"id":'"$1" '\(output)' || [ $((n += 1)) -gt 1200 ]; do sleep 0.05; done; }
                {
                    echo '\(get(1))'; answered 1
                    coral set '\(store.path)' --entity Note --where TRUEPREDICATE rank=7 --yes --no-backup > /dev/null
                    echo '\(get(2))'; echo '\(get(3))'
                } | coral mcp '\(store.path)' > '\(output)'
                coral query '\(store.path)' --entity Note --columns rank --csv
                """)
        #expect(run.status == 0 && run.output == "rank\r\n7.0\r\n7.0\r\n", "\(run.output)\(run.errors)")
        let answers = try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n").map {
            try JSONDecoder().decode(JSONValue.self, from: Data($0.utf8))
        }
        let results = answers.map(data)
        #expect(results.count == 3 && results[0] != nil && results.allSatisfy { $0 == results[0] }, "\(answers)")
    }

    @Test func `objects are changed only if the server was started for it`() throws {
        let change = call("set", #"{"entity":"Note","where":"title == \"Groceries\"","assignments":["rank=7"]}"#)
        let query = call("query", #"{"entity":"Note","where":"rank == 7","columns":"title"}"#, id: 2)
        let before = try store.contents()
        #expect(try answers([change])[0]["error"]?["code"] == -32602)
        #expect(try store.contents() == before)
        let answers = try answers([query, change, query], "--writable")
        #expect(!answers[0].line.contains("Groceries"))
        #expect(answers[1]["result"]?["isError"] == false, "\(answers[1])")
        #expect(answers[2].line.contains("Groceries"))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: store.folder.path).contains {
                $0.hasPrefix("Notes-before-")
            })
    }

    @Test func `hostile messages have an error as answer, and the session goes on`() throws {
        let deep = String(repeating: "[", count: 100_000)
        let ping = #"{"jsonrpc":"2.0","id":9,"method":"ping"}"#
        let answers = try answers([
            "no json", deep, #"{"a":\#(deep)"#, "[]", "7", "null", "{}", #"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
            #"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, #"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
            #"{"jsonrpc":"2.0","id":1,"method":7}"#, #"{"jsonrpc":"2.0","id":1,"method":"nothing"}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, call("nothing"), call("info", "[]"),
            String(repeating: "x", count: 3_000_000), "\u{0}\u{1b}[2J", "   ", #"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            #"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"info"}}"#, ping,
        ])
        let codes: [JSONValue] = [
            -32700, -32700, -32700, -32600, -32600, -32600, -32600, -32600, -32600, -32600, -32600, -32601, -32602,
            -32602,
            -32602, -32600, -32700,
        ]
        #expect(answers.count == codes.count + 1)
        #expect(answers.dropLast().map { $0["error"]?["code"] ?? .null } == codes)
        #expect(answers.last?["result"] == [:])
    }

    @Test func `results are limited, and the session goes on`() throws {
        let titles = (0..<400).map { "\($0) " + String(repeating: "text ", count: 200) }
        let large = try NotesStore(titles: titles)
        let run = try CommandRun(
            ["mcp", large.path],
            input: Data(
                [call("query", #"{"entity":"Note"}"#), call("query", #"{"entity":"Note","limit":2}"#)]
                    .joined(separator: "\n").utf8))
        let answers = try run.output.split(separator: "\n").map {
            try JSONDecoder().decode(JSONValue.self, from: Data($0.utf8))
        }
        #expect(answers.count == 2)
        #expect(answers[0]["result"]?["isError"] == true && answers[0].line.contains("larger than 200000 bytes"))
        #expect(answers[1]["result"]?["isError"] == false)
    }

    @Test func `messages are divided at line breaks, whatever the pieces in which they come`() {
        var pieces: [[UInt8]] = [Array("a".utf8), Array("b\n\nc".utf8), Array("\nd".utf8)]
        var input = MessageInput { pieces.isEmpty ? [] : pieces.removeFirst() }
        var texts: [String] = []
        while case .text(let data)? = input.next() { texts.append(String(decoding: data, as: UTF8.self)) }
        #expect(texts == ["ab", "c", "d"])
        var count = 0
        var endless = MessageInput {
            count += 1
            return count <= 40 ? [UInt8](repeating: 65, count: 64 << 10) : count == 41 ? Array("\n{}".utf8) : []
        }
        guard case .tooLong? = endless.next() else {
            Issue.record("A line of 2.6 MB is kept.")
            return
        }
        guard case .text(let rest)? = endless.next() else {
            Issue.record("The line after it is lost.")
            return
        }
        #expect(rest == Data("{}".utf8))
    }
}
