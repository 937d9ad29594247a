/// The insertion of rows.
struct SQLInsert: SQLCommand {
    enum Source: Sendable {
        /// Rows with the same expressions, one for each column: mostly parameters.
        case rows([String], count: Int)
        /// The rows of a selection. If duplicates are ignored, it must have a condition: SQLite would otherwise read
        /// `ON CONFLICT` as the condition of a join.
        case selection(SQLSelect)
    }

    /// What is done with a row if another one has its key or unique values.
    enum Duplicates: Sendable {
        case areErrors
        case areIgnored
        /// The other row, with the same values in the key columns, is changed.
        case update(key: [String], [SQLAssignment])
    }

    let table: String
    let columns: [String]
    var source: Source
    var duplicates = Duplicates.areErrors

    /// An insertion of rows with expressions for the columns.
    init(into table: String, _ values: [(column: String, value: String)], duplicates: Duplicates = .areErrors) {
        self.table = table
        columns = values.map(\.column)
        source = .rows(values.map(\.value), count: 1)
        self.duplicates = duplicates
    }

    /// An insertion of one row with a parameter for each column.
    init(into table: String, _ columns: [String], duplicates: Duplicates = .areErrors) {
        self.table = table
        self.columns = columns
        source = .rows([String](repeating: "?", count: columns.count), count: 1)
        self.duplicates = duplicates
    }

    /// An insertion of the rows of a selection with the same columns.
    init(into table: String, _ columns: [String], selection: SQLSelect, duplicates: Duplicates = .areErrors) {
        self.table = table
        self.columns = columns
        source = .selection(selection)
        self.duplicates = duplicates
    }

    /// The insertion of several rows instead of one.
    func repeated(_ count: Int) -> SQLInsert {
        var copy = self
        if case .rows(let values, _) = source { copy.source = .rows(values, count: count) }
        return copy
    }

    func text(in dialect: some SQLDialect) -> String {
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
