import CoreDataErrors
import Foundation
import GRDB
import ManagedObjects
import SQLStatements
import SQLiteConnections

// Reads and counts the history of the store, and deletes parts of it.

extension SQLiteStore: HistoryStore {
    package func historyExtent() throws -> HistoryExtent? {
        try reading(nil, .state) { database in
            guard try HistoryTables(in: database) != nil else { return nil }
            return try Self.extent(in: database)
        }
    }

    private static func extent(in database: Database) throws -> HistoryExtent {
        let first = try SQLStatement(HistoryStatements.oldestTransaction, in: database)
        defer { first.finish() }
        return HistoryExtent(
            first: try first.step() && !first.isNull(0) ? first.integer(0) : nil,
            last: try PrimaryKeys.last(HistoryTables.Number.transaction, table: "ATRANSACTION", in: database))
    }

    package func readHistory(
        _ query: HistoryQuery, _ body: (HistoryTransactionRow, ContiguousArray<HistoryChangeRow>) throws -> Bool
    ) throws {
        let schema = try content().schema
        try reading(nil, .lastingState) { database in
            guard let tables = try tables(for: query, in: database) else { return }
            var reader = HistoryReader(
                query, tables, schema: schema, dialect: SQLiteDialect(), store: number, url: place)
            try reader.read(in: database, body)
        }
    }

    package func countHistory(_ query: HistoryQuery) throws -> Int {
        let schema = try content().schema
        return try reading(nil, .state) { database in
            guard let tables = try tables(for: query, in: database) else { return 0 }
            let wanted = HistoryConditions.changes(query, tables, schema: schema, dialect: SQLiteDialect())
            let statement = try SQLStatement(
                SQLQuery(HistoryStatements.countChanges(where: wanted.all), wanted.arguments), in: database)
            defer { statement.finish() }
            return try statement.step() ? Int(statement.integer(0)) : 0
        }
    }

    /// The tables, after checking that all transactions of a query still exist.
    private func tables(for query: HistoryQuery, in database: Database) throws -> HistoryTables? {
        guard let tables = try HistoryTables(in: database) else { return nil }
        if case .after(let number) = query.start, try !Self.extent(in: database).holdsEverything(after: number) {
            throw CocoaError(
                CocoaError.Code(rawValue: NSPersistentHistoryTokenExpiredError),
                "The history of the store after transaction \(number) is not complete: a part of it has been deleted, or "
                    + "the store has no such transaction.",
                url: place)
        }
        return tables
    }

    package func countHistory(before deletion: OldestHistory) throws -> Int {
        try reading(nil, .state) { database in
            guard let tables = try HistoryTables(in: database),
                let bound = try Self.firstKept(deletion, tables, in: database)
            else { return 0 }
            let statement = try SQLStatement(
                SQLQuery(HistoryStatements.countOldest, [.integer(bound)]), in: database)
            defer { statement.finish() }
            return try statement.step() ? Int(statement.integer(0)) : 0
        }
    }

    /// The number of the first transaction that a deletion keeps; nil if there is no transaction.
    private static func firstKept(
        _ deletion: OldestHistory, _ tables: HistoryTables, in database: Database
    ) throws -> Int64? {
        let hasOldValues = try database.hasTable(OldValueStatements.values)
        let statement = try SQLStatement(
            HistoryStatements.firstKept(deletion, tables, hasOldValues: hasOldValues, dialect: SQLiteDialect()),
            in: database)
        defer { statement.finish() }
        return try statement.step() && !statement.isNull(0) ? statement.integer(0) : nil
    }

    package func deleteHistory(_ deletion: HistoryDeletion) throws -> Int {
        guard !isReadOnly else {
            throw CocoaError(.persistentStoreSave, "The store is opened for reading only.", url: url)
        }
        do {
            return try content().connection.write { database in
                guard let tables = try HistoryTables(in: database) else { return 0 }
                let hasOldValues = try database.hasTable(OldValueStatements.values)
                let statements: [SQLDelete]
                let argument: ColumnValue
                switch deletion {
                case .transactions(let numbers):
                    statements = HistoryStatements.deleteListed(hasOldValues: hasOldValues)
                    argument = .text(SQLiteDialect().value(of: numbers))
                case .oldest(let oldest):
                    statements = HistoryStatements.deleteOldest(hasOldValues: hasOldValues)
                    guard let bound = try Self.firstKept(oldest, tables, in: database) else { return 0 }
                    argument = .integer(bound)
                }
                // Recorded before the rows are deleted, so that their numbers are not assigned again.
                let last = try PrimaryKeys.last(HistoryTables.Number.transaction, table: "ATRANSACTION", in: database)
                let lastChange = try PrimaryKeys.last(HistoryTables.Number.change, table: "ACHANGE", in: database)
                try PrimaryKeys.raise(HistoryTables.Number.transaction, to: last, name: "TRANSACTION", in: database)
                try PrimaryKeys.raise(HistoryTables.Number.change, to: lastChange, name: "CHANGE", in: database)
                return try statements.map { statement in
                    try database.execute(SQLQuery(statement, [argument]))
                    return database.changesCount
                }[0]
            }
        } catch {
            throw SQLiteError.translated(error, .saving, url: place)
        }
    }

    package func historyFollowers() throws -> [String: Int64] {
        try reading(nil, .statements) { try StoreMetadata(in: $0, url: place).historyFollowers }
    }

    package func setHistoryFollower(_ name: String, number: Int64?) throws {
        guard !isReadOnly else {
            throw CocoaError(.persistentStoreSave, "The store is opened for reading only.", url: url)
        }
        do {
            try content().connection.write { database in
                var metadata = try StoreMetadata(in: database, url: place)
                metadata.historyFollowers[name] = number
                try metadata.write(to: database)
            }
        } catch {
            throw SQLiteError.translated(error, .saving, url: place)
        }
    }

    package func oldValues(of change: HistoryChangeRow, transaction: Int64) throws -> HistoryOldValues? {
        let schema = try content().schema
        guard change.type != .insert, let entity = schema.entity(at: Int(change.entity))
        else { return nil }
        return try reading(nil, .state) { database in
            guard try database.hasTable(OldValueStatements.values) else { return nil }
            return try OldValueReader(
                of: change, entity, transaction: transaction, schema: schema, store: number, in: database,
                dialect: SQLiteDialect())?.found
        }
    }

    package func propertyMasks() throws -> any PropertyMasks { try content().bitmaps }

    package func observeCommits(_ body: @escaping @Sendable () -> Void) throws -> AnyObject {
        try content().commits.observe(body)
    }
}
