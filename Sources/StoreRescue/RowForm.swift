import SQLStatements

/// The form that the rows of an entity's table have, by which bytes are recognised as one of them.
struct RowForm {
    let table: RescuedTables.EntityTable
    private let kinds: [Kind]
    private let entityPosition: Int
    private let versionPosition: Int

    /// The values that a column can have, by its declared type.
    private enum Kind {
        case integer, number, text, bytes, any

        init(_ type: Substring) {
            switch type.uppercased() {
            case "INTEGER": self = .integer
            case "FLOAT", "DOUBLE", "REAL", "TIMESTAMP": self = .number
            case "VARCHAR", "TEXT": self = .text
            case "BLOB": self = .bytes
            default: self = .any
            }
        }

        func admits(_ value: ColumnValue) -> Bool {
            switch (self, value) {
            case (_, .null), (.any, _), (.integer, .integer), (.number, .integer), (.number, .real), (.bytes, .blob):
                true
            // Bytes that are no text have been replaced by the mark for them.
            case (.text, .text(let text)): !text.unicodeScalars.contains { $0 == "\0" || $0 == "\u{FFFD}" }
            default: false
            }
        }
    }

    /// Nil if the statement that created the table does not have its columns in order.
    init?(_ table: RescuedTables.EntityTable, statement: String) {
        guard let types = Self.types(statement, columns: table.columns), table.columns.first == "Z_PK",
            let entity = table.columns.firstIndex(of: "Z_ENT"), let version = table.columns.firstIndex(of: "Z_OPT")
        else { return nil }
        self.table = table
        kinds = types.map(Kind.init)
        (entityPosition, versionPosition) = (entity, version)
    }

    /// The declared types, in the order of the columns.
    private static func types(_ statement: String, columns: [String]) -> [Substring]? {
        guard let open = statement.firstIndex(of: "("), let close = statement.lastIndex(of: ")"), open < close else {
            return nil
        }
        let definitions = statement[statement.index(after: open)..<close].split(separator: ",").prefix(columns.count)
        guard definitions.count == columns.count else { return nil }
        var types: [Substring] = []
        for (definition, column) in zip(definitions, columns) {
            let words = definition.split(whereSeparator: \.isWhitespace)
            guard let name = words.first, name.trimmingCharacters(in: ["\"", "'", "`", "[", "]"]) == column else {
                return nil
            }
            types.append(words.count > 1 ? words[1] : "")
        }
        return types
    }

    /// Whether the values can be those of a row of the table. Columns that were added to the table later may be absent.
    ///
    /// - Parameter hasKey: Whether the key was found, which must be one of the table. Without one, eight bytes of values are required: a
    ///   row of a few small numbers would be found in bytes of any kind.
    func fits(_ row: SalvagedRow, hasKey: Bool) -> Bool {
        let values = row.values
        guard values.count <= kinds.count, values.count > max(entityPosition, versionPosition), values[0].isNull,
            !row.lost.contains(where: { $0 <= max(entityPosition, versionPosition) }),
            case .integer(let number) = values[entityPosition], table.numbers.contains(number),
            case .integer(let version) = values[versionPosition], version >= 1,
            zip(values, kinds).allSatisfy({ $1.admits($0) })
        else { return false }
        if hasKey { return (1...max(1, table.lastKey)).contains(row.key) }
        let own = values.indices.filter { $0 != entityPosition && $0 != versionPosition }
        return own.reduce(0) { $0 + Self.weight(of: values[$1]) } >= 8
    }

    /// The number of bytes by which a value is recognised.
    private static func weight(of value: ColumnValue) -> Int {
        switch value {
        case .null: 0
        case .integer(let number): (Int64.bitWidth - number.magnitude.leadingZeroBitCount + 7) / 8
        case .real: 8
        case .text(let text): text.utf8.count
        case .blob(let data): data.count
        }
    }

    /// The number of the row's entity.
    func entityNumber(of row: SalvagedRow) -> Int64? {
        if case .integer(let number) = row.values[entityPosition] { number } else { nil }
    }

    /// The number of times that the object was saved, by which the later of two states is known.
    func version(of row: SalvagedRow) -> Int64 {
        if case .integer(let version) = row.values[versionPosition] { version } else { 0 }
    }
}
