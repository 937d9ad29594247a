import Foundation
import SQLStores

/// The tables and columns that a store lacks although the model requires them: for example, because a program has
/// changed the metadata of the store without migrating it. The repair adds them, with the default values of attributes.
struct MissingTables {
    private let schema: SQLSchema
    private let dialect: any SQLDialect
    /// The schema of the store after the repair.
    private let complete: SQLSchema

    /// - Parameter schema: The schema of the model in a store with the catalog.
    init(_ schema: SQLSchema, catalog: SQLCatalog, naming: SQLNaming, dialect: any SQLDialect) {
        self.schema = schema
        self.dialect = dialect
        var completed = catalog
        for name in schema.missing {
            let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
            if parts.count == 2 {
                completed.columns[parts[0], default: []].append(parts[1])
            } else if let table = schema.tables.first(where: { $0.name == name }) {
                completed.columns[name] = SQLEntity.rowColumns + table.columns.map(\.name)
            } else if let join = schema.joinTables.first(where: { $0.name == name }) {
                completed.columns[name] = join.columns
            }
        }
        complete = SQLSchemaBuilder.schema(of: schema.model, catalog: completed, naming: naming)
    }

    /// A problem for each table and each column.
    func problems() -> [RowProblem] {
        schema.missing.map { name in
            RowProblem(
                kind: .missingTable, entity: name, count: 1, examples: [],
                message: "The store lacks \(name), which the model requires.", repairs: repairs(of: name))
        }
    }

    private func repairs(of name: String) -> [SQLQuery] {
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            let table = complete.tableDefinitions.first { $0.name == name }.map { dialect.text(of: $0) }
            let indexes = complete.indexStatements(in: dialect).filter { $0.contains(" ON \(name) (") }
            return ((table.map { [$0] } ?? []) + indexes).map { SQLQuery(sql: $0) }
        }
        let (table, column) = (parts[0], parts[1])
        let declaration = complete.tables.first { $0.name == table }?.columns.first { $0.name == column }?.declaration
        // Columns of join tables, and the entities of references, are integers.
        let addition = SQLAlteration.addColumn(column, declaration ?? .integer, to: table)
        return [SQLQuery(addition, in: dialect)] + defaults(of: column, in: table)
    }

    /// The statements that set a new column to the default value of its attribute, for each entity that declares it.
    private func defaults(of column: String, in table: String) -> [SQLQuery] {
        complete.entities.filter { $0.table == table }.compactMap { sqlEntity in
            let inherited = sqlEntity.entity.superentity?.layout.slots.count ?? 0
            let slot = sqlEntity.columns.indices.dropFirst(inherited).first { sqlEntity.columns[$0]?.name == column }
            guard let slot, let value = Self.columnValue(of: sqlEntity.entity.layout.slots[slot].initial) else {
                return nil
            }
            return SQLQuery(
                SQLUpdate(table, set: [.parameter(column)], where: .entities(sqlEntity.hierarchyNumbers)), [value],
                in: dialect)
        }
    }

    /// The value in a column; nil for null and for values that need a transformer.
    private static func columnValue(of value: Value) -> ColumnValue? {
        switch value {
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .string(let text): .text(text)
        case .uuid(let uuid): ColumnValue(uuid)
        case .decimal(let number): .real(number.nearestDouble)
        case .object(let box): (box.value as? URL).map { .text($0.absoluteString) }
        case .null, .data, .reference: nil
        }
    }
}
