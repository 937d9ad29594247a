import CoreDataErrors
import Foundation
import GRDB
import ManagedObjects
import SQLStatements
import SQLiteConnections

/// The last assigned primary keys, by entity: `Z_MAX` in `Z_PRIMARYKEY`.
///
/// A key is never assigned twice, even after its row has been deleted. If a table contains a higher key than `Z_MAX`,
/// as in incomplete copies, counting continues after the highest key in the table.
package enum PrimaryKeys {
    /// A store with a key beyond this value is damaged: keys start at 1.
    package static let bound: Int64 = 1 << 62

    /// The last key that was assigned for a root entity, or is present in its table.
    ///
    /// - Throws: Code 259 if no keys are left.
    static func last(_ number: Int64, table: String, in database: Database) throws -> Int64 {
        try present(number, table: table, in: database).last
    }

    /// The last key that was assigned or is present, and the highest key in the table, 0 if it is empty.
    ///
    /// - Throws: Code 259 if no keys are left.
    static func present(
        _ number: Int64, table: String, in database: Database
    ) throws -> (last: Int64, highest: Int64) {
        let counted = try SQLStatement(KeyCommands.last, in: database)
        defer { counted.finish() }
        counted.bind(number, at: 1)
        let assigned = try counted.step() ? counted.integer(0) : 0
        let present = try SQLStatement(KeyCommands.highest(in: table), in: database)
        defer { present.finish() }
        let highest = try present.step() ? present.integer(0) : 0
        let key = max(assigned, highest)
        guard key < bound else {
            throw CocoaError(
                .fileReadCorruptFile,
                "The store is damaged: the last key of the table \(table) is \(key), and no keys are left after it.")
        }
        return (key, highest)
    }

    /// Assigns one key.
    static func next(_ number: Int64, table: String, in database: Database) throws -> Int64 {
        let key = try last(number, table: table, in: database) + 1
        try raise(number, to: key, name: String(table.dropFirst()), in: database)
        return key
    }

    /// Reserves keys, at least one.
    ///
    /// - Throws: Code 259 if not enough keys are left.
    static func reserve(_ count: Int, of root: SQLEntity, url: URL?, in database: Database) throws -> ClosedRange<Int64>
    {
        let last = try last(root.number, table: root.table, in: database)
        let (end, overflows) = last.addingReportingOverflow(Int64(max(1, count)))
        if overflows { throw CocoaError.noPrimaryKeysLeft(ofEntity: root.entity.name, url) }
        try raise(root.number, to: end, name: root.entity.name, in: database)
        return (last + 1)...end
    }

    /// Ensures that no key up to the given one is assigned again.
    static func raise(_ number: Int64, to key: Int64, name: String, in database: Database) throws {
        let statement = try SQLStatement(KeyCommands.raise, in: database)
        statement.bind(key, at: 1)
        statement.bind(number, at: 2)
        try statement.run()
        if database.changesCount == 0 {
            let arguments = [.integer(number), .text(name), .integer(0), ColumnValue.integer(key)]
            let insertion = try SQLStatement(SQLQuery(KeyCommands.insertion, arguments), in: database)
            defer { insertion.finish() }
            try insertion.run()
        }
    }
}
