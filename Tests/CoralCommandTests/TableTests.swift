import Foundation
import GRDB
import Testing

@testable import CoralCommand

/// Tables for a terminal: the widths of cells, and tables that are written while they are read.
@Suite struct TableTests {
    @Test(arguments: [
        ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("한글", 4), ("😀", 2), ("👨‍👩‍👧", 2), ("🇩🇪", 2), ("❤️", 2),
        ("ｱ", 1), ("\u{200B}", 0), ("", 0), ("नि", 1),
    ])
    func `text has the width of its cells`(_ text: String, _ width: Int) {
        #expect(CellWidth.of(text) == width)
        #expect(CellWidth.of(CellWidth.padded(text, to: 9, isTrailing: false)) == 9)
    }

    @Test func `text is cut at the end of a cell`() {
        #expect(CellWidth.cut("日本語", to: 6) == "日本語")
        #expect(CellWidth.cut("日本語", to: 5) == "日本…")
        #expect(CellWidth.cut("日本語", to: 4) == "日…")
        #expect(CellWidth.cut("abcdef", to: 4) == "abc…")
    }

    @Test func `columns are aligned whatever their characters`() {
        var table = TextTable([("Name", .leading), ("N", .trailing)])
        for row in [["日本", "1"], ["café", "22"], ["👨‍👩‍👧", "3"]] { table.add(row) }
        #expect(table.text == "Name   N\n日本   1\ncafé  22\n👨‍👩‍👧     3\n")
    }

    private func row(_ text: String, _ number: Int) -> [TableStream.Cell] {
        [TableStream.Cell(text: text, kind: .text), TableStream.Cell(text: "\(number)", kind: .number)]
    }

    @Test func `a table is written before all rows are known`() throws {
        var written: [String] = []
        var table = TableStream(["Name", "N"]) { written.append($0) }
        for number in 0..<TableStream.measuredCount - 1 { try table.add(row("a", number)) }
        #expect(written.isEmpty)
        try table.add(row("ab", 1))
        #expect(written.count == 1 && written[0].hasPrefix("Name   N\na      0\n"))
        // A later cell that is wider than its column is cut.
        try table.add(row("abcdef", 12345))
        #expect(written.last == "abc…  12345\n")
        try table.finish()
        #expect(written.count == 2)
    }

    @Test func `a query reads batches, in the order of the keys and within the limit`() throws {
        let store = try NotesStore(titles: (0..<1300).map { "\($0)" })
        let query = ["query", store.path, "--entity", "Note", "--columns", "objectID,title"]
        let all = try CommandRun(query + ["--csv"]).output.components(separatedBy: "\r\n").dropLast().dropFirst()
        #expect(all.count == 1300 && all.first == "Note/p1,0" && all.last == "Note/p1300,1299")
        for limit in [1, 99, 100, 101, 600, 601, 1300, 5000] {
            let some = try CommandRun(query + ["--csv", "--limit", "\(limit)"]).output.components(separatedBy: "\r\n")
            #expect(some.dropLast().dropFirst() == all.prefix(limit), "\(limit)")
        }
        let skipped = try CommandRun(query + ["--csv", "--offset", "1290"]).output.components(separatedBy: "\r\n")
        #expect(skipped.dropLast().dropFirst() == all.suffix(10))
        let table = try CommandRun(query).output.split(separator: "\n")
        #expect(table.count == 1301 && table[1300] == "Note/p1300  1299")
    }

    @Test func `subentities come in the order of their names`() throws {
        let accounts = try AccountsStore()
        let run = try CommandRun("query", accounts.path, "--entity", "Account", "--columns", "objectID", "--csv")
        #expect(run.output == "objectID\r\nAccount/p1\r\nPremiumAccount/p2\r\nTrialAccount/p3\r\n")
    }
}
