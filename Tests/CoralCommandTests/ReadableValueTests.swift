import Coral
import Foundation
import GRDB
import Testing

/// What binary values contain, in `coral get`, `coral find` and pages.
@Suite struct ReadableValueTests {
    private let store: AccountsStore

    init() throws { store = try AccountsStore() }

    private func setPhoto(_ data: Data) throws {
        let queue = try DatabaseQueue(path: store.path)
        try queue.write { try $0.execute(sql: "UPDATE ZACCOUNT SET ZPHOTO = ? WHERE Z_PK = 1", arguments: [data]) }
        try queue.close()
    }

    /// A message as notes contain it: field 2 with a field 3 with the text in field 2 and a number in field 4.
    private var message: Data {
        let text = Data("Milk and crème".utf8)
        let inner = Data([0x12, UInt8(text.count)]) + text + Data([0x20, 0x07])
        let middle = Data([0x08, 0x00, 0x1A, UInt8(inner.count)]) + inner
        return Data([0x12, UInt8(middle.count)]) + middle
    }

    private func shown() throws -> String {
        let output = try CommandRun("get", store.path, "Account/p1").output
        let lines = output.components(separatedBy: "\n")
        guard let start = lines.firstIndex(where: { $0.hasPrefix("  photo ") }) else { return "" }
        let rest = lines[(start + 1)...].prefix { $0.hasPrefix("      ") }.map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        let first = lines[start].dropFirst("  photo ".count).trimmingCharacters(in: .whitespaces)
        return ([first] + rest).joined(separator: "|")
    }

    @Test func `values are recognised by their form`() throws {
        let uuid = UUID()
        let list = try PropertyListSerialization.data(
            fromPropertyList: ["a": [1, "x"]], format: .binary, options: 0)
        let xml = try PropertyListSerialization.data(fromPropertyList: ["a": "y"], format: .xml, options: 0)
        for (data, expected) in [
            (Data("text, with\na line".utf8), "text, with|a line"), (Data(#"{"k": [1, 2]}"#.utf8), #"{"k": [1, 2]}"#),
            (list, "{a: [1, x]}"), (xml, "{a: y}"),
            (withUnsafeBytes(of: uuid.uuid) { Data($0) }, uuid.uuidString),
            (Data([0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10]), "8 bytes, image/png"),
            (Data([0, 1, 255]), "3 bytes: 00 01 ff"),
            (message, "\(message.count) bytes, a message of Protocol Buffers|2.1: 0|2.3.2: Milk and crème|2.3.4: 7"),
            // A message that is cut off is bytes.
            (message.dropLast(), "\(message.count - 1) bytes: \(hexadecimal(message.dropLast()))"),
        ] {
            try setPhoto(data)
            #expect(try shown() == expected)
        }
    }

    private func hexadecimal(_ data: Data) -> String {
        data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
    }

    @Test func `compressed text is shown, found, and in pages`() throws {
        let folder = store.folder.path
        let source = URL(fileURLWithPath: folder + "/m")
        for content in [message, Data("hidden words of a note".utf8)] {
            try content.write(to: source)
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", "gzip -c '\(folder)/m' > '\(folder)/m.gz'"]
            try process.run()
            process.waitUntilExit()
            try setPhoto(try Data(contentsOf: URL(fileURLWithPath: folder + "/m.gz")))
            #expect(try shown().hasPrefix("gzip: "))
            let word = content == message ? "creme" : "hidden"
            let found = try CommandRun("find", store.path, word).output
            #expect(
                found.contains(content == message ? "photo.2.3.2: Milk and crème" : "photo: hidden words"), "\(found)")
            let page = try CommandRun("export", store.path, "--format", "html").output
            #expect(page.contains(content == message ? "Milk and crème" : "hidden words of a note"))
        }
        // Bytes that are cut off cannot be inflated.
        let damaged = try Data(contentsOf: URL(fileURLWithPath: folder + "/m.gz")).dropLast(10)
        try setPhoto(damaged)
        #expect(try shown().contains("1f 8b"))
    }

    @Test func `the bytes of a value are saved`() throws {
        let file = store.file("photo.bin")
        let run = try CommandRun("get", store.path, "Account/p1", "--save", file)
        #expect(run.status == 0 && run.errors == "3 bytes written to \(file).\n", "\(run.errors)")
        #expect(FileManager.default.contents(atPath: file) == Data([0, 1, 255]))
        #expect(try CommandRun("get", store.path, "Account/p1", "--save", file).errors.contains("--force"))
        #expect(
            try CommandRun("get", store.path, "Account/p1", "--save", file, "--force", "--attribute", "name").status
                == 0)
        #expect(FileManager.default.contents(atPath: file) == Data("Ada's \"account\"".utf8))
        let wrong = try CommandRun("get", store.path, "Account/p1", "--save", file, "--force", "--attribute", "phot")
        #expect(wrong.status == 1 && wrong.errors.contains("Did you mean \"photo\"?"), "\(wrong.errors)")
        #expect(
            try CommandRun("get", store.path, "PremiumAccount/p2", "--save", file, "--force").errors.contains(
                "no binary"))
        #expect(try CommandRun("get", store.path, "Account/p1", "--attribute", "photo").status == 64)
        #expect(try CommandRun("get", store.path, "Account/p1", "--save", store.path, "--force").status == 1)
    }

    @Test func `columns are chosen by patterns`() throws {
        let notes = try NotesStore()
        func titles(_ columns: String) throws -> String {
            let run = try CommandRun("query", notes.path, "--entity", "Note", "--columns", columns, "--csv")
            return run.status == 0 ? String(run.output.prefix { $0 != "\r\n" }) : run.errors
        }
        #expect(try titles("title,*At") == "title,createdAt")
        #expect(try titles("T*") == "tags,title")
        #expect(try titles("author.*am*") == "author.name")
        #expect(try titles("*t*l*") == "title")
        #expect(try titles("x*").contains("Note has no properties like x*."))
        #expect(try titles("title.*").contains("Note has no properties like title.*."))
    }
}
