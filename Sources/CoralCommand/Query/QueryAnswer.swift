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

    func text(_ objects: [NSManagedObject], as format: QueryCommand.Format) throws -> String {
        switch format {
        case .table: table(objects)
        case .csv, .json: try document(objects, as: format)
        }
    }

    private func document(_ objects: [NSManagedObject], as format: QueryCommand.Format) throws -> String {
        let sink = MemorySink()
        let output = ByteOutput(to: sink)
        var document = try QueryDocument(self, as: format, to: output)
        for object in objects { try document.write(object) }
        try document.finish()
        try output.finish()
        return String(decoding: sink.data, as: UTF8.self)
    }

    // MARK: - Table

    private func table(_ objects: [NSManagedObject]) -> String {
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
