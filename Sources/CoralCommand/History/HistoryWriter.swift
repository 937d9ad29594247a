import Coral
import CoralTools

/// Writes a history, one transaction at a time.
protocol HistoryWriter {
    mutating func begin() throws
    mutating func write(_ entry: HistoryEntry) throws
    mutating func finish() throws
}

/// A history as text.
struct HistoryText: HistoryWriter {
    private let output: ByteOutput
    private var isEmpty = true

    init(_ output: ByteOutput) { self.output = output }

    func begin() {}

    mutating func write(_ entry: HistoryEntry) throws {
        isEmpty = false
        let origin = entry.origin.isEmpty ? "" : "  \(entry.origin)"
        var text = "\(TextStyle.bold.text("\(entry.transaction)"))  \(entry.timestamp)\(origin)\n"
        for change in entry.changes {
            let style: TextStyle = ["+": .green, "-": .red][change.sign] ?? .yellow
            let details = change.details.isEmpty ? "" : "  \(change.details)"
            text += "  \(style.text("\(change.sign) \(change.object)"))\(details)\n"
        }
        try output.write(text)
    }

    func finish() throws { if isEmpty { try output.write("There are no matching transactions.\n") } }
}

/// A history as a JSON array, with one line for each transaction.
struct HistoryJSON: HistoryWriter {
    private let output: ByteOutput
    private let encoder: JSONEncoder
    private var isEmpty = true

    init(_ output: ByteOutput) {
        self.output = output
        encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    }

    func begin() throws { try output.write("[") }

    mutating func write(_ entry: HistoryEntry) throws {
        try output.write(isEmpty ? "\n" : ",\n")
        isEmpty = false
        try output.write(String(decoding: try encoder.encode(entry), as: UTF8.self))
    }

    func finish() throws { try output.write(isEmpty ? "]\n" : "\n]\n") }
}

/// A history as an HTML page.
struct HistoryPage: HistoryWriter {
    private let output: ByteOutput
    private let title: String

    init(_ output: ByteOutput, title: String) {
        self.output = output
        self.title = title
    }

    private static let sheet: HTML = """
        :root { color-scheme: light dark; } body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 62rem;
          padding: 0 1rem; } h2 { font-size: 1rem; margin: 1.4rem 0 .2rem; } h2 span { font-weight: normal; opacity: .7; }
        ul { list-style: none; margin: 0; padding: 0 0 0 1rem; } li { overflow-wrap: anywhere; } .insert b { color: #1a7f37; }
        .delete b { color: #c62828; } .update b { color: #9a6700; } li span { opacity: .8; }
        """

    func begin() throws {
        let head: HTML = """
            <!DOCTYPE html>
            <html lang="en">
            <head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
            <title>History of \(title)</title><style>\(Self.sheet)</style></head>
            <body>
            <h1>History of \(title)</h1>

            """
        try output.write(head.text)
    }

    func write(_ entry: HistoryEntry) throws {
        let time: HTML = "<time datetime=\"\(entry.timestamp)\">\(entry.timestamp)</time>"
        let changes = entry.changes.map { change -> HTML in
            "<li class=\"\(change.change)\"><b>\(change.sign) \(change.object)</b> <span>\(change.details)</span></li>\n"
        }
        let section: HTML = """
            <section id="t\(entry.transaction)"><h2>\(entry.transaction) <span>\(time) \(entry.origin)</span></h2>
            <ul>
            \(changes)</ul></section>

            """
        try output.write(section.text)
    }

    func finish() throws { try output.write("</body>\n</html>\n") }
}
