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
        case .csv: csv(objects)
        case .json: try json(objects)
        }
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

    // MARK: - CSV and JSON

    private func csv(_ objects: [NSManagedObject]) -> String {
        var text = columns.map { Self.field($0.title) }.joined(separator: ",") + "\r\n"
        for object in objects {
            let fields = columns.map { column in
                let cell = column.cell(of: object)
                let text = cell.exactText(in: zone)
                // A negative number is not a formula.
                return Self.field(escapesFormulas && !cell.isNumber ? Self.unevaluated(text) : text)
            }
            text += fields.joined(separator: ",") + "\r\n"
        }
        return text
    }

    /// Text, preceded by an apostrophe if a spreadsheet would evaluate it as a formula.
    private static func unevaluated(_ text: String) -> String {
        // Includes the fullwidth forms; some programs skip leading tabs and line breaks.
        let isFormula = text.unicodeScalars.first.map { "=+-@\t\r\n＝＋－＠".unicodeScalars.contains($0) } ?? false
        return isFormula ? "'" + text : text
    }

    private static func field(_ text: String) -> String {
        let isPlain = !text.unicodeScalars.contains { "\",\r\n".unicodeScalars.contains($0) }
        // A literal search: a quote and a combining mark are one `Character`.
        return isPlain ? text : "\"" + text.replacingOccurrences(of: "\"", with: "\"\"", options: .literal) + "\""
    }

    /// An array with one object per line; the keys are the column titles.
    private func json(_ objects: [NSManagedObject]) throws -> String {
        let sink = MemorySink()
        let output = ByteOutput(to: sink)
        var writer = JSONWriter(to: output)
        let keys = try columns.map { try JSONWriter.Key($0.title) }
        try writer.beginArray()
        for object in objects {
            try writer.lineBreak()
            try writer.beginObject()
            for (key, column) in zip(keys, columns) {
                try writer.key(key)
                try column.cell(of: object).write(to: &writer, in: zone)
            }
            try writer.endObject()
        }
        try writer.endLine()
        try writer.endArray()
        try writer.endLine()
        try output.finish()
        return String(decoding: sink.data, as: UTF8.self)
    }
}
