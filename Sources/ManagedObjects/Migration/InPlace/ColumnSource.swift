import Foundation

/// The source of the values of a column of the new schema, for the rows of one entity, as SQL over the old table.
enum ColumnSource: Hashable {
    /// A column of the old table.
    case column(String)
    /// An expression with a column of the old table between two texts.
    case converted(String, before: String, after: String)
    /// The same value for all rows.
    case literal(String)

    static let null = ColumnSource.literal("NULL")

    /// The expression, if the column has its old name.
    var sql: String { column.map(sql) ?? literal }

    /// The expression, if the column has been renamed.
    func sql(of column: String) -> String {
        switch self {
        case .column: column
        case .converted(_, let before, let after): before + column + after
        case .literal(let literal): literal
        }
    }

    /// The old column, if there is one.
    var column: String? {
        switch self {
        case .column(let name), .converted(let name, _, _): name
        case .literal: nil
        }
    }

    private var literal: String { if case .literal(let literal) = self { literal } else { "" } }

    /// The source with another expression around it.
    func wrapped(_ before: String, _ after: String) -> ColumnSource {
        switch self {
        case .column(let name): .converted(name, before: before, after: after)
        case .converted(let name, let first, let last): .converted(name, before: before + first, after: last + after)
        case .literal(let literal): .literal(before + literal + after)
        }
    }
}

extension Value {
    /// The value as a literal of SQL, in the form of a column.
    ///
    /// - Throws: An error of the value transformer of a transformable attribute.
    func literal(of attribute: NSAttributeDescription, hasStorageByte: Bool) throws -> String {
        func blob(_ bytes: some Sequence<UInt8>, prefix: String = "") -> String {
            "X'" + prefix + bytes.map { String(format: "%02X", $0) }.joined() + "'"
        }
        func quoted(_ text: String) -> String {
            guard !text.utf8.contains(0) else { return "CAST(\(blob(text.utf8)) AS TEXT)" }
            return "'" + text.replacingOccurrences(of: "'", with: "''", options: .literal) + "'"
        }
        func number(_ number: Double) -> String {
            if number.isNaN { return "NULL" }
            return number.isFinite ? String(number) : number > 0 ? "9e999" : "-9e999"
        }
        func data(_ data: Data) -> String { blob(data, prefix: hasStorageByte ? "01" : "") }
        switch self {
        case .null, .reference: return "NULL"
        case .integer(let value): return String(value)
        case .real(let value): return number(value)
        case .decimal(let value): return number(value.nearestDouble)
        case .string(let text): return quoted(text)
        case .data(let value): return data(value)
        case .uuid(let uuid): return withUnsafeBytes(of: uuid.uuid) { blob($0) }
        case .object(let box):
            if let url = box.value as? URL { return quoted(url.absoluteString) }
            return data(try TransformableCoding.encode(box, attribute: attribute))
        }
    }
}
