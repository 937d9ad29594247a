/// The change of the definition of a table, or its removal.
enum SQLAlteration: SQLCommand {
    case renameTable(String, to: String)
    case dropTable(String)
    case addColumn(String, SQLColumn.Declaration, to: String)
    case renameColumn(String, of: String, to: String)
    /// SQLite drops one column by one statement.
    case dropColumns([String], of: String)

    func text(in dialect: some SQLDialect) -> String {
        switch self {
        case .renameTable(let table, let name): "ALTER TABLE \(table) RENAME TO \(name)"
        case .dropTable(let table): "DROP TABLE \(table)"
        case .addColumn(let column, let type, let table):
            "ALTER TABLE \(table) ADD COLUMN \(column) \(dialect.name(of: type))"
        case .renameColumn(let column, let table, let name): "ALTER TABLE \(table) RENAME COLUMN \(column) TO \(name)"
        case .dropColumns(let columns, let table):
            "ALTER TABLE \(table) \(columns.map { "DROP COLUMN \($0)" }.joined(separator: ", "))"
        }
    }
}
