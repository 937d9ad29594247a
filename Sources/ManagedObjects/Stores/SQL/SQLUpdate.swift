/// The change of rows.
struct SQLUpdate: SQLCommand {
    let table: String
    /// The name of the table in the condition and in expressions; nil for its own.
    var alias: String?
    let assignments: [SQLAssignment]
    /// Other rows, which the condition relates to those of the table.
    var source: SQLSelect.Source?
    let condition: SQLRestriction

    init(_ table: String, as alias: String? = nil, set assignments: [SQLAssignment], where condition: SQLRestriction) {
        self.table = table
        self.alias = alias
        self.assignments = assignments
        self.condition = condition
    }

    /// The change of rows by the rows of a selection that have their keys in a column.
    init(
        _ table: String, set assignments: [SQLAssignment], from selection: SQLSelect, as name: String,
        key column: String
    ) {
        self.table = table
        self.assignments = assignments
        source = .selection(selection, name: name)
        condition = .text("\(name).\(column) = \(table).Z_PK")
    }

    func text(in dialect: some SQLDialect) -> String {
        let list = assignments.map { $0.text(in: dialect) }.joined(separator: ", ")
        return "UPDATE \(table)\(alias.map { " AS \($0)" } ?? "") SET \(list)"
            + (source.map { " FROM \($0.text(in: dialect))" } ?? "") + condition.clause(in: dialect)
    }
}

/// A new value of a column.
enum SQLAssignment: Sendable {
    /// The value of a parameter.
    case parameter(String)
    case null(String)
    /// An expression, in standard SQL.
    case expression(String, of: String)
    /// The greater of the stored number, or 0, and a parameter.
    case greater(String)
    /// A version greater than the stored one and than another: by default a parameter. A version that another context
    /// may have read must not be assigned again.
    case laterVersion(than: String = "?")
    /// The version of a row increased by a number. Rows that other programs wrote may have none.
    case versionIncrement(by: Int = 1)

    func text(in dialect: some SQLDialect) -> String {
        switch self {
        case .parameter(let column): "\(column) = ?"
        case .null(let column): "\(column) = NULL"
        case .expression(let expression, let column): "\(column) = \(expression)"
        case .greater(let column): "\(column) = \(dialect.greater("COALESCE(\(column), 0)", "?"))"
        case .laterVersion(let other): "Z_OPT = \(dialect.greater(Self.storedVersion, other)) + 1"
        case .versionIncrement(let number): "Z_OPT = \(Self.storedVersion) + \(number)"
        }
    }

    /// The version of a row: 0 if it has none.
    static let storedVersion = "COALESCE(Z_OPT, 0)"
}
