import GRDB

/// The SQL of the old values that a store keeps beside its history, in tables of this package's own that Apple's framework does
/// not read.
///
/// Here those of SQLite, and what they share with PostgreSQL's. Temporary triggers of the writing connection record each
/// updated and deleted row, and each inserted and deleted pair of a many-to-many relationship, whatever statement changes it:
/// a save, a batch request, an import or a copy by rows. At the end of the transaction the records are stored under its
/// number, the first old and the last new value of each column. Values that may be in external files are not recorded,
/// because the files are deleted with the values.
enum OldValueStatements {
    static let values = "CORALOLDVALUE"
    static let pairs = "CORALOLDPAIR"
    static let valueNotes = "CORALOLDVALUENOTE"
    static let pairNotes = "CORALOLDPAIRNOTE"
    /// The column whose record marks a deleted row and contains its entity.
    static let entityColumn = "Z_ENT"

    // MARK: - Tables

    /// Creates the tables of the store. For each transaction with old values, the first table has a row without an
    /// entity.
    static let creation = [
        "CREATE TABLE IF NOT EXISTS \(values) (TRANSACTIONID INTEGER, ENTITY INTEGER, ENTITYPK INTEGER, "
            + "COLUMNNAME VARCHAR, OLDVALUE, NEWVALUE)",
        "CREATE INDEX IF NOT EXISTS \(values)_ROW ON \(values) (TRANSACTIONID, ENTITY, ENTITYPK)",
        "CREATE TABLE IF NOT EXISTS \(pairs) (TRANSACTIONID INTEGER, PAIRTABLE VARCHAR, SOURCEENTITY INTEGER, "
            + "SOURCEPK INTEGER, DESTINATIONENTITY INTEGER, DESTINATIONPK INTEGER, ISADDED INTEGER)",
        "CREATE INDEX IF NOT EXISTS \(pairs)_SOURCE ON \(pairs) (TRANSACTIONID, PAIRTABLE, SOURCEPK)",
        "CREATE INDEX IF NOT EXISTS \(pairs)_DESTINATION ON \(pairs) (TRANSACTIONID, PAIRTABLE, DESTINATIONPK)",
    ]

    /// Creates the temporary tables and triggers of a writing connection.
    static func temporary(_ schema: SQLSchema) -> [String] {
        // Without constraints: a conflict clause of the statement that fires a trigger would apply to them.
        [
            "CREATE TEMP TABLE \(valueNotes) (ENTITY INTEGER, ENTITYPK INTEGER, COLUMNNAME VARCHAR, OLDVALUE, NEWVALUE)",
            "CREATE INDEX temp.\(valueNotes)_DELETED ON \(valueNotes) (ENTITYPK, ENTITY) "
                + "WHERE COLUMNNAME = '\(entityColumn)'",
            "CREATE TEMP TABLE \(pairNotes) (PAIRTABLE VARCHAR, SOURCEPK INTEGER, DESTINATIONPK INTEGER, ISADDED INTEGER)",
        ] + schema.tables.flatMap { triggers($0, schema) } + schema.joinTables.flatMap(triggers)
    }

