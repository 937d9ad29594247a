import Foundation
import ManagedObjects
import SQLStatements

/// The SQL of a store's history: its tables, and all statements that read or write them.
enum HistoryStatements {
    // MARK: - Tables

    /// The tables and indexes as Core Data creates them. The rows of `Z_PRIMARYKEY` are written with the first
    /// transaction.
    static let tables = [changes(key: ["Z_PK"])] + transactionTables
    static let indexes =
        [index("ACHANGE_ZTRANSACTIONID_INDEX", on: "ACHANGE", .column("ZTRANSACTIONID"))]
        + ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"].map {
            index("ATRANSACTION_\($0)_INDEX", on: "ATRANSACTION", .column($0))
        } + transactionIndexes

    /// The tables with as few indexes as possible, for a database in which an index costs as much as the rows. Changes are found by
    /// their transaction, with which their key begins. References to strings are not written.
    static let tablesWithFewIndexes = [changes(key: ["ZTRANSACTIONID", "Z_PK"])] + transactionTables
    static let transactionIndexes = [
        index("Z_TRANSACTION_TransactionAuthorIndex", on: "ATRANSACTION", .ordered("ZAUTHOR", ascending: true)),
        index("Z_TRANSACTION_TransactionTimestampIndex", on: "ATRANSACTION", .ordered("ZTIMESTAMP", ascending: true)),
        SQLIndexDefinition(
            name: "Z_TRANSACTIONSTRING_UNIQUE_NAME", table: "ATRANSACTIONSTRING",
            terms: [.ordered("ZNAME", ascending: true)], isUnique: true),
    ]

    private static func changes(key: [String]) -> SQLTableDefinition {
        table(
            "ACHANGE",
            [
                ("ZCHANGETYPE", .integer), ("ZENTITY", .integer), ("ZENTITYPK", .integer), ("ZTRANSACTIONID", .integer),
                ("ZCOLUMNS", .blob),
            ], key: key)
    }

    private static let transactionTables = [
        table(
            "ATRANSACTION",
            [
                ("ZAUTHORTS", .integer), ("ZBUNDLEIDTS", .integer), ("ZCONTEXTNAMETS", .integer),
                ("ZPROCESSIDTS", .integer), ("ZTIMESTAMP", .float), ("ZAUTHOR", .varchar), ("ZBUNDLEID", .varchar),
                ("ZCONTEXTNAME", .varchar), ("ZPROCESSID", .varchar), ("ZQUERYGEN", .blob),
            ]),
        table("ATRANSACTIONSTRING", [("ZNAME", .varchar)]),
    ]

    private static func table(
        _ name: String, _ columns: [(name: String, type: SQLColumn.Declaration)], key: [String] = ["Z_PK"]
    ) -> SQLTableDefinition {
        SQLTableDefinition(name: name, columns: SQLEntity.rowColumns.map { ($0, .integer) } + columns, key: key)
    }

    private static func index(
        _ name: String, on table: String, _ term: SQLIndexDefinition.Term
    ) -> SQLIndexDefinition {
        SQLIndexDefinition(name: name, table: table, terms: [term])
    }

    static func addTombstone(_ number: Int) -> SQLAlteration {
        .addColumn("ZTOMBSTONE\(number)", .blob, to: "ACHANGE")
    }

    // MARK: - Writing

    /// Parameters: number, entity number, timestamp, author, bundle, context, process.
    static func insertTransaction(_ tables: HistoryTables) -> SQLInsert {
        let suffix = tables.hasStrings ? "TS" : ""
        return SQLInsert(into: "ATRANSACTION", ["Z_PK", "Z_ENT", "ZTIMESTAMP"] + texts.map { $0 + suffix })
    }

    /// The columns with the texts of a transaction.
    private static let texts = ["ZAUTHOR", "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID"]

    /// Selects the key of a text. Parameter: the text.
    static let findString = SQLSelect(["Z_PK"], from: "ATRANSACTIONSTRING", where: .equals("ZNAME"))
    /// Inserts a text. Parameters: key, entity number, text.
    static let insertString = SQLInsert(into: "ATRANSACTIONSTRING", ["Z_PK", "Z_ENT", "ZNAME"])

    /// Inserts a change of a row of an entity. Parameters: with numbers for the columns that all rows share, then for the
    /// row's own columns.
    static func insertChanges(
        _ type: NSPersistentHistoryChangeType, _ entity: Int64, shared: [String], own: [String]
    ) -> SQLInsert {
        let fixed = [
            ("Z_ENT", "\(HistoryTables.Number.change)"), ("ZCHANGETYPE", "\(type.rawValue)"), ("ZENTITY", "\(entity)"),
        ]
        let parameters = shared.enumerated().map { ($1, "?\($0 + 1)") } + own.map { ($0, "?") }
        return SQLInsert(into: "ACHANGE", fixed + parameters)
    }

    // MARK: - Reading

    static let oldestTransaction = SQLSelect(["min(Z_PK)"], from: "ATRANSACTION")
    static let strings = SQLSelect(["Z_PK", "ZNAME"], from: "ATRANSACTIONSTRING")

    /// Columns: number, timestamp, then author, bundle, context and process as keys of texts (NULL if the store has no
    /// table of texts), then the same four as texts.
    static func transactions(_ tables: HistoryTables, where condition: SQLRestriction) -> SQLSelect {
        let keys = texts.map { tables.hasStrings ? $0 + "TS" : "NULL" }
        return SQLSelect(
            ["Z_PK", "ZTIMESTAMP"] + keys + texts, from: "ATRANSACTION", where: condition, orderBy: ["Z_PK"])
    }

    /// Columns: number, type, entity, key, transaction, mask, tombstones.
    static func changes(_ tables: HistoryTables, where condition: SQLRestriction) -> SQLSelect {
        let columns = ["Z_PK", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID", "ZCOLUMNS"]
        return SQLSelect(
            columns + tombstones(tables), from: "ACHANGE", where: condition, orderBy: ["ZTRANSACTIONID", "Z_PK"])
    }

    private static func tombstones(_ tables: HistoryTables) -> [String] {
        (0..<tables.tombstoneCount).map { "ZTOMBSTONE\($0)" }
    }

    static func countChanges(where condition: SQLRestriction) -> SQLSelect {
        SQLSelect(["count(*)"], from: "ACHANGE", where: condition)
    }

    // MARK: - Deleting

    /// Counts the changes of the transactions before one, whose number is the parameter.
    static let countOldest = countChanges(where: .text("ZTRANSACTIONID < ?"))

    /// The statements that delete the transactions before one, whose number is the parameter; the changes are the first.
    static func deleteOldest(hasOldValues: Bool) -> [SQLDelete] {
        deletions(hasOldValues) { .text("\($0) < ?") }
    }

    /// The statements that delete the transactions of a list of numbers, which is the parameter; the changes are the first.
    static func deleteListed(hasOldValues: Bool) -> [SQLDelete] {
        deletions(hasOldValues) { .listed($0) }
    }

    /// The statements that delete the transactions of a range of numbers, whose bounds are the parameters; the changes are the first, the
    /// transactions the second.
    static func deleteRange(hasOldValues: Bool) -> [SQLDelete] {
        deletions(hasOldValues) { .text("\($0) >= ? AND \($0) < ?") }
    }

    private static func deletions(_ hasOldValues: Bool, where condition: (String) -> SQLRestriction) -> [SQLDelete] {
        let columns =
            [("ACHANGE", "ZTRANSACTIONID"), ("ATRANSACTION", "Z_PK")]
            + (hasOldValues ? [OldValueStatements.values, OldValueStatements.pairs].map { ($0, "TRANSACTIONID") } : [])
        return columns.map { table, column in SQLDelete(from: table, where: condition(column)) }
    }

    /// Selects the number of the first transaction that is kept.
    static func firstKept(
        _ deletion: OldestHistory, _ tables: HistoryTables, hasOldValues: Bool, dialect: any SQLDialect
    ) -> SQLQuery {
        let afterLast = "(SELECT max(Z_PK) FROM ATRANSACTION) + 1"
        return switch deletion {
        case .before(let number): SQLQuery(sql: dialect.parameterized("SELECT ?"), arguments: [.integer(number)])
        case .earlier(let date):
            SQLQuery(
                sql: dialect.parameterized(
                    "SELECT COALESCE((SELECT min(Z_PK) FROM ATRANSACTION WHERE ZTIMESTAMP >= ?), \(afterLast))"),
                arguments: [.real(date.timeIntervalSinceReferenceDate)])
        case .leavingChanges(let count):
            // The newest change beyond the limit is deleted with its whole transaction.
            SQLQuery(
                sql: dialect.parameterized(
                    "SELECT ZTRANSACTIONID + 1 FROM ACHANGE ORDER BY ZTRANSACTIONID DESC, Z_PK DESC LIMIT 1 OFFSET ?"),
                arguments: [.integer(Int64(max(0, count)))])
        case .leavingBytes(let count):
            SQLQuery(
                HistorySizes(columns: texts, tombstones: tombstones(tables), hasOldValues: hasOldValues),
                [.integer(Int64(max(0, count)))], in: dialect)
        }
    }
}

