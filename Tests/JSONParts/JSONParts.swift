import Foundation
import GRDB
import GraphDocuments

/// A typical line of a document.
struct Entry: Codable {
    var id: Int
    var title: String
    var body: String
    var rank: Double
    var isPinned: Bool
    var tags: [String]
}

/// JSON per byte: this package's reader and writer, compared with Foundation's, and with two in C: SQLite's and
/// Jansson.
enum JSONParts {
    static func run() throws {
        let entries = (0..<5_000).map { number in
            Entry(
                id: number, title: "Entry \(number) “quoted” \"text\"",
                body: "Line one\nline two, and a longer stretch of text that says nothing of number \(number). é 日本語",
                rank: Double(number) / 7, isPinned: number % 3 == 0, tags: ["tag-\(number % 90)", "tag-\(number % 70)"])
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        let document = try encoder.encode(entries)
        try read(document)
        try write(entries, count: document.count)
        measureJansson(document)
    }

    /// Measures a library in C that creates trees, as Foundation does.
    private static func measureJansson(_ document: Data) {
        guard let jansson = Jansson() else { return print("read and write JSON: Jansson, in C: not installed") }
        report(
            "read JSON: Jansson, in C", nanoseconds(document.count) { _ = jansson.withTree(document) { _ in } },
            per: "byte")
        _ = jansson.withTree(document) { tree in
            report("write JSON: Jansson, in C", nanoseconds(document.count) { jansson.write(tree) }, per: "byte")
        }
    }

    private static func read(_ document: Data) throws {
        let count = document.count
        report(
            "read JSON: JSONReader, token by token",
            try nanoseconds(count) {
                var reader = JSONReader(document)
                while try reader.next() != .end {}
            }, per: "byte")
        report(
            "read JSON: JSONSerialization",
            try nanoseconds(count) { _ = try JSONSerialization.jsonObject(with: document) }, per: "byte")
        report(
            "read JSON: JSONDecoder",
            try nanoseconds(count) { _ = try JSONDecoder().decode([Entry].self, from: document) }, per: "byte")
        let text = String(decoding: document, as: UTF8.self)
        let database = try DatabaseQueue()
        report(
            "read JSON: SQLite's json_valid, in C",
            try nanoseconds(count) {
                try database.read { _ = try Int.fetchOne($0, sql: "SELECT json_valid(?)", arguments: [text]) }
            }, per: "byte")
    }

    private static func write(_ entries: [Entry], count: Int) throws {
        report("write JSON: JSONWriter", try nanoseconds(count) { try write(entries) }, per: "byte")
        report(
            "write JSON: JSONEncoder",
            try nanoseconds(count) { _ = try JSONEncoder().encode(entries) }, per: "byte")
        let objects = try JSONSerialization.jsonObject(with: JSONEncoder().encode(entries))
        report(
            "write JSON: JSONSerialization",
            try nanoseconds(count) { _ = try JSONSerialization.data(withJSONObject: objects) }, per: "byte")
    }

    private static func write(_ entries: [Entry]) throws {
        let sink = MemorySink()
        var writer = JSONWriter(to: ByteOutput(to: sink))
        try writer.beginArray()
        for entry in entries {
            try writer.beginObject()
            try writer.key("id")
            try writer.integer(Int64(entry.id))
            try writer.key("title")
            try writer.string(entry.title)
            try writer.key("body")
            try writer.string(entry.body)
            try writer.key("rank")
            try writer.double(entry.rank)
            try writer.key("isPinned")
            try writer.bool(entry.isPinned)
            try writer.key("tags")
            try writer.beginArray()
            for tag in entry.tags { try writer.string(tag) }
            try writer.endArray()
            try writer.endObject()
        }
        try writer.endArray()
        try writer.output.finish()
    }
}
