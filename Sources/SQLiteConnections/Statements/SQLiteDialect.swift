import SQLStatements

/// SQLite's dialect.
package struct SQLiteDialect: SQLDialect {
    package init() {}

    package func parameterized(_ text: String) -> String { text }

    // MARK: - Lists, as JSON arrays

    package func isListed(_ expression: String, _ list: SQLList) -> String {
        "\(expression) IN (SELECT value FROM json_each(?))"
    }

    package var keyCounts: [Int] { SQLParameters.capacities }

    package func value(of keys: some Sequence<Int64>) -> String { "[\(keys.map(String.init).joined(separator: ","))]" }

    package func value(of texts: [String]) -> String {
        "[\(texts.map(Self.quoted).joined(separator: ","))]"
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    // MARK: - Expressions

    package func greater(_ first: String, _ second: String) -> String { "max(\(first), \(second))" }

    package func byteCount(of expression: String) -> String { "length(CAST(\(expression) AS BLOB))" }

    package func constant(_ condition: Bool) -> String { condition ? "1" : "0" }

    package var sameOperator: String { "IS" }
    package var differentOperator: String { "IS NOT" }

    package func position(of part: SQLFragment, in text: SQLFragment) -> SQLFragment { "instr(\(text), \(part))" }

    /// Every connection registers the functions: see ``PredicateFunctions``.
    package func name(of function: PredicateFunctions.Name) -> String? { function.rawValue }

    // MARK: - Definitions, as Core Data writes them

    /// SQLite derives an affinity from the name and otherwise ignores it.
    package func name(of type: SQLColumn.Declaration) -> String {
        switch type {
        case .integer: "INTEGER"
        case .timestamp: "TIMESTAMP"
        case .float: "FLOAT"
        case .decimal: "DECIMAL"
        case .varchar: "VARCHAR"
        case .blob: "BLOB"
        }
    }

    package func indexTerm(_ column: String, ascending: Bool) -> String {
        "\(column) COLLATE BINARY \(ascending ? "ASC" : "DESC")"
    }

    package var joinsBySize: Bool { false }
    package var hasSpatialIndexes: Bool { true }

    // MARK: - Clauses

    package func orderTerm(_ expression: SQLFragment, ascending: Bool, collation: String?) -> SQLFragment? {
        "\(expression)\(collation.map { " COLLATE \($0)" } ?? "")\(ascending ? "" : " DESC")"
    }

    /// SQLite has no `OFFSET` without `LIMIT`; -1 means no limit.
    package func limits(limit: SQLArgument?, offset: SQLArgument?) -> SQLFragment {
        switch (limit, offset) {
        case (nil, nil): ""
        case (let limit?, nil): "\nLIMIT \(limit)"
        case (let limit?, let offset?): "\nLIMIT \(limit) OFFSET \(offset)"
        case (nil, let offset?): "\nLIMIT -1 OFFSET \(offset)"
        }
    }
}

extension SQLQuery {
    /// A command for SQLite.
    package init(_ command: some SQLCommand, _ arguments: [ColumnValue] = []) {
        self.init(command, arguments, in: SQLiteDialect())
    }

    /// A statement for SQLite whose only parameter is a list of keys.
    package init(_ command: some SQLCommand, list keys: some Sequence<Int64>) {
        self.init(command, [.text(SQLiteDialect().value(of: keys))])
    }
}
