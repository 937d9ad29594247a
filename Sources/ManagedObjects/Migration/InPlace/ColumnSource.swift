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
    func wrapped(_ texts: (before: String, after: String)) -> ColumnSource {
        let (before, after) = texts
        return switch self {
        case .column(let name): .converted(name, before: before, after: after)
        case .converted(let name, let first, let last): .converted(name, before: before + first, after: last + after)
        case .literal(let literal): .literal(before + literal + after)
        }
    }
}

extension Value {
    /// The value as a literal of SQL, in the form of a column.
    ///
    /// - Throws: An error of the value transformer of a transformable attribute, and code 1550 for a text with a NUL character
    ///   that the database does not store.
    func literal(
        of attribute: NSAttributeDescription, hasStorageByte: Bool, dialect: any SQLMigrationDialect
    ) throws -> String {
        func digits(_ bytes: some Sequence<UInt8>) -> String { bytes.map { String(format: "%02X", $0) }.joined() }
        func blob(_ bytes: some Sequence<UInt8>, prefix: String = "") -> String {
            dialect.literal(ofBytes: prefix + digits(bytes))
        }
        func quoted(_ text: String) throws -> String {
            guard !text.utf8.contains(0) else {
                if let literal = dialect.literal(ofTextWithNUL: digits(text.utf8)) { return literal }
                throw CocoaError(
                    .managedObjectValidation,
                    "The default value of “\(attribute.name)” contains a NUL character, which the store does not keep.")
            }
            return "'" + text.replacingOccurrences(of: "'", with: "''", options: .literal) + "'"
        }
        func number(_ number: Double) -> String {
            if number.isNaN { return "NULL" }
            return number.isFinite ? String(number) : dialect.literal(ofInfinity: number < 0)
        }
        func data(_ data: Data) -> String { blob(data, prefix: hasStorageByte ? "01" : "") }
        switch self {
        case .null, .reference: return "NULL"
        case .integer(let value): return String(value)
        case .real(let value): return number(value)
        case .decimal(let value): return number(value.nearestDouble)
        case .string(let text): return try quoted(text)
        case .data(let value): return data(value)
        case .uuid(let uuid): return withUnsafeBytes(of: uuid.uuid) { blob($0) }
        case .object(let box):
            if let url = box.value as? URL { return try quoted(url.absoluteString) }
            return data(try TransformableCoding.encode(box, attribute: attribute))
        }
    }
}
