import Coral
import Dispatch

/// Writes objects one by one as CSV, TSV or JSON: memory does not grow with their number.
struct QueryDocument {
    private let answer: QueryAnswer
    private let output: ByteOutput
    /// The writer of a JSON document; nil for tables.
    private var json: JSONWriter?
    private var table: TableWriter
    private var pace: PacedOutput
    private let keys: [JSONWriter.Key]

    /// Writes the beginning of a document. A table for people cannot be written one by one, and is written as CSV.
    init(_ answer: QueryAnswer, as format: QueryCommand.Format, to output: ByteOutput) throws {
        self.answer = answer
        self.output = output
        table = TableWriter(format.form ?? .csv, to: output, escapesFormulas: answer.escapesFormulas)
        pace = PacedOutput(output)
        keys = try answer.columns.map { try JSONWriter.Key($0.title) }
        guard format == .json else {
            try table.line(answer.columns.map(\.title))
            return
        }
        var writer = JSONWriter(to: output)
        try writer.beginArray()
        json = writer
    }

    /// Writes an object: a line of a table, or an object of JSON, whose keys are the titles of the columns.
    mutating func write(_ object: NSManagedObject) throws {
        try write(.cells(answer.columns.map { $0.cell(of: object) }))
    }

    /// Writes the cells of an object.
    mutating func write(_ row: QueryRow) throws {
        if json != nil {
            try writeJSON(row.cells())
        } else {
            try row.write(to: &table, in: answer.zone)
            try table.endLine()
        }
        try pace.written()
    }

    private mutating func writeJSON(_ row: [QueryCell]) throws {
        guard var writer = json else { return }
        try writer.lineBreak()
        try writer.beginObject()
        for (key, cell) in zip(keys, row) {
            try writer.key(key)
            try cell.write(to: &writer, in: answer.zone)
        }
        try writer.endObject()
        json = writer
    }

    /// Writes the end of the document.
    mutating func finish() throws {
        guard var writer = json else { return }
        try writer.endLine()
        try writer.endArray()
        try writer.endLine()
        json = writer
    }
}

/// Output that is read while it is written: what has been written is passed on at once, and then ten times a second.
struct PacedOutput {
    private let output: ByteOutput
    /// In nanoseconds of the system's clock.
    private var last: UInt64 = 0
    private static let interval: UInt64 = 100_000_000

    init(_ output: ByteOutput) { self.output = output }

    /// Notes that something complete was written.
    mutating func written() throws {
        let now = DispatchTime.now().uptimeNanoseconds
        guard now - last >= Self.interval else { return }
        try output.flush()
        last = now
    }
}

/// Formats objects and columns as a table, CSV or JSON.
struct QueryAnswer {
    let entity: NSEntityDescription
    let columns: [QueryColumn]
    /// Whether text in CSV and TSV is escaped so that spreadsheets do not evaluate it as a formula.
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
        // Most texts are short and have only letters that need no care.
        if text.utf8.count <= cellWidth, text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
        // More characters than can be shown are not converted.
        let line = String(text.prefix(cellWidth + 1).map { $0.isNewline ? "⏎" : $0 == "\t" ? " " : $0 })
        return CellWidth.cut(line, to: cellWidth)
    }
}
