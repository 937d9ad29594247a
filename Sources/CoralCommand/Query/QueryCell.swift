import Coral

/// The value of a column for one object.
enum QueryCell: Equatable {
    case null
    /// A value and its declared attribute.
    case value(GraphValue, GraphSchema.Attribute?)
    /// The name of an object.
    case object(String)
    case list([QueryCell])
}

extension QueryCell {
    /// Whether the cell is aligned to the right.
    var isNumber: Bool {
        switch self {
        case .null: true
        case .value(let value, _):
            switch value {
            case .integer, .double, .float, .decimal: true
            default: false
            }
        case .object, .list: false
        }
    }

    /// The text in a table: sizes instead of bytes.
    ///
    /// - Parameter zone: The time zone of dates; nil for UTC.
    func text(in zone: TimeZone?) -> String {
        switch self {
        case .null: ""
        case .value(.date(let seconds), _): DateCell.text(of: seconds, in: zone)
        case .value(.data(let data), _): Quantity.bytes(Int64(data.count))
        case .value(.transformable(let value), _): "archive, \(Quantity.bytes(Int64(value.archive?.count ?? 0)))"
        case .value(let value, _): TextValue.text(of: value) ?? ValueText.text(value)
        case .object(let name): name
        case .list(let cells): cells.map { $0.text(in: zone) }.joined(separator: ", ")
        }
    }

    /// The whole value of the cell; bytes in Base64.
    func exactText(in zone: TimeZone?) -> String {
        switch self {
        case .null: ""
        case .value(.date(let seconds), _): DateCell.text(of: seconds, in: zone)
        case .value(.transformable(let value), _): value.archive?.base64EncodedString() ?? ""
        case .value(.composite(let elements), _):
            "{\(elements.map { "\($0.name): \(Self.value($0.value, nil).exactText(in: zone))" }.joined(separator: ", "))}"
        case .value(let value, _): TextValue.text(of: value) ?? ValueText.text(value)
        case .object(let name): name
        case .list(let cells): cells.map { $0.exactText(in: zone) }.joined(separator: "; ")
        }
    }

    /// Writes the whole value as a field of a table.
    func write(to table: inout TableWriter, in zone: TimeZone?) throws {
        switch self {
        case .null: try table.null()
        case .object(let name): try table.text(name)
        case .value(.composite, _), .value(.file, _), .list: try table.text(exactText(in: zone))
        case .value(.date, _) where zone != nil: try table.text(exactText(in: zone))
        case .value(let value, _): try table.value(value)
        }
    }

    func write(to writer: inout JSONWriter, in zone: TimeZone?) throws {
        switch self {
        case .null: try writer.null()
        case .value(.date(let seconds), _): try writer.string(DateCell.text(of: seconds, in: zone))
        case .value(let value, nil):
            if case .integer(let number) = value {
                try writer.integer(number)
            } else {
                try writer.string(exactText(in: zone))
            }
        case .value(let value, let type?): try writer.value(value, declaredAs: type)
        case .object(let name): try writer.string(name)
        case .list(let cells):
            try writer.beginArray()
            for cell in cells { try cell.write(to: &writer, in: zone) }
            try writer.endArray()
        }
    }
}

/// The cells of an object: computed, or the columns of the row at which a cursor is.
enum QueryRow {
    case cells([QueryCell])
    #if STORE_ENGINE
        case row(RowQuery.Row)
    #endif

    func cells() throws -> [QueryCell] {
        switch self {
        case .cells(let cells): cells
        #if STORE_ENGINE
            case .row(let row): try row.cells()
        #endif
        }
    }

    /// Writes the cells as the fields of a line.
    ///
    /// - Parameter zone: The time zone of dates; nil for UTC.
    func write(to table: inout TableWriter, in zone: TimeZone?) throws {
        switch self {
        case .cells(let cells): for cell in cells { try cell.write(to: &table, in: zone) }
        #if STORE_ENGINE
            case .row(let row): try row.write(to: &table, in: zone)
        #endif
        }
    }
}
