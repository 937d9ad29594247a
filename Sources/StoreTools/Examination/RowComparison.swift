import Foundation
import GRDB
import ManagedObjects
import SQLStores
import SQLiteConnections

/// Compares two states of a database row by row: the rows in the table of deleted keys are gone and no others, and only references
/// to them are cleared. Both states are read in the order of their keys, so that memory does not depend on their size.
struct RowComparison {
    /// The columns with references of each table, with the tables that they refer to.
    private let references: [String: [String: Set<String>]]
    /// The columns that are cleared with a reference, of each table.
    private let companions: [String: [String: [String]]]
    private let pairs: [String: [String: Set<String>]]
    private let derived: [String: Set<String>]

    init(model: NSManagedObjectModel, tables: StoreTables) {
        let removal = OrphanRemoval(model: model, tables: tables)
        var references: [String: [String: Set<String>]] = [:]
        var companions: [String: [String: [String]]] = [:]
        for reference in removal.referenceColumns {
            references[reference.table, default: [:]][reference.column, default: []].insert(reference.destination)
            for companion in reference.companions {
                companions[reference.table, default: [:]][companion, default: []].append(reference.column)
            }
        }
        var pairs: [String: [String: Set<String>]] = [:]
        for pair in removal.pairColumns {
            pairs[pair.table, default: [:]][pair.column, default: []].insert(pair.destination)
        }
        (self.references, self.companions, self.pairs) = (references, companions, pairs)
        var derived: [String: Set<String>] = [:]
        for entity in tables.entities {
            let attributes = model.entitiesByName[entity.name]?.attributesByName ?? [:]
            for (name, attribute) in attributes where attribute is NSDerivedAttributeDescription {
                if let column = entity.columns[name]?.name { derived[entity.table, default: []].insert(column) }
            }
        }
        self.derived = derived
    }

    /// Compares all tables.
    ///
    /// - Parameters:
    ///   - former: The state before, of another connection.
    ///   - database: The state after, of the connection with the table of deleted keys.
    ///   - failure: The error for a sentence.
    /// - Returns: The number of compared rows, and that of cleared references.
    func compare(
        _ former: Database, with database: Database, failure: (String) -> any Error
    ) throws -> (rows: Int, cleared: Int) {
        // Tables of SQLite's own, such as those of an R-tree, follow from the others.
        let list =
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'Z_RT_*' "
            + "AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"
        let tables = try String.fetchAll(former, sql: list)
        guard try String.fetchAll(database, sql: list) == tables else { throw failure("The tables have changed.") }
        var (rows, cleared) = (0, 0)
        for table in tables {
            let found = try compare(table, former, database, failure)
            rows += found.rows
            cleared += found.cleared
            let announced =
                try Int.fetchOne(
                    database, sql: "SELECT count(*) FROM temp.\(OrphanRemoval.deletedTable) WHERE tbl = ?",
                    arguments: [table]) ?? 0
            guard found.deleted == announced else { throw failure("A row of \(table) remains that was to be deleted.") }
        }
        return (rows, cleared)
    }

    private func compare(
        _ table: String, _ former: Database, _ database: Database, _ failure: (String) -> any Error
    ) throws -> (rows: Int, deleted: Int, cleared: Int) {
        let columns = try former.columnTypes(of: table).map(\.name)
        let key = columns.firstIndex(of: "Z_PK")
        // The names are those of the file, and are quoted.
        func quoted(_ name: String) -> String {
            "\"" + name.replacingOccurrences(of: "\"", with: "\"\"", options: .literal) + "\""
        }
        let order = (key.map { [columns[$0]] } ?? columns).map(quoted)
        let sql = "SELECT * FROM \(quoted(table)) ORDER BY \(order.joined(separator: ", "))"
        let (old, new) = (try Row.fetchCursor(former, sql: sql), try Row.fetchCursor(database, sql: sql))
        var (rows, deleted, cleared) = (0, 0, 0)
        var next = try new.next().map { Array($0.databaseValues) }
        while let before = try old.next().map({ Array($0.databaseValues) }) {
            rows += 1
            let isSame =
                if let key { next.map { Self.areEqual($0[key], before[key]) } ?? false } else {
                    next?.elementsEqual(before, by: Self.areEqual) == true
                }
            guard isSame, let after = next else {
                try requireDeleted(before, columns, of: table, in: database, failure)
                // Pairs have no key, and are not announced.
                if key != nil { deleted += 1 }
                continue
            }
            if !after.elementsEqual(before, by: Self.areEqual) {
                cleared += try requireCleared(before, after, columns, of: table, in: database, failure)
            }
            next = try new.next().map { Array($0.databaseValues) }
        }
        guard next == nil else { throw failure("A row of \(table) is new.") }
        return (rows, deleted, cleared)
    }

