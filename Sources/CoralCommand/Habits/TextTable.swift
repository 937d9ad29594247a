/// A table for a terminal, with columns as wide as their content.
struct TextTable {
    enum Alignment { case leading, trailing }

    private let titles: [String]
    private let alignments: [Alignment]
    private var rows: [[String]] = []

    init(_ columns: [(title: String, alignment: Alignment)]) {
        titles = columns.map(\.title)
        alignments = columns.map(\.alignment)
    }

    /// Adds a row. Cells are escaped for a terminal here, because escaping changes their width.
    mutating func add(_ cells: [String]) { rows.append(cells.map { Terminal.text($0, on: .output) }) }

    /// The lines, each ending with a line break, without spaces at their ends. On a terminal the titles are bold.
    var text: String {
        let lines = plainText
        guard Terminal.hasColours(.output), let end = lines.firstIndex(of: "\n") else { return lines }
        return TextStyle.bold.text(String(lines[..<end])) + lines[end...]
    }

    private var plainText: String {
        let all = [titles] + rows
        let widths = titles.indices.map { column in
            all.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        return all.map { row in
            let cells = zip(row, zip(widths, alignments)).map { cell, form in
                let padding = String(repeating: " ", count: form.0 - cell.count)
                return form.1 == .leading ? cell + padding : padding + cell
            }
            var line = cells.joined(separator: "  ")
            while line.hasSuffix(" ") { line.removeLast() }
            return line + "\n"
        }.joined()
    }
}
