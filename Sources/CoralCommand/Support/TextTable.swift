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
        let layout = TableLayout(titles: titles, rows: rows, alignments: alignments)
        return layout.head(titles) + rows.map(layout.line).joined()
    }
}

/// A table that is written while its rows are read. The columns are as wide as their titles and the first rows. A longer text in a
/// later row is cut, with `…` at its end; names of objects and numbers are always whole.
struct TableStream {
    /// A cell: its text, and whether it is one that is cut.
    struct Cell {
        enum Kind { case text, number, name }

        let text: String
        let kind: Kind
    }

    private let titles: [String]
    private let write: (String) throws -> Void
    private var rows: [[String]] = []
    private var areNumbers: [Bool]
    private var layout: TableLayout?
    /// The number of rows that determine the widths.
    static let measuredCount = 100

    init(_ titles: [String], write: @escaping (String) throws -> Void) {
        self.titles = titles
        self.write = write
        areNumbers = titles.map { _ in true }
    }

    /// Adds a row. Columns of numbers are aligned to the right.
    mutating func add(_ cells: [Cell]) throws {
        var row = cells.map { Terminal.safe($0.text, on: .output) }
        if let layout {
            for (index, cell) in cells.enumerated() where cell.kind == .text {
                row[index] = CellWidth.cut(row[index], to: layout.width(of: index))
            }
            return try write(layout.line(row))
        }
        for (index, cell) in cells.enumerated() where cell.kind != .number { areNumbers[index] = false }
        rows.append(row)
        if rows.count == Self.measuredCount { try begin() }
    }

    /// Writes the rows that were held back to measure them.
    mutating func finish() throws { if layout == nil { try begin() } }

    private mutating func begin() throws {
        let layout = TableLayout(
            titles: titles, rows: rows, alignments: areNumbers.map { $0 ? .trailing : .leading })
        self.layout = layout
        try write(layout.head(titles) + rows.map(layout.line).joined())
        rows = []
    }
}

/// The widths and alignments of a table's columns.
private struct TableLayout {
    private let columns: [(width: Int, alignment: TextTable.Alignment)]

    init(titles: [String], rows: [[String]], alignments: [TextTable.Alignment]) {
        columns = titles.indices.map { column in
            let width = rows.reduce(CellWidth.of(titles[column])) { width, row in
                column < row.count ? max(width, CellWidth.of(row[column])) : width
            }
            return (width, alignments[column])
        }
    }

    func width(of column: Int) -> Int { columns[column].width }

    /// A line with a line break, without spaces at its end.
    func line(_ row: [String]) -> String {
        let cells = zip(row, columns).map { cell, column in
            CellWidth.padded(cell, to: column.width, isTrailing: column.alignment == .trailing)
        }
        var line = cells.joined(separator: "  ")
        while line.utf8.last == UInt8(ascii: " ") { line.removeLast() }
        return line + "\n"
    }

    /// The line of the titles, bold on a terminal.
    func head(_ titles: [String]) -> String {
        let line = line(titles)
        return Terminal.hasColours(.output) ? TextStyle.bold.text(String(line.dropLast())) + "\n" : line
    }
}
