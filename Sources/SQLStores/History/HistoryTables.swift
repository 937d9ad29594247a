import Foundation
import ManagedObjects

/// The tables of a store's history as they exist in a file.
package struct HistoryTables: Sendable {
    /// The numbers of the history's own entities.
    package enum Number {
        package static let change: Int64 = 16001
        package static let transaction: Int64 = 16002
        static let string: Int64 = 16003
        /// The rows of ``HistoryNumbering``, which only stores in PostgreSQL have.
        static let numbering: Int64 = 16004
        static let lastDeleted: Int64 = 16005
        /// The row of `HistoryPartitions`, likewise.
        static let partitions: Int64 = 16006
    }

    /// Whether texts are kept in a table of their own, as in all but the oldest stores.
    let hasStrings: Bool
    /// The number of columns for values of deleted objects.
    let tombstoneCount: Int
    /// Whether the store was opened with the option that enables history. Without the option an existing history is
    /// continued, because a history with gaps would be misleading, and no new one is started.
    var isWanted = true
    /// Whether values of deleted objects are stored as bytes, because a column has values of one type only.
    var hasByteTombstones = false
    /// The statements that store the old values that a transaction has recorded; nil where they are not kept.
    var keepingOldValues: [String]?

    /// The tables of a database.
    init(hasStrings: Bool, tombstoneCount: Int) {
        self.hasStrings = hasStrings
        self.tombstoneCount = tombstoneCount
    }

    /// The number of columns for values of deleted objects that the entities of a schema need.
    static func neededTombstoneCount(_ schema: SQLSchema) -> Int {
        schema.entities.map { preservedSlots(of: $0).count }.max() ?? 0
    }

    // MARK: - Tombstones

    /// The slots whose values the history preserves of deleted objects, sorted by name. Old models list their names in
    /// the entity's user info.
    static func preservedSlots(of entity: SQLEntity) -> [Int] {
        let slots = entity.entity.slots
        return slots.indices
            .filter { index in
                guard entity.columns[index] != nil, let attribute = slots[index].attribute else { return false }
                return attribute.isPreserved || entity.entity.preservedNames.contains(attribute.name)
            }
            .sorted { (slots[$0].name ?? "").utf8.lexicographicallyPrecedes((slots[$1].name ?? "").utf8) }
    }

    /// The expressions that select the preserved values of a row. Values that may be in external files are not
    /// preserved.
    static func preservedColumns(of entity: SQLEntity) -> [String] {
        preservedSlots(of: entity).compactMap { entity.columns[$0] }.map { $0.hasStorageByte ? "NULL" : $0.name }
    }
}
