import Foundation
import GRDB

/// The tables of a store's history: what each transaction has changed.
struct HistoryTables: Sendable {
    /// The numbers of the history's own entities.
    enum Number {
        static let change: Int64 = 16001
        static let transaction: Int64 = 16002
        static let string: Int64 = 16003
    }

    /// Whether texts are kept once in a table of their own, as all but the oldest stores do.
    let hasStrings: Bool
    /// How many columns there are for values of deleted objects.
    let tombstoneCount: Int

    /// The history of a store, made where it is wanted; nil where the store keeps none. A history that has been begun
    /// is always continued, as one with gaps would mislead.
    static func open(
        schema: SQLSchema, catalog: SQLCatalog, isWanted: Bool, connection: SQLiteConnection
    ) throws -> HistoryTables? {
        let needed = schema.entities.map { Self.preservedSlots(of: $0).count }.max() ?? 0
        let existing = catalog.columns["ACHANGE"]
        if existing == nil, !isWanted { return nil }
        if existing != nil, !isWanted {
            let isBegun = try connection.read { try Row.fetchOne($0, sql: "SELECT 1 FROM ACHANGE LIMIT 1") != nil }
            if !isBegun { return nil }
        }
        let present = existing?.filter { $0.hasPrefix("ZTOMBSTONE") }.count ?? 0
        if existing == nil || present < needed {
            try connection.write { database in
                if existing == nil { try create(in: database) }
                for number in present..<max(present, needed) {
                    try database.execute(sql: "ALTER TABLE ACHANGE ADD COLUMN ZTOMBSTONE\(number) BLOB")
                }
            }
        }
        return HistoryTables(
            hasStrings: existing == nil || catalog.hasTable("ATRANSACTIONSTRING"),
            tombstoneCount: max(present, needed))
    }

    /// The slots whose values the history keeps of deleted objects, sorted by name.
    static func preservedSlots(of entity: SQLEntity) -> [Int] {
        let slots = entity.entity.layout.slots
        return slots.indices
            .filter { entity.columns[$0] != nil && slots[$0].attribute?.preservesValueInHistoryOnDeletion == true }
            .sorted { (slots[$0].name ?? "").utf8.lexicographicallyPrecedes((slots[$1].name ?? "").utf8) }
    }

    private static func create(in database: Database) throws {
        for statement in statements { try database.execute(sql: statement) }
        for (number, name) in [
            (Number.change, "CHANGE"), (Number.transaction, "TRANSACTION"), (Number.string, "TRANSACTIONSTRING"),
        ] {
            try database.execute(
                sql: "INSERT OR IGNORE INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, 0, 0)",
                arguments: [number, name])
        }
    }

    private static let statements: [String] = {
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
}
