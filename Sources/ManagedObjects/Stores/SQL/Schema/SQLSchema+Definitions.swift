import SQLStores

// The tables of a store, as the schema defines them.

extension SQLSchema {
    /// Entity tables, each followed by the join tables that its entities own.
    var tableDefinitions: [SQLTableDefinition] {
        tables.flatMap { table in [table.definition] + joinTables(of: table).map(\.definition) }
    }

    func joinTables(of table: SQLTable) -> [SQLJoinTable] {
        joinTables.filter { $0.owner.entityIfAny?.rootEntity === table.root }
    }
}

extension SQLTable {
    var definition: SQLTableDefinition {
        SQLTableDefinition(
            name: name,
            columns: SQLEntity.rowColumns.map { ($0, .integer) } + columns.map { ($0.name, $0.declaration) },
            key: ["Z_PK"], hasChangingRows: true)
    }
}

extension SQLJoinTable {
    var definition: SQLTableDefinition {
        SQLTableDefinition(name: name, columns: columns.map { ($0, .integer) }, key: [sourceColumn, destinationColumn])
    }
}
