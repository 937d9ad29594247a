import SQLStores

/// Checks the numbers of a history: a transaction with a number above the recorded last one, or changes without a
/// transaction, would not be read after a token.
struct HistoryCheck {
    let catalog: SQLCatalog
    let reader: any RowCheckReader

    /// Cost: three statements, one of them over all changes.
    func problems() throws -> [RowProblem] {
        guard catalog.hasTable("ATRANSACTION"), catalog.hasTable("ACHANGE") else { return [] }
        var problems: [RowProblem] = []
        for (table, number) in [
            ("ATRANSACTION", HistoryTables.Number.transaction), ("ACHANGE", HistoryTables.Number.change),
        ] {
            let highest = try reader.integer(KeyCommands.highest(in: table))
            let counted = try reader.firstRow(
                reader.dialect.text(of: KeyCommands.last), [.integer(number)])?.integer(0)
            // Without a row in Z_PRIMARYKEY the highest number is used.
            guard let counted, highest > counted else { continue }
            problems.append(
                RowProblem(
                    kind: .keyBeyondMaximum, entity: table, count: 1, examples: ["\(table)/p\(highest)"],
                    message: "The recorded last number of the history is \(counted), but the highest is \(highest).",
                    repairs: [
                        SQLQuery(
                            KeyCommands.update, [.integer(highest), .integer(number)], in: reader.dialect)
                    ]))
        }
        let lost = "NOT EXISTS (SELECT 1 FROM ATRANSACTION AS t WHERE t.Z_PK = c.ZTRANSACTIONID)"
        let count = try reader.integer("SELECT count(*) FROM ACHANGE AS c WHERE \(lost)")
        if count > 0 {
            problems.append(
                RowProblem(
                    kind: .danglingReference, entity: "ACHANGE", property: "ZTRANSACTIONID", count: Int(count),
                    examples: try reader.rows(
                        "SELECT Z_PK FROM ACHANGE AS c WHERE \(lost) ORDER BY Z_PK LIMIT 5"
                    ).map { "ACHANGE/\($0.key(0))" },
                    message: "Changes of the history belong to transactions that do not exist.",
                    repairs: [SQLQuery(SQLDelete(from: "ACHANGE", as: "c", where: .text(lost)), in: reader.dialect)]))
        }
        return problems
    }
}
