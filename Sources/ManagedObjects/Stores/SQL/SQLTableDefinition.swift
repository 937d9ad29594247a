/// The creation of a table.
struct SQLTableDefinition: SQLCommand {
    let name: String
    /// The columns in order.
    let columns: [(name: String, type: SQLColumn.Declaration)]
    /// The columns of the primary key.
    let key: [String]
    /// Whether rows are changed after they were inserted.
    var hasChangingRows = false
    /// Whether the table exists for its connection only.
    var isTemporary = false

    func text(in dialect: some SQLDialect) -> String {
        var parts = columns.map { column in
            "\(column.name) \(dialect.name(of: column.type))\(key == [column.name] ? " PRIMARY KEY" : "")"
        }
        if key.count > 1 { parts.append("PRIMARY KEY (\(key.joined(separator: ", ")))") }
        return "CREATE \(isTemporary ? "TEMP " : "")TABLE \(name) ( \(parts.joined(separator: ", ")) )"
            + (hasChangingRows ? dialect.optionsForChangingRows : "")
    }
}
