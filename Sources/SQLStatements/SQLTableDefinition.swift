/// The creation of a table.
package struct SQLTableDefinition: SQLCommand {
    package let name: String
    /// The columns in order.
    package let columns: [(name: String, type: SQLColumn.Declaration)]
    /// The columns of the primary key.
    package let key: [String]
    /// Whether rows are changed after they were inserted.
    package var hasChangingRows = false
    /// Whether the table exists for its connection only.
    package var isTemporary = false

    package init(
        name: String, columns: [(name: String, type: SQLColumn.Declaration)], key: [String],
        hasChangingRows: Bool = false, isTemporary: Bool = false
    ) {
        (self.name, self.columns, self.key) = (name, columns, key)
        (self.hasChangingRows, self.isTemporary) = (hasChangingRows, isTemporary)
    }

    package func text(in dialect: some SQLDialect) -> String {
        var parts = columns.map { column in
            "\(column.name) \(dialect.name(of: column.type))\(key == [column.name] ? " PRIMARY KEY" : "")"
        }
        if key.count > 1 { parts.append("PRIMARY KEY (\(key.joined(separator: ", ")))") }
        return "CREATE \(isTemporary ? "TEMP " : "")TABLE \(name) ( \(parts.joined(separator: ", ")) )"
            + (hasChangingRows ? dialect.optionsForChangingRows : "")
    }
}

/// A column of an entity's table.
package struct SQLColumn: Sendable, Equatable {
    /// The types of Core Data's columns. A dialect writes their names.
    package enum Declaration: Sendable {
        case integer
        case timestamp
        case float
        case decimal
        case varchar
        case blob
    }

    package var name: String
    package var declaration: Declaration
    /// For a to-one relationship whose destination has subentities: the column with the `Z_ENT` of the destination.
    package var companion: String?
    /// Whether values begin with a byte that distinguishes data in the row from data in a file beside the store.
    package var hasStorageByte = false

    package init(name: String, declaration: Declaration) {
        self.name = name
        self.declaration = declaration
    }
}

/// The creation of an index.
package struct SQLIndexDefinition: SQLCommand {
    /// A column in the order of its rows' keys.
    package enum Term: Sendable {
        /// Ascending, in the order of the database.
        case column(String)
        /// In the order of the bytes of texts.
        case ordered(String, ascending: Bool)
    }

    package let name: String
    package let table: String
    package let terms: [Term]
    package var isUnique = false
    /// The condition for the rows that the index contains; nil for all rows.
    package var condition: String?

    package init(name: String, table: String, terms: [Term], isUnique: Bool = false, condition: String? = nil) {
        (self.name, self.table, self.terms) = (name, table, terms)
        (self.isUnique, self.condition) = (isUnique, condition)
    }

    package func text(in dialect: some SQLDialect) -> String {
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

/// The change of the definition of a table, or its removal.
package enum SQLAlteration: SQLCommand {
    case renameTable(String, to: String)
    case dropTable(String)
    case addColumn(String, SQLColumn.Declaration, to: String)
    case renameColumn(String, of: String, to: String)
    /// SQLite drops one column by one statement.
    case dropColumns([String], of: String)

    package func text(in dialect: some SQLDialect) -> String {
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
