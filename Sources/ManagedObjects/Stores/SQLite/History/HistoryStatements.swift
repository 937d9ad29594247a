import Foundation
import GRDB

/// The SQL of a store's history: its tables, and all statements that read or write them.
enum HistoryStatements {
    // MARK: - Tables

    /// The tables and indexes as Core Data creates them. The rows of `Z_PRIMARYKEY` are written with the first
    /// transaction.
    static let tables: [String] = {
        let head = "Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER"
        var statements = [
            "CREATE TABLE ACHANGE ( \(head), ZCHANGETYPE INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER, "
                + "ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB )",
            "CREATE TABLE ATRANSACTION ( \(head), ZAUTHORTS INTEGER, ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, "
                + "ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, "
                + "ZPROCESSID VARCHAR, ZQUERYGEN BLOB )",
            "CREATE TABLE ATRANSACTIONSTRING ( \(head), ZNAME VARCHAR )",
            "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)",
        ]
        for column in ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"] {
            statements.append("CREATE INDEX ATRANSACTION_\(column)_INDEX ON ATRANSACTION (\(column))")
        }
        return statements + [
            "CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC)",
            "CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC)",
            "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)",
        ]
    }()

    static func addTombstone(_ number: Int) -> String { "ALTER TABLE ACHANGE ADD COLUMN ZTOMBSTONE\(number) BLOB" }

    static func columns(of table: String, in database: Database) throws -> [String] {
        try String.fetchAll(database, sql: "SELECT name FROM pragma_table_info(?)", arguments: [table])
    }

    // MARK: - Writing

    /// Parameters: number, entity number, timestamp, author, bundle, context, process.
    static func insertTransaction(_ tables: HistoryTables) -> String {
        let suffix = tables.hasStrings ? "TS" : ""
        return "INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZTIMESTAMP, ZAUTHOR\(suffix), ZBUNDLEID\(suffix), "
            + "ZCONTEXTNAME\(suffix), ZPROCESSID\(suffix)) VALUES (?, ?, ?, ?, ?, ?, ?)"
    }

    static let findString = "SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?"
    static let insertString = "INSERT INTO ATRANSACTIONSTRING (Z_PK, Z_ENT, ZNAME) VALUES (?, ?, ?)"

    /// A statement for changes of rows of one entity up to `VALUES`, and the values of one row: parameters with numbers
    /// for the columns that all rows share, then parameters for each row's own columns.
    static func insertChanges(
        _ type: NSPersistentHistoryChangeType, _ entity: Int64, shared: [String], own: [String]
    ) -> (head: String, values: String) {
        let columns = ["Z_ENT", "ZCHANGETYPE", "ZENTITY"] + shared + own
        let marks = shared.indices.map { "?\($0 + 1)" } + own.map { _ in "?" }
        return (
            "INSERT INTO ACHANGE (\(columns.joined(separator: ", ")))",
            "(\(HistoryTables.Number.change), \(type.rawValue), \(entity), \(marks.joined(separator: ", ")))"
        )
    }

    // MARK: - Reading

    static let oldestTransaction = "SELECT min(Z_PK) FROM ATRANSACTION"
    static let strings = "SELECT Z_PK, ZNAME FROM ATRANSACTIONSTRING"

    /// Columns: number, timestamp, then author, bundle, context and process as keys of texts (NULL if the store has no
    /// table of texts), then the same four as texts.
    static func transactions(_ tables: HistoryTables, where conditions: HistoryConditions) -> SQLQuery {
        let texts = ["ZAUTHOR", "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID"]
        let keys = texts.map { tables.hasStrings ? $0 + "TS" : "NULL" }
        let columns = ["Z_PK", "ZTIMESTAMP"] + keys + texts
        return SQLQuery(
            sql: "SELECT \(columns.joined(separator: ", ")) FROM ATRANSACTION\(conditions.clause) ORDER BY Z_PK",
            arguments: conditions.arguments)
    }

    /// Columns: number, type, entity, key, transaction, mask, tombstones.
    static func changes(_ tables: HistoryTables, where conditions: HistoryConditions) -> SQLQuery {
        let tombstones = (0..<tables.tombstoneCount).map { ", ZTOMBSTONE\($0)" }.joined()
        return SQLQuery(
            sql: "SELECT Z_PK, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS\(tombstones) "
                + "FROM ACHANGE\(conditions.clause) ORDER BY ZTRANSACTIONID, Z_PK",
            arguments: conditions.arguments)
    }

    static func countChanges(where conditions: HistoryConditions) -> SQLQuery {
        SQLQuery(sql: "SELECT count(*) FROM ACHANGE\(conditions.clause)", arguments: conditions.arguments)
    }

    // MARK: - Deleting

    /// The number of the first transaction that is kept.
    static func firstKept(_ deletion: HistoryDeletion, _ tables: HistoryTables, hasOldValues: Bool) -> SQLQuery {
        switch deletion {
        case .before(let number): SQLQuery(sql: "SELECT ?", arguments: [number.databaseValue])
        case .earlier(let date):
            SQLQuery(
                sql: "SELECT IFNULL((SELECT min(Z_PK) FROM ATRANSACTION WHERE ZTIMESTAMP >= ?), "
                    + "(SELECT max(Z_PK) FROM ATRANSACTION) + 1)",
                arguments: [date.timeIntervalSinceReferenceDate.databaseValue])
        case .leavingChanges(let count):
            // The newest change beyond the limit is deleted with its whole transaction.
            SQLQuery(
                sql: "SELECT ZTRANSACTIONID + 1 FROM ACHANGE ORDER BY ZTRANSACTIONID DESC, Z_PK DESC LIMIT 1 OFFSET ?",
                arguments: [max(0, count).databaseValue])
        case .leavingBytes(let count):
            SQLQuery(
                sql: "SELECT IFNULL(min(number), (SELECT max(Z_PK) FROM ATRANSACTION) + 1) "
                    + "FROM (SELECT number, sum(sum(bytes)) OVER (ORDER BY number DESC) AS total "
                    + "FROM (\(sizes(tables, hasOldValues: hasOldValues))) GROUP BY number) WHERE total <= ?",
                arguments: [max(0, count).databaseValue])
        }
    }

    /// The bytes of each row of a history in the file, with its header and its entries in indexes. Columns: number of the
    /// transaction, bytes.
    private static func sizes(_ tables: HistoryTables, hasOldValues: Bool) -> String {
        func length(_ columns: [String]) -> String {
            columns.map { " + IFNULL(length(CAST(\($0) AS BLOB)), 0)" }.joined()
        }
        let kept = ["ZCOLUMNS"] + (0..<tables.tombstoneCount).map { "ZTOMBSTONE\($0)" }
        var selections = [
            "SELECT Z_PK AS number, 100\(length(["ZAUTHOR", "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID"])) AS bytes "
                + "FROM ATRANSACTION",
            "SELECT ZTRANSACTIONID, 36\(length(kept)) FROM ACHANGE",
        ]
        if hasOldValues {
            selections += [
                "SELECT TRANSACTIONID, 30\(length(["COLUMNNAME", "OLDVALUE", "NEWVALUE"])) FROM \(OldValueStatements.values)",
                "SELECT TRANSACTIONID, 50 + 3 * length(PAIRTABLE) FROM \(OldValueStatements.pairs)",
            ]
        }
        return selections.joined(separator: " UNION ALL ")
    }

    static let deleteChanges = "DELETE FROM ACHANGE WHERE ZTRANSACTIONID < ?"
    static let deleteTransactions = "DELETE FROM ATRANSACTION WHERE Z_PK < ?"
}

