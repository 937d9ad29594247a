#if PostgreSQL
    import CoreDataErrors
    import Foundation
    import ManagedObjects
    import PostgreSQLClient
    import SQLStatements

    // Reads and counts the history of the store, and deletes parts of it.

    extension PostgreSQLStore: HistoryStore {
        package func historyExtent() throws -> HistoryExtent? {
            let content = try content()
            guard content.history != nil else { return nil }
            let position = try readablePosition(content)
            return position.extent
        }

        package func readHistory(
            _ query: HistoryQuery, _ body: (HistoryTransactionRow, ContiguousArray<HistoryChangeRow>) throws -> Bool
        ) throws {
            let content = try content()
            guard let tables = content.history else { return }
            let settled = content.numbering.isConcurrent ? try readablePosition(content).settled : nil
            // After a lost connection the history is read again, and the transactions that were delivered are skipped.
            var last = Int64.min
            try reading(nil, .state) { database in
                let query = try visible(query, content, settled, in: database.connection)
                var reader = HistoryReader(
                    query, tables, schema: content.schema, dialect: PostgreSQLDialect(), store: number, url: place)
                try reader.read(in: database) { transaction, changes in
                    guard transaction.number > last else { return true }
                    last = transaction.number
                    return try body(transaction, changes)
                }
            }
        }

        package func countHistory(_ query: HistoryQuery) throws -> Int {
            let content = try content()
            guard let tables = content.history else { return 0 }
            let settled = content.numbering.isConcurrent ? try readablePosition(content).settled : nil
            return try reading(nil, .state) { database in
                let query = try visible(query, content, settled, in: database.connection)
                let dialect = PostgreSQLDialect()
                let wanted = HistoryConditions.changes(query, tables, schema: content.schema, dialect: dialect)
                let cursor = try database.cursor(
                    SQLQuery(HistoryStatements.countChanges(where: wanted.all), wanted.arguments, in: dialect))
                return try cursor.step() ? Int(cursor.integer(0)) : 0
            }
        }

        /// The query, limited to what the snapshot of a connection shows.
        ///
        /// - Throws: Code 134301 if a part of what the query begins after has been deleted.
        private func visible(
            _ query: HistoryQuery, _ content: Content, _ settled: HistoryPosition.Settled?,
            in connection: PostgreSQLConnection
        ) throws -> HistoryQuery {
            var query = query
            let isAfter = if case .after = query.start { true } else { false }
            guard isAfter || content.numbering.isConcurrent else { return query }
            let position = try content.numbering.position(in: connection, settled: settled)
            query.end = position.bound
            guard case .after(let number) = query.start, !position.extent.holdsEverything(after: number) else {
                return query
            }
            throw CocoaError(
                CocoaError.Code(rawValue: NSPersistentHistoryTokenExpiredError),
                "The history of the store after transaction \(number) is not complete: a part of it has been deleted, or "
                    + "the store has no such transaction.",
                url: place)
        }

        package func countHistory(before deletion: OldestHistory) throws -> Int {
            let content = try content()
            guard let tables = content.history else { return 0 }
            let settled = content.numbering.isConcurrent ? try readablePosition(content).settled : nil
            return try reading(nil, .state) { database in
                let position = try content.numbering.position(in: database.connection, settled: settled)
                guard let bound = try Self.firstKept(deletion, tables, position, in: database.connection) else {
                    return 0
                }
                let cursor = try database.cursor(
                    SQLQuery(HistoryStatements.countOldest, [.integer(bound)], in: PostgreSQLDialect()))
                return try cursor.step() ? Int(cursor.integer(0)) : 0
            }
        }

        /// The number of the first transaction that a deletion keeps; nil if there is no transaction.
        private static func firstKept(
            _ deletion: OldestHistory, _ tables: HistoryTables, _ position: HistoryPosition,
            in connection: PostgreSQLConnection
        ) throws -> Int64? {
            let bound = HistoryStatements.firstKept(
                deletion, tables, hasOldValues: try hasOldValues(connection), dialect: PostgreSQLDialect())
            let cursor = try PostgreSQLDatabase(connection: connection).cursor(bound)
            guard try cursor.step(), !cursor.isNull(0) else { return nil }
            // Transactions that readers do not see yet stay, and those that will be before them.
            return min(cursor.integer(0), position.bound ?? .max)
        }

        package func deleteHistory(_ deletion: HistoryDeletion) throws -> Int {
            let content = try content()
            guard let tables = content.history else { return 0 }
            guard !isReadOnly else {
                throw CocoaError(.persistentStoreSave, "The store is opened for reading only.", url: place)
            }
            do {
                let settled = content.numbering.isConcurrent ? try readablePosition(content).settled : nil
                defer { content.partitions?.makeAhead(content.pool) }
                return try content.writing { connection, _ in
                    let dialect = PostgreSQLDialect()
                    let hasOldValues = try Self.hasOldValues(connection)
                    let statements: [SQLDelete]
                    let argument: PostgreSQLValue
                    let position = try content.numbering.position(in: connection, settled: settled)
                    switch deletion {
                    case .transactions(let numbers):
                        statements = HistoryStatements.deleteListed(hasOldValues: hasOldValues)
                        argument = .text(dialect.value(of: numbers))
                    case .oldest(let oldest):
                        statements = HistoryStatements.deleteOldest(hasOldValues: hasOldValues)
                        guard let bound = try Self.firstKept(oldest, tables, position, in: connection) else { return 0 }
                        argument = .integer(bound)
                    }
                    let isConcurrent = position.bound != nil
                    let deleted = isConcurrent ? try numbers(deletion, argument, in: connection) : []
                    if case .integer(let bound) = argument, let partitions = content.partitions {
                        // All before the bound are deleted.
                        if let highest = deleted.max() {
                            try connection.execute(HistoryNumbering.noteDeleted, [.integer(highest)])
                        }
                        func delete(_ statement: SQLDelete, _ range: Range<Int64>) throws -> Int {
                            try connection.execute(
                                dialect.text(of: statement), [.integer(range.lowerBound), .integer(range.upperBound)]
                            ).affectedCount
                        }
                        let ranges = HistoryStatements.deleteRange(hasOldValues: hasOldValues)
                        for oldValues in ranges.dropFirst(2) { _ = try delete(oldValues, Int64.min..<bound) }
                        return try partitions.delete(before: bound, in: connection) { range in
                            try ranges.prefix(2).map { try delete($0, range) }[0]
                        }
                    }
                    let counts = try statements.map {
                        try connection.execute(dialect.text(of: $0), [argument]).affectedCount
                    }
                    if isConcurrent { try noteDeleted(deleted, in: connection) }
                    return counts[0]
                }
            } catch {
                throw PostgreSQLFailure.translated(error, .saving, url: url)
            }
        }

        /// The numbers of the transactions that a deletion removes; of the oldest part only the highest.
        private func numbers(
            _ deletion: HistoryDeletion, _ argument: PostgreSQLValue, in connection: PostgreSQLConnection
        ) throws -> [Int64] {
            if case .transactions(let numbers) = deletion { return numbers }
            let found = try connection.execute("SELECT max(Z_PK) FROM ATRANSACTION WHERE Z_PK < $1", [argument])
            return found.isNull(0, 0) ? [] : [found.integer(0, 0)]
        }

        /// Records the highest deleted number at the beginning of the history, after a deletion. Gaps between others are not recorded.
        private func noteDeleted(_ deleted: [Int64], in connection: PostgreSQLConnection) throws {
            let found = try connection.execute("SELECT min(Z_PK) FROM ATRANSACTION")
            let first = found.isNull(0, 0) ? Int64.max : found.integer(0, 0)
            guard let highest = deleted.filter({ $0 < first }).max() else { return }
            try connection.execute(HistoryNumbering.noteDeleted, [.integer(highest)])
        }

        package func historyFollowers() throws -> [String: Int64] {
            let tables = PostgreSQLTables(location: try content().location)
            return try reading(nil, .statements) {
                try tables.metadata(in: $0.connection, url: place)?.historyFollowers ?? [:]
            }
        }

        package func setHistoryFollower(_ name: String, number: Int64?) throws {
            let content = try content()
            guard !isReadOnly else {
                throw CocoaError(.persistentStoreSave, "The store is opened for reading only.", url: place)
            }
            let tables = PostgreSQLTables(location: content.location)
            do {
                try content.writing { connection, _ in
                    try connection.execute(script: "SELECT 1 FROM Z_METADATA FOR UPDATE")
                    guard var metadata = try tables.metadata(in: connection, url: place) else { return }
                    metadata.historyFollowers[name] = number
                    try tables.write(metadata, in: connection)
                }
            } catch {
                throw PostgreSQLFailure.translated(error, .saving, url: url)
            }
        }

        package func oldValues(of change: HistoryChangeRow, transaction: Int64) throws -> HistoryOldValues? {
            let schema = try content().schema
            guard change.type != .insert, let entity = schema.entity(at: Int(change.entity))
            else { return nil }
            return try reading(nil, .state) { database in
                guard try Self.hasOldValues(database.connection) else { return nil }
                return try OldValueReader(
                    of: change, entity, transaction: transaction, schema: schema, store: number, in: database,
                    dialect: PostgreSQLDialect())?.found
            }
        }

        /// Whether the schema has the tables of old values.
        private static func hasOldValues(_ connection: PostgreSQLConnection) throws -> Bool {
            try !connection.execute("SELECT to_regclass($1)", [.text(OldValueStatements.values)]).isNull(0, 0)
        }

        package func propertyMasks() throws -> any PropertyMasks { try content().bitmaps }

        package func observeCommits(_ body: @escaping @Sendable () -> Void) throws -> AnyObject {
            do {
                return try content().commits.observe(body)
            } catch {
                throw PostgreSQLFailure.translated(error, .opening, url: url)
            }
        }
    }
#endif
