import SQLStores

/// Checks the pairs of a many-to-many relationship: both objects must exist.
struct PairCheck {
    private let table: SQLJoinTable
    private let schema: SQLSchema
    private let catalog: SQLCatalog
    private let reader: any RowCheckReader

    init(_ table: SQLJoinTable, schema: SQLSchema, catalog: SQLCatalog, reader: any RowCheckReader) {
        self.table = table
        self.schema = schema
        self.catalog = catalog
        self.reader = reader
    }

    func problems() throws -> [RowProblem] {
        guard catalog.hasTable(table.name), let source = schema.entity(table.owner.entity),
            let destination = table.owner.destinationEntity.flatMap({ schema.entity($0) })
        else { return [] }
        let condition =
            "NOT EXISTS (\(rows(of: source, table.sourceColumn))) "
            + "OR NOT EXISTS (\(rows(of: destination, table.destinationColumn)))"
        let count = Int(try reader.integer("SELECT count(*) FROM \(table.name) p WHERE \(condition)"))
        guard count > 0 else { return [] }
        let examples = try reader.rows(
            """
            SELECT \(table.sourceColumn), \(table.destinationColumn) FROM \(table.name) p
            WHERE \(condition) ORDER BY 1, 2 LIMIT 5
            """)
        let names = (source.entity.name ?? "", destination.entity.name ?? "")
        return [
            RowProblem(
                kind: .danglingReference, entity: names.0, property: table.owner.name, count: count,
                examples: examples.map {
                    "\(names.0)/\($0.key(0)) - \(names.1)/\($0.key(1))"
                }, message: "Pairs refer to objects that do not exist.",
                repairs: [SQLQuery(SQLDelete(from: table.name, as: "p", where: .text(condition)), in: reader.dialect)])
        ]
    }

    private func rows(of sqlEntity: SQLEntity, _ column: String) -> String {
        let isOfEntity = SQLRestriction.areOfEntities(sqlEntity.hierarchyNumbers, "e")
        return "SELECT 1 FROM \(sqlEntity.table) e WHERE e.Z_PK = p.\(column) AND \(isOfEntity)"
    }
}