/// The conditions of a statement on the history tables, and the values of their parameters.
struct HistoryConditions {
    private(set) var texts: [String] = []
    private(set) var arguments: [DatabaseValue] = []

    var clause: String { texts.isEmpty ? "" : " WHERE " + texts.joined(separator: " AND ") }

    mutating func add(_ text: String, _ values: [DatabaseValue] = []) {
        texts.append(text)
        arguments += values
    }

    /// A list of values as one parameter, so that the statement's text does not depend on the number of values.
    mutating func add(_ column: String, in numbers: some Sequence<Int64>) {
        add("\(column) IN (SELECT value FROM json_each(?))", [BatchTransaction.list(numbers).databaseValue])
    }
}

extension HistoryConditions {
    /// The conditions for the transactions of a query.
    static func transactions(_ query: HistoryQuery, _ tables: HistoryTables) -> HistoryConditions {
        var conditions = HistoryConditions()
        switch query.start {
        case .beginning: break
        case .after(let number): conditions.add("Z_PK > ?", [number.databaseValue])
        case .later(let date): conditions.add("ZTIMESTAMP > ?", [date.timeIntervalSinceReferenceDate.databaseValue])
        case .only(let number): conditions.add("Z_PK = ?", [number.databaseValue])
        }
        let author =
            tables.hasStrings
            ? "IFNULL((SELECT ZNAME FROM ATRANSACTIONSTRING AS s WHERE s.Z_PK = ZAUTHORTS), ZAUTHOR)" : "ZAUTHOR"
        if let authors = query.filter.authors {
            let named = authors.compactMap { $0 }.sorted()
            let list = "\(author) IN (SELECT value FROM json_each(?))"
            conditions.add(
                authors.contains(nil) ? "(\(list) OR \(author) IS NULL)" : list, [Self.list(named).databaseValue])
        }
        if !query.filter.excludedAuthors.isEmpty {
            conditions.add(
                "IFNULL(\(author) NOT IN (SELECT value FROM json_each(?)), 1)",
                [Self.list(query.filter.excludedAuthors.sorted()).databaseValue])
        }
        return conditions
    }

    private static func list(_ texts: [String]) -> String {
        let data = try? JSONEncoder().encode(texts)
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "[]"
    }

    /// The conditions for the changes of a query.
    static func changes(_ query: HistoryQuery, _ tables: HistoryTables, schema: SQLSchema) -> HistoryConditions {
        var conditions = HistoryConditions()
        switch query.start {
        case .after(let number): conditions.add("ZTRANSACTIONID > ?", [number.databaseValue])
        case .only(let number): conditions.add("ZTRANSACTIONID = ?", [number.databaseValue])
        case .beginning, .later: break
        }
        let needsTransactions =
            if case .later = query.start { true } else {
                query.filter.authors != nil || !query.filter.excludedAuthors.isEmpty
            }
        if needsTransactions {
            let transactions = transactions(query, tables)
            conditions.add(
                "ZTRANSACTIONID IN (SELECT Z_PK FROM ATRANSACTION\(transactions.clause))", transactions.arguments)
        }
        if let entities = query.filter.entities {
            conditions.add("ZENTITY", in: entities.compactMap { schema.number(entityIndex: $0) }.sorted())
        }
        if let types = query.filter.types { conditions.add("ZCHANGETYPE", in: types.map(Int64.init).sorted()) }
        if let objects = query.filter.objects {
            // The entity is checked when the change is read: a row may be identified by a superentity.
            conditions.add("ZENTITYPK", in: Set(objects.map(\.number)).sorted())
        }
        return conditions
    }
}
