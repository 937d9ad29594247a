import Foundation
import GRDB

/// The tables of a store's history as they are in a file: what each transaction has changed.
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
    /// Whether the store was opened with the option that asks for a history. Without it a history that has been begun is
    /// continued, as one with gaps would mislead, and none is begun.
    var isWanted = true

    /// The tables of a database; nil where it has none. Cost: two statements.
    init?(in database: Database) throws {
        let changes = try HistoryStatements.columns(of: "ACHANGE", in: database)
        let transactions = try HistoryStatements.columns(of: "ATRANSACTION", in: database)
        guard !changes.isEmpty, !transactions.isEmpty else { return nil }
        hasStrings = transactions.contains("ZAUTHORTS")
        tombstoneCount = changes.filter { $0.hasPrefix("ZTOMBSTONE") }.count
    }

    /// The tables of a store that is opened for writing, made where they are wanted and brought up to the model; nil where
    /// the store keeps no history.
    static func open(
        schema: SQLSchema, catalog: SQLCatalog, isWanted: Bool, connection: SQLiteConnection
    ) throws -> HistoryTables? {
        guard isWanted || catalog.hasTable("ACHANGE") else { return nil }
        let needed = schema.entities.map { Self.preservedSlots(of: $0).count }.max() ?? 0
        let present = catalog.columns["ACHANGE"]?.filter { $0.hasPrefix("ZTOMBSTONE") }.count
        if present.map({ $0 < needed }) ?? true {
            try connection.write { database in
                // Looked up again, as another process may have made them meanwhile.
                let existing = try HistoryTables(in: database)
                if existing == nil {
                    for statement in HistoryStatements.tables { try database.execute(sql: statement) }
                }
                for number in (existing?.tombstoneCount ?? 0)..<max(existing?.tombstoneCount ?? 0, needed) {
                    try database.execute(sql: HistoryStatements.addTombstone(number))
                }
            }
        }
        var tables = try connection.read { try HistoryTables(in: $0) }
        tables?.isWanted = isWanted
        return tables
    }

    // MARK: - Tombstones

    /// The slots whose values the history keeps of deleted objects, sorted by name. Old models name them in the entity's
    /// user info.
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

    /// What selects the preserved values of a row: values that may be in external files are not kept.
    static func preservedColumns(of entity: SQLEntity) -> [String] {
        preservedSlots(of: entity).compactMap { entity.columns[$0] }.map { $0.hasStorageByte ? "NULL" : $0.name }
    }
}