/// Selects the number of the first transaction that is kept if the newest ones are kept up to a number of bytes. Parameter:
/// the number of bytes.
private struct HistorySizes: SQLCommand {
    /// The columns of transactions and of changes whose values count.
    let columns: [String]
    let tombstones: [String]
    let hasOldValues: Bool

    func text(in dialect: some SQLDialect) -> String {
        "SELECT COALESCE(min(number), (SELECT max(Z_PK) FROM ATRANSACTION) + 1) "
            + "FROM (SELECT number, sum(sum(bytes)) OVER (ORDER BY number DESC) AS total "
            + "FROM (\(sizes(dialect))) AS sizes GROUP BY number) AS totals WHERE total <= ?"
    }

    /// The bytes of each row of a history in the file, with its header and its entries in indexes. Columns: number of the
    /// transaction, bytes.
    private func sizes(_ dialect: some SQLDialect) -> String {
        func length(_ columns: [String]) -> String {
            columns.map { " + COALESCE(\(dialect.byteCount(of: $0)), 0)" }.joined()
        }
        var selections = [
            "SELECT Z_PK AS number, 100\(length(columns)) AS bytes FROM ATRANSACTION",
            "SELECT ZTRANSACTIONID, 36\(length(["ZCOLUMNS"] + tombstones)) FROM ACHANGE",
        ]
        if hasOldValues {
            selections += [
                "SELECT TRANSACTIONID, 30\(length(["COLUMNNAME", "OLDVALUE", "NEWVALUE"])) FROM \(OldValueStatements.values)",
                "SELECT TRANSACTIONID, 50 + 3 * length(PAIRTABLE) FROM \(OldValueStatements.pairs)",
            ]
        }
        return selections.joined(separator: " UNION ALL ")
    }
}

