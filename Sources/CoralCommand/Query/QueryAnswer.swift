import Coral

/// Formats objects and columns as a table, CSV or JSON.
struct QueryAnswer {
    let entity: NSEntityDescription
    let columns: [QueryColumn]
    /// Whether text in CSV is escaped so that spreadsheets do not evaluate it as a formula.
    var escapesFormulas = false
    /// The time zone of dates; nil for UTC.
    var zone: TimeZone?
    /// The maximum width of a cell in a table, in cells of a terminal.
    private static let cellWidth = 60

    /// The cells of a row in a table for a terminal.
    func tableCells(_ row: [QueryCell]) -> [TableStream.Cell] {
        row.map { cell in
            let kind: TableStream.Cell.Kind = if case .object = cell { .name } else { cell.isNumber ? .number : .text }
            return TableStream.Cell(text: Self.cut(cell.text(in: zone)), kind: kind)
        }
    }

    /// Text on one line, truncated.
    static func cut(_ text: String) -> String {
        // More characters than can be shown are not converted.
        let line = String(text.prefix(cellWidth + 1).map { $0.isNewline ? "⏎" : $0 == "\t" ? " " : $0 })
        return CellWidth.cut(line, to: cellWidth)
    }
}
