import Coral

// The SQL statements that create the tables and indexes of a plain database.

extension PlainSchema {
    /// All statements, in the order of their execution.
    package func statements(_ exceptions: PlainExceptions) -> [String] {
        tableStatements(exceptions) + indexStatements
            + uniqueStatements.filter { !exceptions.duplicates.contains($0.name) }.map(\.statement)
    }

    func tableStatements(_ exceptions: PlainExceptions) -> [String] {
        tables.map { table in
            Self.createTable(table.name, table.columns.map { definition(of: $0, in: table, exceptions) })
        }
            + joins.map { join in
                var lines = [reference(join.ownerColumn, join.owner), reference(join.memberColumn, join.member)]
                lines += [join.position, join.inversePosition].compactMap { $0 }.map { "\(SQLText.name($0)) INTEGER" }
                lines.append("PRIMARY KEY (\(SQLText.name(join.ownerColumn)), \(SQLText.name(join.memberColumn)))")
                return Self.createTable(join.name, lines)
            }
    }

    /// The indexes of the references.
    var indexStatements: [String] {
        tables.flatMap { table in
            table.columns.filter { $0.target != nil }.map {
                "CREATE INDEX \(Self.indexName(table.name, [$0.name])) ON \(SQLText.name(table.name)) "
                    + "(\(SQLText.name($0.name)))"
            }
        }
            + joins.map {
                "CREATE INDEX \(Self.indexName($0.name, [$0.memberColumn])) ON \(SQLText.name($0.name)) "
                    + "(\(SQLText.name($0.memberColumn)))"
            }
    }

    /// The indexes of the uniqueness constraints, with their names.
    var uniqueStatements: [(name: String, statement: String)] {
        tables.flatMap { table in
            table.unique.map { constraint in
                let name = Self.indexName(table.name, constraint.columns + ["unique"] + (constraint.entities ?? []))
                let entities = constraint.entities?.map(SQLText.literal).joined(separator: ", ")
                let condition = table.entityColumn.flatMap { column in
                    entities.map { " WHERE \(SQLText.name(column)) IN (\($0))" }
                }
                return (
                    name,
                    "CREATE UNIQUE INDEX \(name) ON \(SQLText.name(table.name)) "
                        + "(\(constraint.columns.map(SQLText.name).joined(separator: ", ")))\(condition ?? "")"
                )
            }
        }
    }

    func keyColumn(of table: String) -> String { tables.first { $0.name == table }?.columns.first?.name ?? "id" }

    private var keyType: String { keys == .integer ? "INTEGER" : "TEXT" }

    private func definition(
        of column: PlainTable.Column, in table: PlainTable, _ exceptions: PlainExceptions
    ) -> String {
        var line = "\(SQLText.name(column.name)) \(type(of: column))"
        let isRequired = column.isRequired && !exceptions.hasNulls(column, in: table)
        if isRequired { line += " NOT NULL" }
        if case .key = column.content { line += " PRIMARY KEY" }
        if let target = column.target {
            // A reference that is required cannot become null.
            let action = isRequired && target.onDelete == "SET NULL" ? "NO ACTION" : target.onDelete
            line +=
                " REFERENCES \(SQLText.name(target.table)) (\(SQLText.name(keyColumn(of: target.table)))) "
                + "ON DELETE \(action) DEFERRABLE INITIALLY DEFERRED"
        }
        return line
    }

    private func reference(_ column: String, _ table: PlainTable) -> String {
        "\(SQLText.name(column)) \(keyType) NOT NULL REFERENCES \(SQLText.name(table.name)) "
            + "(\(SQLText.name(keyColumn(of: table.name)))) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"
    }

    private static func createTable(_ name: String, _ lines: [String]) -> String {
        "CREATE TABLE \(SQLText.name(name)) (\n    \(lines.joined(separator: ",\n    "))\n)"
    }

    private static func indexName(_ table: String, _ columns: [String]) -> String {
        SQLText.name("\(table)_on_\(columns.joined(separator: "_"))")
    }

    private func type(of column: PlainTable.Column) -> String {
        switch column.content {
        case .key, .reference: keyType
        case .entity: "TEXT"
        case .position: "INTEGER"
        case .attribute(_, let attribute): PlainValue.type(of: attribute.type)
        }
    }
}
