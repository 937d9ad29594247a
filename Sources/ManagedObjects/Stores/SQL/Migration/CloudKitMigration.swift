import SQLStores

/// The statements that change the numbers of entities in the tables of CloudKit mirroring: those whose names begin with `ANSCK` and
/// that have a column `ZENTITYID`.
///
/// The rows assign the objects to records of CloudKit. Rows of removed entities are deleted: their numbers belong to
/// other entities of the new version.
struct CloudKitMigration {
    let schema: MigratedSchema
    let catalog: SQLCatalog

    func statements() -> [any SQLCommand] {
        let tables = catalog.columns.filter { $0.key.hasPrefix("ANSCK") && $0.value.contains("ZENTITYID") }.keys
        return tables.sorted().flatMap(statements)
    }

    private func statements(_ table: String) -> [any SQLCommand] {
        let (column, kept) = ("ZENTITYID", SQLRestriction.list(schema.pairs.map(\.old.number)))
        let deletion = SQLDelete(from: table, where: .text("\(column) NOT IN (\(kept))"))
        let changed = schema.pairs.filter { $0.old.number != $0.new.number }
        guard !changed.isEmpty else { return [deletion] }
        // Entity and key are unique together, and an update of many rows changes one after the other.
        let negative = SQLExpression.choice(by: column, changed.map { ($0.old.number, "\(-$0.new.number)") })
        let former = SQLRestriction.list(changed.map(\.old.number))
        return [
            deletion,
            SQLUpdate(
                table, set: [.expression(negative, of: column)], where: .text("\(column) IN (\(former))")),
            SQLUpdate(table, set: [.expression("-\(column)", of: column)], where: .text("\(column) < 0")),
        ]
    }
}
