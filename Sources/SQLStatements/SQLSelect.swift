/// A selection of rows.
package struct SQLSelect: SQLCommand {
    /// Where the rows come from.
    package enum Source: Sendable {
        case table(String)
        /// The rows of another selection, under a name.
        indirect case selection(SQLSelect, name: String)
    }

    package let columns: [String]
    package let source: Source
    package var condition: SQLRestriction
    /// The terms of `GROUP BY`.
    package var groups: [String]
    /// The terms of `ORDER BY`.
    package var order: [String]

    package init(
        _ columns: [String], from table: String, where condition: SQLRestriction = .none, groupBy groups: [String] = [],
        orderBy order: [String] = []
    ) {
        self.columns = columns
        source = .table(table)
        self.condition = condition
        self.groups = groups
        self.order = order
    }

    package init(
        _ columns: [String], from selection: SQLSelect, as name: String, where condition: SQLRestriction = .none,
        groupBy groups: [String] = []
    ) {
        self.columns = columns
        source = .selection(selection, name: name)
        self.condition = condition
        self.groups = groups
        order = []
    }

    package func text(in dialect: some SQLDialect) -> String {
        "SELECT \(columns.joined(separator: ", ")) FROM \(source.text(in: dialect))\(condition.clause(in: dialect))"
            + (groups.isEmpty ? "" : " GROUP BY " + groups.joined(separator: ", "))
            + (order.isEmpty ? "" : " ORDER BY " + order.joined(separator: ", "))
    }
}

extension SQLSelect.Source {
    package func text(in dialect: some SQLDialect) -> String {
        switch self {
        case .table(let name): name
        case .selection(let selection, let name): "(\(selection.text(in: dialect))) AS \(name)"
        }
    }
}

/// The condition for the rows that a statement reads or changes.
package enum SQLRestriction: Sendable {
    /// All rows.
    case none
    /// A column has the value of a parameter.
    case equals(String)
    /// A column has one of the values of a list, which is one parameter.
    case listed(String, SQLList = .keys)
    /// A column has a value of a number of parameters: the next ones, or the first ones of the statement.
    case among(String, parameters: Int, areFirst: Bool = false)
    /// A column has a value between two parameters.
    case between(String)
    /// A column has a value that a selection of one column returns.
    indirect case selected(String, SQLSelect)
    /// A selection of one column does not return the value of a column.
    indirect case notSelected(String, SQLSelect)
    /// A column has a value.
    case isNotNull(String)
    /// A row is of one of the entities with these numbers: `Z_ENT`. The second value is the alias of the row's table.
    case entities([Int64], String? = nil)
    /// A row has the version of a parameter.
    case version
    /// A condition in standard SQL.
    case text(String)
    /// All of several conditions hold.
    case all([SQLRestriction])
    /// One of several conditions holds.
    case any([SQLRestriction])
    /// A condition is false or NULL.
    indirect case notTrue(SQLRestriction)

    /// The row with the primary key of a parameter.
    package static let key = equals("Z_PK")
    /// The rows with the primary keys of a list.
    package static let keys = listed("Z_PK")

    /// The condition as text; nil for all rows.
    package func text(in dialect: some SQLDialect) -> String? {
        switch self {
        case .none: return nil
        case .equals(let column): return "\(column) = ?"
        case .listed(let column, let list): return dialect.isListed(column, list)
        case .among(let column, let count, areFirst: true):
            return "\(column) IN (\((1...max(1, count)).map { "?\($0)" }.joined(separator: ", ")))"
        case .among(let column, let count, areFirst: false):
            return "\(column) IN (?\(String(repeating: ", ?", count: max(0, count - 1))))"
        case .between(let column): return "\(column) BETWEEN ? AND ?"
        case .selected(let column, let selection): return "\(column) IN (\(selection.text(in: dialect)))"
        case .notSelected(let column, let selection): return "\(column) NOT IN (\(selection.text(in: dialect)))"
        case .isNotNull(let column): return "\(column) IS NOT NULL"
        case .entities(let numbers, let alias): return Self.areOfEntities(numbers, alias)
        case .version: return "\(SQLAssignment.storedVersion) = ?"
        case .text(let text): return text
        case .all(let conditions):
            let texts = conditions.compactMap { $0.text(in: dialect) }
            return texts.isEmpty ? nil : texts.joined(separator: " AND ")
        case .any(let conditions):
            return "(\(conditions.compactMap { $0.text(in: dialect) }.joined(separator: " OR ")))"
        case .notTrue(let condition): return condition.text(in: dialect).map { "(\($0)) IS NOT TRUE" }
        }
    }

    /// The condition for rows of the entities with these numbers, as part of a larger condition.
    package static func areOfEntities(_ numbers: some Collection<Int64>, _ alias: String? = nil) -> String {
        let column = alias.map { "\($0).Z_ENT" } ?? "Z_ENT"
        if numbers.count == 1, let number = numbers.first { return "\(column) = \(number)" }
        return "\(column) IN (\(list(numbers)))"
    }

    /// Numbers as the elements of a list in parentheses.
    package static func list(_ numbers: some Sequence<Int64>) -> String {
        numbers.map(String.init).joined(separator: ", ")
    }

    /// The condition with the word `WHERE`, preceded by a space; empty for all rows.
    package func clause(in dialect: some SQLDialect) -> String { text(in: dialect).map { " WHERE " + $0 } ?? "" }
}

/// The statements for the numbers of entities and their last primary keys: the table `Z_PRIMARYKEY`.
package enum KeyCommands {
    private static let table = "Z_PRIMARYKEY"
    /// The history's and CloudKit's own entities have this number and higher ones.
    package static let firstPrivateNumber: Int64 = 16000

    /// Selects the last key of an entity. Parameter: its number.
    package static let last = SQLSelect(["Z_MAX"], from: table, where: .equals("Z_ENT"))

    /// Selects the highest key of a table.
    package static func highest(in table: String) -> SQLSelect { SQLSelect(["max(Z_PK)"], from: table) }

    /// Raises the last key of an entity. Parameters: key, number.
    package static let raise = SQLUpdate(table, set: [.greater("Z_MAX")], where: .equals("Z_ENT"))

    /// Sets the last key of an entity. Parameters: key, number.
    package static let update = SQLUpdate(table, set: [.parameter("Z_MAX")], where: .equals("Z_ENT"))

    /// Inserts an entity. Parameters: number, name, number of the superentity or 0, last key.
    package static let insertion = SQLInsert(into: table, ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"])

    /// Deletes the entities of the model.
    package static let deletionOfModel = SQLDelete(from: table, where: .text("Z_ENT < \(firstPrivateNumber)"))
}
