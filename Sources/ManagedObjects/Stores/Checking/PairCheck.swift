import GRDB

/// Checks the pairs of a many-to-many relationship: both ends must be there.
struct PairCheck {
    private let table: SQLJoinTable
    private let schema: SQLSchema
    private let database: Database

    init(_ table: SQLJoinTable, schema: SQLSchema, in database: Database) {
        self.table = table
        self.schema = schema
        self.database = database
    }

    func problems() throws -> [RowProblem] {
        guard try database.tableExists(table.name), let source = schema.entity(table.owner.entity),
            let destination = table.owner.destinationEntity.flatMap({ schema.entity($0) })
        else { return [] }
        let condition =
            "NOT EXISTS (\(rows(of: source, table.sourceColumn))) "
            + "OR NOT EXISTS (\(rows(of: destination, table.destinationColumn)))"
        let count = try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table.name) p WHERE \(condition)") ?? 0
        guard count > 0 else { return [] }
        let examples = try Row.fetchAll(
            database,
            sql: """
                SELECT \(table.sourceColumn), \(table.destinationColumn) FROM \(table.name) p
                WHERE \(condition) ORDER BY 1, 2 LIMIT 5
                """)
        let names = (source.entity.name ?? "", destination.entity.name ?? "")
        return [
            RowProblem(
                kind: .danglingReference, entity: names.0, property: table.owner.name, count: count,
                examples: examples.map {
                    "\(names.0)/p\(($0[0] as Int64?) ?? 0) - \(names.1)/p\(($0[1] as Int64?) ?? 0)"
                }, message: "Pairs name objects that do not exist.",
                repairs: [SQLQuery(sql: "DELETE FROM \(table.name) AS p WHERE \(condition)")])
        ]
    }

    private func rows(of place: SQLEntity, _ column: String) -> String {
        let numbers = place.hierarchyNumbers.map(String.init).joined(separator: ", ")
        return "SELECT 1 FROM \(place.table) e WHERE e.Z_PK = p.\(column) AND e.Z_ENT IN (\(numbers))"
    }
}
