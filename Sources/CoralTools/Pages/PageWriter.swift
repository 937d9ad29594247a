import Foundation
import GraphDocuments

/// Writes a graph as an HTML page: a section for each entity, a table for each object.
struct PageWriter: GraphWriter {
    private let page: StorePage
    private let names: [RecordID: String?]
    private let counts: [String: Int]
    private let output: ByteOutput
    private var section: String?
    private var links: [HTML] = []
    /// The relationship that is being written.
    private var relationship = ""
    /// The properties of the object without a value, which share a row.
    private var emptyNames: [String] = []

    init(_ page: StorePage, _ collected: PageNameCollector, to output: ByteOutput) {
        self.page = page
        names = collected.names
        counts = collected.counts
        self.output = output
    }

    private func put(_ markup: HTML) throws { try output.write(markup.text) }

    // MARK: - The page

    mutating func begin(_ header: DocumentHeader) throws {
        let total = counts.values.reduce(0, +)
        try put(
            """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(page.title)</title>
            <style>\(HTML(markup: PageStyle.sheet))</style>
            </head>
            <body>
            <nav>
            <h1>\(page.title)</h1>
            <p class="sum">\(total) \(total == 1 ? "object" : "objects")</p>
            <input type="search" placeholder="Find …" aria-label="Find" hidden>
            <ul>

            """)
        for (entity, count) in counts.sorted(by: { $0.key < $1.key }) {
            let address = HTMLText.address(entity)
            try put("<li><a href=\"#\(address)\">\(breakable: entity)</a> <span>\(count)</span></li>\n")
        }
        try put("</ul>\n</nav>\n<main>\n")
    }

    mutating func finish() throws {
        try closeSection()
        try put("</main>\n<script>\(HTML(markup: PageStyle.script))</script>\n</body>\n</html>\n")
        try output.finish()
    }

    private mutating func openSection(_ entity: String) throws {
        guard section != entity else { return }
        try closeSection()
        section = entity
        try put("<section id=\"\(HTMLText.address(entity))\">\n<h2>\(entity)</h2>\n")
    }

    private mutating func closeSection() throws {
        if section != nil { try put("</section>\n") }
        section = nil
    }

    // MARK: - An object

    mutating func beginObject(id: RecordID?, entity: String, isDeleted: Bool) throws {
        try openSection(entity)
        let text = id?.text ?? ""
        let name = id.flatMap { names[$0] ?? nil }
        let title: HTML = name.map { "\($0) <span>\(text)</span>" } ?? "\(text)"
        try put("<article id=\"\(HTMLText.address(text))\"><h3>\(title)</h3>\n<table>\n")
    }

    mutating func endObject() throws {
        if !emptyNames.isEmpty {
            let names = emptyNames.map { name -> HTML in "\(breakable: name)" }.joined(by: ", ")
            try put("<tr class=\"nil\"><th>empty</th><td>\(names)</td></tr>\n")
        }
        emptyNames = []
        try put("</table></article>\n")
    }

    mutating func attribute(_ name: String, _ value: GraphValue, declaredAs type: GraphSchema.Attribute?) throws {
        if value.isNull { return emptyNames.append(name) }
        try put("<tr>\(header(name))<td>\(PageValue(page).html(value))</td></tr>\n")
    }

    private func header(_ name: String) -> HTML { "<th>\(breakable: name)</th>" }

    // MARK: - Links

    mutating func beginRelationship(_ name: String, isToMany: Bool, isOrdered: Bool) {
        links = []
        relationship = name
    }

    mutating func reference(_ id: RecordID) throws {
        guard let name = names[id] else {
            // An object outside the page has a name and no link.
            return links.append("<span class=\"out\">\(id.text)</span>")
        }
        links.append("<a href=\"#\(HTMLText.address(id.text))\" title=\"\(id.text)\">\(name ?? id.text)</a>")
    }

    mutating func endRelationship() throws {
        guard !links.isEmpty else { return emptyNames.append(relationship) }
        var list = links.joined(by: " ")
        if links.count > 12 { list = "<details><summary>\(links.count) objects</summary>\(list)</details>" }
        try put("<tr class=\"to\">\(header(relationship))<td>\(list)</td></tr>\n")
    }

    mutating func nullRelationship(_ name: String) { emptyNames.append(name) }
}
