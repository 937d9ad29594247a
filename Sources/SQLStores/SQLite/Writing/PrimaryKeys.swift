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

    // Composed once, because each save of a store with a history executes them several times.
    private static let lastText = SQLiteDialect().text(of: KeyCommands.last)
    private static let raiseText = SQLiteDialect().text(of: KeyCommands.raise)

    /// The columns with the last key that was assigned, and the highest in a table. Parameter: the number of the entity.
    static func lastColumns(_ table: String) -> String {
        "(\(lastText)), (\(SQLiteDialect().text(of: KeyCommands.highest(in: table))))"
    }

    /// The last key that was assigned for a root entity, or is present in its table.
    ///
    /// - Throws: Code 259 if no keys are left.
    static func last(_ number: Int64, table: String, in database: Database) throws -> Int64 {
        let statement = try SQLStatement("SELECT " + lastColumns(table), in: database)
        defer { statement.finish() }
        statement.bind(number, at: 1)
        return try checked(
            try statement.step() ? max(statement.integer(0), statement.integer(1)) : 0, table: table)
    }

    /// - Throws: Code 259 if no keys are left after one of a table.
    static func checked(_ key: Int64, table: String) throws -> Int64 {
        guard key < bound else {
            throw CocoaError(
                .fileReadCorruptFile,
                "The store is damaged: the last key of the table \(table) is \(key), and no keys are left after it.")
        }
        return key
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
        let statement = try SQLStatement(raiseText, in: database)
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