    private func requireDeleted(
        _ row: [DatabaseValue], _ columns: [String], of table: String, in database: Database,
        _ failure: (String) -> any Error
    ) throws {
        if let key = columns.firstIndex(of: "Z_PK") {
            guard try isDeleted(row[key], of: table, in: database) else {
                throw failure("A row of \(table) is gone that was not to be deleted.")
            }
            return
        }
        for (column, destinations) in pairs[table] ?? [:] {
            guard let index = columns.firstIndex(of: column) else { continue }
            if try isDeleted(row[index], ofAny: destinations, in: database) { return }
        }
        throw failure("A pair of \(table) is gone that was not to be deleted.")
    }

    /// - Returns: The number of cleared references.
    private func requireCleared(
        _ before: [DatabaseValue], _ after: [DatabaseValue], _ columns: [String], of table: String,
        in database: Database, _ failure: (String) -> any Error
    ) throws -> Int {
        var cleared: Set<String> = []
        for (index, column) in columns.enumerated() where !Self.areEqual(before[index], after[index]) {
            guard let destinations = references[table]?[column], after[index].isNull,
                try isDeleted(before[index], ofAny: destinations, in: database)
            else { continue }
            cleared.insert(column)
        }
        for (index, column) in columns.enumerated() {
            let isCompanion = companions[table]?[column].map { !cleared.isDisjoint(with: $0) } ?? false
            if isCompanion, !after[index].isNull {
                throw failure("\(table).\(column) remains, and belongs to a reference that is cleared.")
            }
            guard !Self.areEqual(before[index], after[index]) else { continue }
            if !isCompanion, !cleared.contains(column), column != "Z_OPT", derived[table]?.contains(column) != true {
                throw failure("A value of \(table).\(column) has changed.")
            }
        }
        // Each cleared reference is a change of the row. A row that other programs wrote may have no version.
        if let version = columns.firstIndex(of: "Z_OPT"),
            Int64.fromDatabaseValue(after[version])
                != Int64.fromDatabaseValue(before[version]).map({ $0 + Int64(cleared.count) })
        {
            throw failure("The version of a row of \(table) is not that of its changes.")
        }
        // A row that derives its values from a deleted one has no cleared reference.
        guard !cleared.isEmpty || derived[table] != nil else { throw failure("A row of \(table) has changed.") }
        return cleared.count
    }

    /// Compares the values themselves: the operator of the library would make an expression.
    private static func areEqual(_ one: DatabaseValue, _ other: DatabaseValue) -> Bool { one.storage == other.storage }

    private func isDeleted(_ key: DatabaseValue, ofAny tables: Set<String>, in database: Database) throws -> Bool {
        try tables.contains { try isDeleted(key, of: $0, in: database) }
    }

    private func isDeleted(_ key: DatabaseValue, of table: String, in database: Database) throws -> Bool {
        try Bool.fetchOne(
            database, sql: "SELECT EXISTS (SELECT 1 FROM temp.\(OrphanRemoval.deletedTable) WHERE tbl = ? AND pk = ?)",
            arguments: [table, key]) ?? false
    }
}
