/// The insertion of rows.
package struct SQLInsert: SQLCommand {
    package enum Source: Sendable {
        /// Rows with the same expressions, one for each column: mostly parameters.
        case rows([String], count: Int)
        /// The rows of a selection. If duplicates are ignored, it must have a condition: SQLite would otherwise read
        /// `ON CONFLICT` as the condition of a join.
        case selection(SQLSelect)
    }

    /// What is done with a row if another one has its key or unique values.
    package enum Duplicates: Sendable {
        case areErrors
        case areIgnored
        /// The other row, with the same values in the key columns, is changed.
        case update(key: [String], [SQLAssignment])
    }

    package let table: String
    package let columns: [String]
    package var source: Source
    package var duplicates = Duplicates.areErrors

    /// An insertion of rows with expressions for the columns.
    package init(into table: String, _ values: [(column: String, value: String)], duplicates: Duplicates = .areErrors) {
        self.table = table
        columns = values.map(\.column)
        source = .rows(values.map(\.value), count: 1)
        self.duplicates = duplicates
    }

    /// An insertion of one row with a parameter for each column.
    package init(into table: String, _ columns: [String], duplicates: Duplicates = .areErrors) {
        self.table = table
        self.columns = columns
        source = .rows([String](repeating: "?", count: columns.count), count: 1)
        self.duplicates = duplicates
    }

    /// An insertion of the rows of a selection with the same columns.
    package init(into table: String, _ columns: [String], selection: SQLSelect, duplicates: Duplicates = .areErrors) {
        self.table = table
        self.columns = columns
        source = .selection(selection)
        self.duplicates = duplicates
    }

    /// The insertion of several rows instead of one.
    package func repeated(_ count: Int) -> SQLInsert {
        var copy = self
        if case .rows(let values, _) = source { copy.source = .rows(values, count: count) }
        return copy
    }

    package func text(in dialect: some SQLDialect) -> String {
        var text = "INSERT INTO \(table) (\(columns.joined(separator: ", "))) "
        switch source {
        case .rows(let values, let count):
            let row = "(\(values.joined(separator: ", ")))"
            text += "VALUES " + repeatElement(row, count: count).joined(separator: ", ")
        case .selection(let selection): text += selection.text(in: dialect)
        }
        switch duplicates {
        case .areErrors: break
        case .areIgnored: text += " ON CONFLICT DO NOTHING"
        case .update(let key, let assignments):
            text += " ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET "
            text += assignments.map { $0.text(in: dialect) }.joined(separator: ", ")
        }
        return text
    }
}

/// The change of rows.
package struct SQLUpdate: SQLCommand {
    package let table: String
    /// The name of the table in the condition and in expressions; nil for its own.
    package var alias: String?
    package let assignments: [SQLAssignment]
    /// Other rows, which the condition relates to those of the table.
    package var source: SQLSelect.Source?
    package let condition: SQLRestriction

    package init(
        _ table: String, as alias: String? = nil, set assignments: [SQLAssignment], where condition: SQLRestriction
    ) {
        self.table = table
        self.alias = alias
        self.assignments = assignments
        self.condition = condition
    }

    /// The change of rows by the rows of a selection that have their keys in a column.
    package init(
        _ table: String, set assignments: [SQLAssignment], from selection: SQLSelect, as name: String,
        key column: String
    ) {
        self.table = table
        self.assignments = assignments
        source = .selection(selection, name: name)
        condition = .text("\(name).\(column) = \(table).Z_PK")
    }

    package func text(in dialect: some SQLDialect) -> String {
        let list = assignments.map { $0.text(in: dialect) }.joined(separator: ", ")
        return "UPDATE \(table)\(alias.map { " AS \($0)" } ?? "") SET \(list)"
            + (source.map { " FROM \($0.text(in: dialect))" } ?? "") + condition.clause(in: dialect)
    }
}

/// A new value of a column.
package enum SQLAssignment: Sendable {
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

    package func text(in dialect: some SQLDialect) -> String {
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
    package static let storedVersion = "COALESCE(Z_OPT, 0)"
}

/// The deletion of rows.
package struct SQLDelete: SQLCommand {
    package let table: String
    /// The name of the table in the condition; nil for its own.
    package var alias: String?
    package let condition: SQLRestriction

    package init(from table: String, as alias: String? = nil, where condition: SQLRestriction) {
        self.table = table
        self.alias = alias
        self.condition = condition
    }

    package func text(in dialect: some SQLDialect) -> String {
        "DELETE FROM \(table)\(alias.map { " AS \($0)" } ?? "")\(condition.clause(in: dialect))"
    }
}