/// The conditions of a statement on the history tables, and the values of their parameters.
struct HistoryConditions {
    private let dialect: any SQLDialect
    private var restrictions: [SQLRestriction] = []
    private(set) var arguments: [ColumnValue] = []

    var all: SQLRestriction { .all(restrictions) }

    private init(_ dialect: any SQLDialect) { self.dialect = dialect }

    private mutating func add(_ restriction: SQLRestriction, _ values: ColumnValue...) {
        restrictions.append(restriction)
        arguments += values
    }

    private mutating func add(_ column: String, in numbers: some Sequence<Int64>) {
        add(.listed(column), .text(dialect.value(of: numbers)))
    }
}

extension HistoryConditions {
    /// The conditions for the transactions of a query.
    static func transactions(
        _ query: HistoryQuery, _ tables: HistoryTables, dialect: any SQLDialect
    ) -> HistoryConditions {
        var conditions = HistoryConditions(dialect)
        switch query.start {
        case .beginning: break
        case .after(let number): conditions.add(.text("Z_PK > ?"), .integer(number))
        case .later(let date):
            conditions.add(.text("ZTIMESTAMP > ?"), .real(date.timeIntervalSinceReferenceDate))
        case .only(let number): conditions.add(.key, .integer(number))
        }
        if let end = query.end { conditions.add(.text("Z_PK < ?"), .integer(end)) }
        let author =
            tables.hasStrings
            ? "COALESCE((SELECT ZNAME FROM ATRANSACTIONSTRING AS s WHERE s.Z_PK = ZAUTHORTS), ZAUTHOR)" : "ZAUTHOR"
        func list(_ authors: [String]) -> ColumnValue { .text(dialect.value(of: authors.sorted())) }
        if let authors = query.filter.authors {
            let isListed = SQLRestriction.listed(author, .texts)
            conditions.add(
                authors.contains(nil) ? .any([isListed, .text("\(author) IS NULL")]) : isListed,
                list(authors.compactMap { $0 }))
        }
        if !query.filter.excludedAuthors.isEmpty {
            conditions.add(.notTrue(.listed(author, .texts)), list(Array(query.filter.excludedAuthors)))
        }
        return conditions
    }

    /// The conditions for the changes of a query.
    static func changes(
        _ query: HistoryQuery, _ tables: HistoryTables, schema: SQLSchema, dialect: any SQLDialect
    ) -> HistoryConditions {
        var conditions = HistoryConditions(dialect)
        switch query.start {
        case .after(let number): conditions.add(.text("ZTRANSACTIONID > ?"), .integer(number))
        case .only(let number): conditions.add(.equals("ZTRANSACTIONID"), .integer(number))
        case .beginning, .later: break
        }
        if let end = query.end { conditions.add(.text("ZTRANSACTIONID < ?"), .integer(end)) }
        let needsTransactions =
            if case .later = query.start { true } else {
                query.filter.authors != nil || !query.filter.excludedAuthors.isEmpty
            }
        if needsTransactions {
            let transactions = transactions(query, tables, dialect: dialect)
            conditions.restrictions.append(
                .selected("ZTRANSACTIONID", SQLSelect(["Z_PK"], from: "ATRANSACTION", where: transactions.all)))
            conditions.arguments += transactions.arguments
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
