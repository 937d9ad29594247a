/// The creation of an index.
struct SQLIndexDefinition: SQLCommand {
    /// A column in the order of its rows' keys.
    enum Term: Sendable {
        /// Ascending, in the order of the database.
        case column(String)
        /// In the order of the bytes of texts.
        case ordered(String, ascending: Bool)
    }

    let name: String
    let table: String
    let terms: [Term]
    var isUnique = false
    /// The condition for the rows that the index contains; nil for all rows.
    var condition: String?

    func text(in dialect: some SQLDialect) -> String {
        let columns = terms.map { term in
            switch term {
            case .column(let column): column
            case .ordered(let column, let ascending): dialect.indexTerm(column, ascending: ascending)
            }
        }
        return
            "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(dialect.indexName(name)) ON \(table) (\(columns.joined(separator: ", ")))"
            + (condition.map { " WHERE \($0)" } ?? "")
    }
}
