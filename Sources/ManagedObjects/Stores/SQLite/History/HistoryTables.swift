import Foundation
import GRDB

/// The tables of a store's history as they exist in a file.
struct HistoryTables: Sendable {
    /// The numbers of the history's own entities.
    enum Number {
        static let change: Int64 = 16001
        static let transaction: Int64 = 16002
        static let string: Int64 = 16003
    }

    /// Whether texts are kept in a table of their own, as in all but the oldest stores.
    let hasStrings: Bool
    /// The number of columns for values of deleted objects.
    let tombstoneCount: Int
    /// Whether the store was opened with the option that enables history. Without the option an existing history is
    /// continued, because a history with gaps would be misleading, and no new one is started.
    var isWanted = true
    /// The statements that store the old values that a transaction has recorded; nil where they are not kept.
    private(set) var keepingOldValues: [String]?

    /// The tables of a database; nil if it has none. Cost: two statements.
    init?(in database: Database) throws {
        let changes = try database.columnTypes(of: "ACHANGE").map(\.name)
        let transactions = try database.columnTypes(of: "ATRANSACTION").map(\.name)
        guard !changes.isEmpty, !transactions.isEmpty else { return nil }
        hasStrings = transactions.contains("ZAUTHORTS")
        tombstoneCount = changes.filter { $0.hasPrefix("ZTOMBSTONE") }.count
    }

    /// The tables of a store that is opened for writing, created if the option is set and updated to the model; nil if
    /// the store keeps no history.
    static func open(
        schema: SQLSchema, catalog: SQLCatalog, isWanted: Bool, connection: SQLiteConnection
    ) throws -> HistoryTables? {
        guard isWanted || catalog.hasTable("ACHANGE") else { return nil }
        let needed = schema.entities.map { Self.preservedSlots(of: $0).count }.max() ?? 0
        let present = catalog.columns["ACHANGE"]?.filter { $0.hasPrefix("ZTOMBSTONE") }.count
        if present.map({ $0 < needed }) ?? true {
            try connection.write { database in
                // Read again in the transaction, because another process may have created them.
                let existing = try HistoryTables(in: database)
                if existing == nil {
                    for table in HistoryStatements.tables { try database.execute(SQLQuery(table)) }
                    for index in HistoryStatements.indexes { try database.execute(SQLQuery(index)) }
                }
                for number in (existing?.tombstoneCount ?? 0)..<max(existing?.tombstoneCount ?? 0, needed) {
                    try database.execute(SQLQuery(HistoryStatements.addTombstone(number)))
                }
            }
        }
        var tables = try connection.read { try HistoryTables(in: $0) }
        tables?.isWanted = isWanted
        return tables
    }

    // MARK: - Old values

    /// Prepares a store and its writing connection for keeping old values.
    mutating func keepOldValues(schema: SQLSchema, catalog: SQLCatalog, connection: SQLiteConnection) throws {
        if !catalog.hasTable(OldValueStatements.values) || !catalog.hasTable(OldValueStatements.pairs) {
            try connection.write { database in
                for statement in OldValueStatements.creation { try database.execute(sql: statement) }
            }
        }
        try connection.writeWithoutTransaction { database in
            for statement in OldValueStatements.temporary(schema) { try database.execute(sql: statement) }
        }
        keepingOldValues =
            OldValueStatements.keepValues
            + schema.joinTables.compactMap { OldValueStatements.keepPairs($0, schema) }
    }

    // MARK: - Tombstones

    /// The slots whose values the history preserves of deleted objects, sorted by name. Old models list their names in
    /// the entity's user info.
    static func preservedSlots(of entity: SQLEntity) -> [Int] {
        let slots = entity.entity.layout.slots
        let named = entity.entity.userInfo?["NSPersistentHistoryTombstoneAttributes"] as? String ?? ""
        let names = Set(named.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
        return slots.indices
            .filter { index in
                guard entity.columns[index] != nil, let attribute = slots[index].attribute else { return false }
                return attribute.preservesValueInHistoryOnDeletion || names.contains(attribute.name)
            }
            .sorted { (slots[$0].name ?? "").utf8.lexicographicallyPrecedes((slots[$1].name ?? "").utf8) }
    }

    /// The expressions that select the preserved values of a row. Values that may be in external files are not
    /// preserved.
    static func preservedColumns(of entity: SQLEntity) -> [String] {
        preservedSlots(of: entity).compactMap { entity.columns[$0] }.map { $0.hasStorageByte ? "NULL" : $0.name }
    }
}
