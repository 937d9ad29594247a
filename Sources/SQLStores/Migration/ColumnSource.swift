import CoreDataErrors
import Foundation
import ManagedObjects
import SQLStatements

/// The source of the values of a column of the new schema, for the rows of one entity.
enum ColumnSource: Hashable {
    /// What is done with the value of a column of the old table.
    enum Conversion: Hashable {
        case addingStorageByte
        case removingStorageByte
        /// The expression for NULL.
        case replacingNull(String)
        /// The new number of each old number of an entity.
        case renumbering([Int64: Int64])
    }

    /// A column of the old table, with the conversions of its values.
    case column(String, [Conversion] = [])
    /// The same expression for all rows.
    case expression(String)

    static let null = ColumnSource.expression("NULL")

    /// The old column, if there is one.
    var column: String? { if case .column(let name, _) = self { name } else { nil } }

    /// Whether the column keeps its values.
    var isUnchanged: Bool { if case .column(_, []) = self { true } else { false } }

    /// A column with another conversion of its values, after the others.
    func converted(_ conversion: Conversion) -> ColumnSource {
        guard case .column(let name, let conversions) = self else { return self }
        return .column(name, conversions + [conversion])
    }

    /// The expression.
    ///
    /// - Parameter renamed: The name that the column has when the expression is evaluated; nil for its old one.
    func text(of renamed: String? = nil, in dialect: any SQLMigrationDialect) -> String {
        switch self {
        case .column(let name, let conversions):
            conversions.reduce(renamed ?? name) { value, conversion in
                switch conversion {
                case .addingStorageByte: dialect.addingStorageByte(to: value)
                case .removingStorageByte: dialect.removingStorageByte(from: value)
                case .replacingNull(let other): "COALESCE(\(value), \(other))"
                case .renumbering(let numbers):
                    SQLExpression.choice(by: value, numbers.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") })
                }
            }
        case .expression(let expression): expression
        }
    }
}

extension Value {
    /// The value as a literal of SQL, in the form of a column.
    ///
    /// - Throws: An error of the value transformer of a transformable attribute, and code 1550 for a text with a NUL character
    ///   that the database does not store.
    func literal(
        of slot: SchemaSlot, hasStorageByte: Bool, dialect: any SQLMigrationDialect
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
                    "The default value of “\(slot.property)” contains a NUL character, which the store does not keep.")
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
            return try slot.coding.map { data(try $0.encode(box)) } ?? "NULL"
        }
    }
}
