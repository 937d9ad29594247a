/// The statements that change the numbers of entities in the tables of CloudKit mirroring: those whose names begin with `ANSCK` and
/// that have a column `ZENTITYID`.
///
/// The rows say to which records of CloudKit the objects belong. Rows of removed entities are deleted: their numbers belong to
/// other entities of the new version.
struct CloudKitMigration {
    let schema: MigratedSchema
    let catalog: SQLCatalog

    func statements() -> [String] {
        let tables = catalog.columns.filter { $0.key.hasPrefix("ANSCK") && $0.value.contains("ZENTITYID") }.keys
        return tables.sorted().flatMap(statements)
    }

    private func statements(_ table: String) -> [String] {
        let kept = schema.pairs.map(\.old.number)
        var statements = ["DELETE FROM \(table) WHERE ZENTITYID NOT IN (\(SQLRestriction.list(kept)))"]
        let changed = schema.pairs.filter { $0.old.number != $0.new.number }
        guard !changed.isEmpty else { return statements }
        // Entity and key are unique together, and an update of many rows changes one after the other.
        let cases = changed.map { "WHEN \($0.old.number) THEN \(-$0.new.number)" }.joined(separator: " ")
        statements += [
            "UPDATE \(table) SET ZENTITYID = CASE ZENTITYID \(cases) END "
                + "WHERE ZENTITYID IN (\(SQLRestriction.list(changed.map(\.old.number))))",
            "UPDATE \(table) SET ZENTITYID = -ZENTITYID WHERE ZENTITYID < 0",
        ]
        return statements
    }
}
