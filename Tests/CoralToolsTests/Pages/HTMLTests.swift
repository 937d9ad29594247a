import CoralTools
import Testing

/// Markup whose text is escaped.
@Suite struct HTMLTests {
    private let attack = "<b>\"&\u{0}"
    private let escaped = "&lt;b&gt;&quot;&amp;\u{FFFD}"

    @Test func `text is escaped, in every kind of interpolation, and markup is not`() {
        let name: String? = attack
        let cell: HTML = "<td title=\"\(attack)\">\(name ?? "")</td>"
        #expect(cell.text == "<td title=\"\(escaped)\">\(escaped)</td>")
        let row: HTML = "<tr>\(cell)\([cell, cell])\(cell, if: false)</tr>"
        #expect(row.text == "<tr>\(cell.text)\(cell.text)\(cell.text)</tr>")
        let breakable: HTML = "\(breakable: "a<bC")"
        #expect(breakable.text == "a&lt;b<wbr>C")
        // A literal that is chosen in an interpolation is text.
        let chosen: HTML = "\(cell.text.isEmpty ? "" : "<i>")"
        #expect(chosen.text == "&lt;i&gt;")
    }

    @Test func `absent markup is empty, and parts are joined by markup`() {
        let missing: HTML? = nil
        let present: HTML? = "<br>"
        let line: HTML = "a\(missing)b\(present)c"
        #expect(line.text == "ab<br>c")
        let parts = ["<", ">"].map { part -> HTML in "\(part)" }
        #expect(parts.joined(by: "<wbr>").text == "&lt;<wbr>&gt;")
        #expect([HTML]().joined(by: ", ").text.isEmpty)
        #expect((parts[0] + "<br>").text == "&lt;<br>")
    }
}
