import Coral
import Testing

@testable import CoralCommand

/// Values of files: only the user of the command line assigns them. A page or an assistant must not read files of the machine.
@Suite struct AssignedFileTests {
    private let accounts: AccountsStore
    private let path: String
    /// What would assign the file if it were given to `coral set`, and other forms of the same text.
    private let values: [String]

    init() throws {
        accounts = try AccountsStore()
        path = accounts.file("secret")
        try Data("secret".utf8).write(to: URL(fileURLWithPath: path))
        values = ["@\(path)", "\"@\(path)\"", "\"\\u0040\(path)\""]
    }

    /// The photo of the first account, as Base64.
    private func photo() throws -> String {
        let run = try CommandRun(
            "query", accounts.path, "--entity", "Account", "--where", "token != nil", "--columns", "photo", "--csv")
        return run.output
    }

    @Test func `a page reads no file, in whatever form its path is sent`() throws {
        let before = try photo()
        let server = try RunningServer(accounts.path, "--writable", "--no-backup")
        for value in values {
            for kind in ["value", "bytes", "text"] {
                let answer = try server.post(
                    "set",
                    [
                        "id": "Account/p1", "value.photo": value, "was.photo": "", "kind.photo": kind, "save": "1",
                    ])
                #expect(answer.status == 400, "\(value) \(kind)")
            }
        }
        let plain = try server.post("set", ["id": "Account/p1", "value.photo": values[0]])
        #expect(plain.body.contains("photo: files cannot be assigned here."))
        #expect(try server.end().status == 0)
        #expect(try photo() == before)
    }

    @Test func `an assistant reads no file, in whatever form its path is sent`() throws {
        let before = try photo()
        let calls = try values.enumerated().map { id, value in
            let message: JSONValue = [
                "jsonrpc": "2.0", "id": .integer(Int64(id)), "method": "tools/call",
                "params": [
                    "name": "set",
                    "arguments": [
                        "entity": "Account", "where": "token != nil", "assignments": [.string("photo=\(value)")],
                    ],
                    "_meta": ["io.modelcontextprotocol/protocolVersion": "2026-07-28"],
                ],
            ]
            return String(decoding: try JSONEncoder().encode(message), as: UTF8.self)
        }
        let input = Data((calls.joined(separator: "\n") + "\n").utf8)
        let run = try CommandRun(["mcp", accounts.path, "--writable"], input: input)
        let answers = try run.output.split(separator: "\n").map {
            try JSONDecoder().decode(JSONValue.self, from: Data($0.utf8))
        }
        #expect(answers.count == values.count)
        for answer in answers { #expect(answer["result"]?["isError"] == true, "\(answer)") }
        #expect(answers.first?.line.contains("photo: files cannot be assigned here.") == true)
        #expect(try photo() == before)
    }

    @Test func `the command line reads a file, and not one whose path is in a string`() throws {
        let set = { (value: String) in
            try CommandRun(
                "set", accounts.path, "--entity", "Account", "--where", "token != nil", "photo=\(value)", "--yes",
                "--no-backup")
        }
        for value in values.dropFirst() {
            let run = try set(value)
            #expect(run.status == 1 && run.errors.contains("is neither Base64"), "\(run.errors)")
        }
        let run = try set(values[0])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try photo() == "photo\r\n\(Data("secret".utf8).base64EncodedString())\r\n")
    }
}
