import SQLStores

/// Checks the rows of all tables of a store, whatever its database.
///
/// Cost: one or two statements for each stored property, each over all rows of its table.
struct SchemaCheck {
    let schema: SQLSchema
    let catalog: SQLCatalog
    let naming: SQLNaming
    /// The files of large values; nil if all values are in the rows.
    let files: ExternalData?
    let reader: any RowCheckReader

    /// The problems, table by table, and the files to which rows refer.
    ///
    /// - Parameter willCheck: Called before each entity with the number of checked entities and their total; throws to cancel.
    func problems(
        willCheck: (Int, Int) throws -> Void
    ) throws -> (problems: [RowProblem], referencedFiles: Set<String>) {
        var problems = MissingTables(schema, catalog: catalog, naming: naming, dialect: reader.dialect).problems()
        var referenced: Set<String> = []
        for (index, entity) in schema.entities.enumerated() {
            try willCheck(index, schema.entities.count)
            var check = EntityRowCheck(entity, schema: schema, catalog: catalog, files: files, reader: reader)
            problems += try check.problems()
            problems += try PositionCheck(entity, schema: schema, catalog: catalog, reader: reader).problems()
            referenced.formUnion(check.referencedFiles)
        }
        for table in schema.joinTables {
            problems += try PairCheck(table, schema: schema, catalog: catalog, reader: reader).problems()
        }
        problems += try HistoryCheck(catalog: catalog, reader: reader).problems()
        return (problems, referenced)
    }
}
