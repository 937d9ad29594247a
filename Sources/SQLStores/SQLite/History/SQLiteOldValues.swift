import ManagedObjects

/// The tables and triggers of SQLite that record the old values of a history. See ``OldValueStatements``, which has the
/// statements that use them.
enum SQLiteOldValues {
    /// Creates the tables of the store. For each transaction with old values, the first table has a row without an
    /// entity.
    static let creation = [
        "CREATE TABLE IF NOT EXISTS \(OldValueStatements.values) (TRANSACTIONID INTEGER, ENTITY INTEGER, ENTITYPK INTEGER, "
            + "COLUMNNAME VARCHAR, OLDVALUE, NEWVALUE)",
        "CREATE INDEX IF NOT EXISTS \(OldValueStatements.values)_ROW ON \(OldValueStatements.values) (TRANSACTIONID, ENTITY, ENTITYPK)",
        "CREATE TABLE IF NOT EXISTS \(OldValueStatements.pairs) (TRANSACTIONID INTEGER, PAIRTABLE VARCHAR, SOURCEENTITY INTEGER, "
            + "SOURCEPK INTEGER, DESTINATIONENTITY INTEGER, DESTINATIONPK INTEGER, ISADDED INTEGER)",
        "CREATE INDEX IF NOT EXISTS \(OldValueStatements.pairs)_SOURCE ON \(OldValueStatements.pairs) (TRANSACTIONID, PAIRTABLE, SOURCEPK)",
        "CREATE INDEX IF NOT EXISTS \(OldValueStatements.pairs)_DESTINATION ON \(OldValueStatements.pairs) (TRANSACTIONID, PAIRTABLE, DESTINATIONPK)",
    ]

    /// Creates the temporary tables and triggers of a writing connection.
    static func temporary(_ schema: SQLSchema) -> [String] {
        // Without constraints: a conflict clause of the statement that fires a trigger would apply to them.
        [
            "CREATE TEMP TABLE \(OldValueStatements.valueNotes) (ENTITY INTEGER, ENTITYPK INTEGER, COLUMNNAME VARCHAR, OLDVALUE, NEWVALUE)",
            "CREATE INDEX temp.\(OldValueStatements.valueNotes)_DELETED ON \(OldValueStatements.valueNotes) (ENTITYPK, ENTITY) "
                + "WHERE COLUMNNAME = '\(OldValueStatements.entityColumn)'",
            "CREATE TEMP TABLE \(OldValueStatements.pairNotes) (PAIRTABLE VARCHAR, SOURCEPK INTEGER, DESTINATIONPK INTEGER, ISADDED INTEGER)",
        ] + schema.tables.flatMap { triggers($0, schema) } + schema.joinTables.flatMap(triggers)
    }

    private static func triggers(_ table: SQLTable, _ schema: SQLSchema) -> [String] {
        func note(_ name: String, new: String, where condition: String) -> String {
            "SELECT OLD.Z_ENT, OLD.Z_PK, '\(name)', OLD.\(name), \(new) WHERE \(condition)"
        }
        var updates: [String] = []
        var deletions = [note(OldValueStatements.entityColumn, new: "NULL", where: "1")]
        var known: Set<String> = []
        for entity in schema.entities where entity.table == table.name {
            for case let column? in entity.columns where !column.hasStorageByte && known.insert(column.name).inserted {
                let names = [column.name, column.companion].compactMap { $0 }
                // A reference and the column with the entity of its destination are recorded together.
                let condition = names.map { "OLD.\($0) IS NOT NEW.\($0)" }.joined(separator: " OR ")
                updates += names.map { note($0, new: "NEW.\($0)", where: condition) }
                deletions += names.map { note($0, new: "NULL", where: "OLD.\($0) IS NOT NULL") }
            }
        }
        return [("UPDATE", updates), ("DELETE", deletions)].filter { !$0.1.isEmpty }
            .map { trigger(table.name, $0, insertions($1)) }
    }

    /// Inserts the rows of selections, many with one statement, which takes an eighth of the time of one statement for each.
    private static func insertions(_ selections: [String]) -> String {
        // SQLite combines at most 500 selections.
        stride(from: 0, to: selections.count, by: 400).map { start in
            let selections = selections[start..<min(start + 400, selections.count)]
            return "INSERT INTO \(OldValueStatements.valueNotes) \(selections.joined(separator: " UNION ALL "))"
        }.joined(separator: "; ")
    }

    private static func triggers(_ table: SQLJoinTable) -> [String] {
        func note(_ row: String, _ isAdded: Int) -> String {
            "INSERT INTO \(OldValueStatements.pairNotes) "
                + "VALUES ('\(table.name)', \(row).\(table.sourceColumn), \(row).\(table.destinationColumn), \(isAdded))"
        }
        return [trigger(table.name, "INSERT", note("NEW", 1)), trigger(table.name, "DELETE", note("OLD", 0))]
    }

    private static func trigger(_ table: String, _ event: String, _ body: String) -> String {
        "CREATE TEMP TRIGGER CORAL_OLD_\(event)_\(table) AFTER \(event) ON main.\(table) BEGIN \(body); END"
    }
}
