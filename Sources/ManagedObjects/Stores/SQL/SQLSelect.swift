/// A selection of rows.
struct SQLSelect: SQLCommand {
    /// Where the rows come from.
    enum Source: Sendable {
        case table(String)
        /// The rows of another selection, under a name.
        indirect case selection(SQLSelect, name: String)
    }

    let columns: [String]
    let source: Source
    var condition: SQLRestriction
    /// The terms of `GROUP BY`.
    var groups: [String]
    /// The terms of `ORDER BY`.
    var order: [String]

    init(
        _ columns: [String], from table: String, where condition: SQLRestriction = .none, groupBy groups: [String] = [],
        orderBy order: [String] = []
    ) {
        self.columns = columns
        source = .table(table)
        self.condition = condition
        self.groups = groups
        self.order = order
    }

    init(
        _ columns: [String], from selection: SQLSelect, as name: String, where condition: SQLRestriction = .none,
        groupBy groups: [String] = []
    ) {
        self.columns = columns
        source = .selection(selection, name: name)
        self.condition = condition
        self.groups = groups
        order = []
    }

    func text(in dialect: some SQLDialect) -> String {
        "SELECT \(columns.joined(separator: ", ")) FROM \(source.text(in: dialect))\(condition.clause(in: dialect))"
            + (groups.isEmpty ? "" : " GROUP BY " + groups.joined(separator: ", "))
            + (order.isEmpty ? "" : " ORDER BY " + order.joined(separator: ", "))
    }
}

extension SQLSelect.Source {
    func text(in dialect: some SQLDialect) -> String {
        switch self {
        case .table(let name): name
        case .selection(let selection, let name): "(\(selection.text(in: dialect))) AS \(name)"
        }
    }
}
