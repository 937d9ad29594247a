/// The creation of a table.
struct SQLTableDefinition: SQLCommand {
    let name: String
    /// The columns in order. The first one is the primary key unless `key` names others.
    let columns: [(name: String, type: SQLColumn.Declaration)]
    /// The columns of the primary key.
    let key: [String]
    /// Whether rows are changed after they were inserted.
    var hasChangingRows = false

    func text(in dialect: some SQLDialect) -> String {
        var parts = columns.map { column in
            "\(column.name) \(dialect.name(of: column.type))\(key == [column.name] ? " PRIMARY KEY" : "")"
        }
        if key.count > 1 { parts.append("PRIMARY KEY (\(key.joined(separator: ", ")))") }
        return "CREATE TABLE \(name) ( \(parts.joined(separator: ", ")) )"
            + (hasChangingRows ? dialect.optionsForChangingRows : "")
    }
}

/// The addition of a column to a table.
struct SQLColumnAddition: SQLCommand {
    let table: String
    let column: String
    let type: SQLColumn.Declaration

    func text(in dialect: some SQLDialect) -> String {
        "ALTER TABLE \(table) ADD COLUMN \(column) \(dialect.name(of: type))"
    }
}
