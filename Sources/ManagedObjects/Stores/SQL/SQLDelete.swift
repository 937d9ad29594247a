/// The deletion of rows.
struct SQLDelete: SQLCommand {
    let table: String
    /// The name of the table in the condition; nil for its own.
    var alias: String?
    let condition: SQLRestriction

    init(from table: String, as alias: String? = nil, where condition: SQLRestriction) {
        self.table = table
        self.alias = alias
        self.condition = condition
    }

    func text(in dialect: some SQLDialect) -> String {
        "DELETE FROM \(table)\(alias.map { " AS \($0)" } ?? "")\(condition.clause(in: dialect))"
    }
}
