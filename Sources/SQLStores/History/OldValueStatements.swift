import ManagedObjects
import SQLStatements

/// The SQL of the old values that a store keeps beside its history, in tables of this package's own that Apple's framework does
/// not read.
///
/// Temporary triggers of the writing connection (`SQLiteOldValues`, `PostgreSQLOldValues`) record each updated and deleted
/// row, and each inserted and deleted pair of a many-to-many relationship, whatever statement changes it: a save, a batch
/// request, an import or a copy by rows. They number the records in the order of the changes (`rowid`). At the end of the
/// transaction the records are stored under its number, the first old and the last new value of each column. Values that
/// may be in external files are not recorded, because the files are deleted with the values.
///
/// Parameters are numbered as SQLite's; `SQLDialect.parameterized` writes them for another database.
enum OldValueStatements {
    static let values = "CORALOLDVALUE"
    static let pairs = "CORALOLDPAIR"
    static let valueNotes = "CORALOLDVALUENOTE"
    static let pairNotes = "CORALOLDPAIRNOTE"
    /// The column whose record marks a deleted row and contains its entity.
    static let entityColumn = "Z_ENT"

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
        guard let source = schema.entity(at: table.owner.entity), let destination = schema.destination(of: table.owner)
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

    // MARK: - Reading

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
}
