import Coral

/// Formats objects and columns as a table, CSV or JSON.
struct QueryAnswer {
    let entity: NSEntityDescription
    let columns: [QueryColumn]
    /// Whether text in CSV is escaped so that spreadsheets do not evaluate it as a formula.
    var escapesFormulas = false
    /// The time zone of dates; nil for UTC.
    var zone: TimeZone?
    /// The maximum length of a cell in a table, in characters.
    private static let cellLength = 60

    /// All objects as a table for a terminal.
    func table(_ objects: [NSManagedObject]) -> String {
        guard !objects.isEmpty else { return "No \(entity.name ?? "object") found.\n" }
        let rows = objects.map { object in columns.map { $0.cell(of: object) } }
        var table = TextTable(
            columns.indices.map { index in
                (columns[index].title, rows.allSatisfy { $0[index].isNumber } ? .trailing : .leading)
            })
        for row in rows { table.add(row.map { Self.cut($0.text(in: zone)) }) }
        return table.text
    }

    /// Text on one line, truncated.
    static func cut(_ text: String) -> String {
        let line = String(text.map { $0.isNewline ? "⏎" : $0 == "\t" ? " " : $0 })
        return line.count > cellLength ? line.prefix(cellLength - 1) + "…" : line
    }
}