    private static func triggers(_ table: SQLTable, _ schema: SQLSchema) -> [String] {
        func note(_ name: String, new: String, where condition: String) -> String {
            "SELECT OLD.Z_ENT, OLD.Z_PK, '\(name)', OLD.\(name), \(new) WHERE \(condition)"
        }
        var updates: [String] = []
        var deletions = [note(entityColumn, new: "NULL", where: "1")]
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
            return "INSERT INTO \(valueNotes) \(selections.joined(separator: " UNION ALL "))"
        }.joined(separator: "; ")
    }

    private static func triggers(_ table: SQLJoinTable) -> [String] {
        func note(_ row: String, _ isAdded: Int) -> String {
            "INSERT INTO \(pairNotes) "
                + "VALUES ('\(table.name)', \(row).\(table.sourceColumn), \(row).\(table.destinationColumn), \(isAdded))"
        }
        return [trigger(table.name, "INSERT", note("NEW", 1)), trigger(table.name, "DELETE", note("OLD", 0))]
    }

    private static func trigger(_ table: String, _ event: String, _ body: String) -> String {
        "CREATE TEMP TRIGGER CORAL_OLD_\(event)_\(table) AFTER \(event) ON main.\(table) BEGIN \(body); END"
    }

    // MARK: - Storing

    /// The statements that store the records of a transaction. Parameter: its number.
    static func keeping(_ schema: SQLSchema) -> [String] {
        keepValues + schema.joinTables.compactMap { keepPairs($0, schema) }
    }

    /// Stores the records of the transaction's updated and deleted rows. Parameter: the number of the transaction.
    private static let keepValues = [
        "INSERT INTO \(values) (TRANSACTIONID) VALUES (?1)",
        "INSERT INTO \(values) SELECT ?1, f.ENTITY, f.ENTITYPK, f.COLUMNNAME, f.OLDVALUE, l.NEWVALUE "
            + "FROM (SELECT min(rowid) AS first, max(rowid) AS last FROM \(valueNotes) "
            + "WHERE (ENTITY, ENTITYPK) IN "
            + "(SELECT ZENTITY, ZENTITYPK FROM ACHANGE WHERE ZTRANSACTIONID = ?1 AND ZCHANGETYPE > 0) "
            + "GROUP BY ENTITY, ENTITYPK, COLUMNNAME) AS numbers "
            + "JOIN \(valueNotes) AS f ON f.rowid = first JOIN \(valueNotes) AS l ON l.rowid = last ORDER BY first",
    ]

    /// Stores the records of one table of pairs, without pairs that the transaction has both added and removed. Parameter:
    /// the number of the transaction.
    private static func keepPairs(_ table: SQLJoinTable, _ schema: SQLSchema) -> String? {
        guard let source = table.owner.entityIfAny.flatMap(schema.entity),
            let destination = table.owner.destinationEntity.flatMap(schema.entity)
        else { return nil }
        return "INSERT INTO \(pairs) SELECT ?1, f.PAIRTABLE, \(entity("f.SOURCEPK", source)), f.SOURCEPK, "
            + "\(entity("f.DESTINATIONPK", destination)), f.DESTINATIONPK, l.ISADDED "
            + "FROM (SELECT min(rowid) AS first, max(rowid) AS last FROM \(pairNotes) "
            + "WHERE PAIRTABLE = '\(table.name)' GROUP BY SOURCEPK, DESTINATIONPK) AS numbers "
            + "JOIN \(pairNotes) AS f ON f.rowid = first JOIN \(pairNotes) AS l ON l.rowid = last "
            + "WHERE f.ISADDED = l.ISADDED ORDER BY first"
    }

    /// The number of the entity of a row that exists, or that the transaction has deleted.
    private static func entity(_ key: String, _ entity: SQLEntity) -> String {
        guard entity.sharesTable else { return "\(entity.number)" }
        let numbers = SQLRestriction.list(entity.hierarchyNumbers)
        return "COALESCE((SELECT Z_ENT FROM \(entity.table) WHERE Z_PK = \(key)), "
            + "(SELECT ENTITY FROM \(valueNotes) WHERE ENTITYPK = \(key) AND ENTITY IN (\(numbers)) "
            + "AND COLUMNNAME = '\(entityColumn)'))"
    }

    static let deleteNotes = [valueNotes, pairNotes].map { SQLDelete(from: $0, where: .none) }

    // MARK: - Reading and deleting

    /// Columns: name of the column, old value, new value; the row that marks the transaction has no name. Parameters: the
    /// numbers of the transaction and of the entity, and the key.
    static let readValues =
        "SELECT COLUMNNAME, OLDVALUE, NEWVALUE FROM \(values) WHERE TRANSACTIONID = ?1 AND ENTITY IS NULL "
        + "UNION ALL SELECT COLUMNNAME, OLDVALUE, NEWVALUE FROM \(values) "
        + "WHERE TRANSACTIONID = ?1 AND ENTITY = ?2 AND ENTITYPK = ?3"

    /// Columns: number of the other's entity, its key, whether it was added. Parameters: the number of the transaction, the
    /// table, and the key.
    static func readPairs(fromSource: Bool) -> SQLSelect {
        let (own, other) = fromSource ? ("SOURCE", "DESTINATION") : ("DESTINATION", "SOURCE")
        return SQLSelect(
            ["\(other)ENTITY", "\(other)PK", "ISADDED"], from: pairs,
            where: .all([.equals("TRANSACTIONID"), .equals("PAIRTABLE"), .equals("\(own)PK")]),
            orderBy: ["\(other)ENTITY", "\(other)PK"])
    }

    /// Parameter: the number of the first transaction that is kept.
    static let purge = [values, pairs].map { SQLDelete(from: $0, where: .text("TRANSACTIONID < ?")) }
}
