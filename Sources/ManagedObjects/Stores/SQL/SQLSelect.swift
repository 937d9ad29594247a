/// A selection of rows of one table.
struct SQLSelect: SQLCommand {
    let columns: [String]
    let table: String
    var condition: SQLRestriction
    /// The terms of `ORDER BY`.
    var order: [String]

    init(_ columns: [String], from table: String, where condition: SQLRestriction = .none, orderBy order: [String] = [])
    {
        self.columns = columns
        self.table = table
        self.condition = condition
        self.order = order
    }

    func text(in dialect: some SQLDialect) -> String {
        "SELECT \(columns.joined(separator: ", ")) FROM \(table)\(condition.clause(in: dialect))"
            + (order.isEmpty ? "" : " ORDER BY " + order.joined(separator: ", "))
    }
}
